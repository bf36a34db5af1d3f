//! The links and headings of a Markdown page. Code contains neither.

use std::collections::{BTreeMap, BTreeSet};

/// A link into this repository.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Link {
    pub(super) line: usize,
    /// The path as it is written. Empty for a link into its own page.
    pub(super) path: String,
    /// What follows `#`.
    pub(super) anchor: Option<String>,
}

/// Returns the links of a page that lead into this repository.
pub(super) fn links(page: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for (number, line) in text(page) {
        let inside = targets(&without_code(line))
            .filter_map(|target| inside(target, number))
            .collect::<Vec<_>>();
        found.extend(inside);
    }
    found
}

/// Returns the names that a link into a page can use: its headings, as mdBook and GitHub make names of them.
pub(super) fn anchors(page: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (_, line) in text(page) {
        let Some(heading) = line.strip_prefix('#') else {
            continue;
        };
        let name = name_of(heading.trim_start_matches('#'));
        let before = seen.entry(name.clone()).or_default();
        found.insert(match *before {
            0 => name,
            count => format!("{name}-{count}"),
        });
        *before += 1;
    }
    found
}

/// Returns the lines that are not in a block of code, with their numbers.
fn text(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    page.lines().enumerate().filter_map(move |(index, line)| {
        let start = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(close)) if open == close => fence = None,
            (None, None) => return Some((index + 1, line)),
            _ => {}
        }
        None
    })
}

/// Drops the `code` of a line.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

/// Returns the targets of the links and the link definitions of a line.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let inline = line
        .split("](")
        .skip(1)
        .map(|rest| rest.split(')').next().unwrap_or(rest));
    let definition = line
        .trim_start()
        .strip_prefix('[')
        .filter(|rest| !rest.starts_with('^'))
        .and_then(|rest| rest.split_once("]: "))
        .map(|(_, target)| target);
    // A title may follow the target after a space.
    inline
        .chain(definition)
        .filter_map(|target| target.split_whitespace().next())
}

/// Returns the link of a target, or `None` if it leads elsewhere or to an item, which rustdoc checks.
fn inside(target: &str, line: usize) -> Option<Link> {
    let target = target.trim_start_matches('<').trim_end_matches('>');
    if target.contains("::") || target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor.to_owned())),
        None => (target, None),
    };
    Some(Link {
        line,
        path: path.split('?').next().unwrap_or(path).to_owned(),
        anchor,
    })
}

fn name_of(heading: &str) -> String {
    let mut name = String::new();
    // The target of a link in a heading is not in its name.
    let mut is_target = false;
    let mut before = ' ';
    for letter in heading.trim().chars() {
        match letter {
            '(' if before == ']' => is_target = true,
            ')' if is_target => is_target = false,
            _ if is_target => {}
            ' ' => name.push('-'),
            '-' | '_' => name.push(letter),
            _ if letter.is_alphanumeric() => name.extend(letter.to_lowercase()),
            _ => {}
        }
        before = letter;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets_of(page: &str) -> Vec<String> {
        links(page)
            .into_iter()
            .map(|link| match link.anchor {
                Some(anchor) => format!("{}#{anchor}", link.path),
                None => link.path,
            })
            .collect()
    }

    #[test]
    fn finds_links_with_their_lines() {
        let page = "# Title\n\nSee [one](a.md) and [two](b/c.md#part \"A title\").\n[ref]: #d\n";

        let expected = [
            (3, "a.md", None),
            (3, "b/c.md", Some("part")),
            (4, "", Some("d")),
        ];
        let expected = expected.map(|(line, path, anchor)| Link {
            line,
            path: path.to_owned(),
            anchor: anchor.map(str::to_owned),
        });
        assert_eq!(links(page), expected);
    }

    #[test]
    fn leaves_out_code_addresses_items_and_footnotes() {
        let page = "`[a](a.md)` [b](https://b#c) [d](mailto:d@e) ![e](e.png) [f](crate::F)\n\
                    [^1]: note.md\n```md\n[f](f.md)\n```\n~~~\n```\n[g](g.md)\n~~~\n[h](<h.md>)\n";

        assert_eq!(targets_of(page), ["e.png", "h.md"]);
    }

    #[test]
    fn names_headings() {
        let page = "# The `[agents.NAME]` table\n## See [it](its.md)\n## It's A-b_c: Ü?\n\
                    ```sh\n# code\n```\n### Twice\n### Twice\n";

        let expected = [
            "its-a-b_c-ü",
            "see-it",
            "the-agentsname-table",
            "twice",
            "twice-1",
        ];
        assert_eq!(anchors(page), expected.map(str::to_owned).into());
    }
}
