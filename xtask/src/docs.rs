//! The documentation's pages are all in its table of contents, and its links lead somewhere.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use crate::error::Error;

/// Checks the Markdown pages at the root and under `docs/`.
///
/// # Errors
///
/// Returns an error that lists every page that is not in `docs/src/SUMMARY.md` and every relative link
/// that leads nowhere, or says which file cannot be read.
pub(crate) fn check(root: &Path) -> Result<(), Error> {
    let book = Path::new("docs/src");
    let mut pages = markdown(root, Path::new(""), false)?;
    pages.extend(markdown(root, Path::new("docs"), true)?);

    let mut problems = Vec::new();
    for page in &pages {
        for link in links(&read(root, page)?) {
            let target = resolve(page, &link.target);
            if !root.join(&target).exists() {
                problems.push(format!(
                    "{}:{}: no {}",
                    page.display(),
                    link.line,
                    target.display()
                ));
            }
        }
    }

    let summary = book.join("SUMMARY.md");
    if pages.contains(&summary) {
        let contents = read(root, &summary)?;
        for page in unlisted(
            &contents,
            &summary,
            pages.iter().filter(|page| page.starts_with(book)),
        ) {
            problems.push(format!(
                "{}: not listed in {}",
                page.display(),
                summary.display()
            ));
        }
    } else if root.join(book).is_dir() {
        problems.push(format!("{}: missing", summary.display()));
    }

    if problems.is_empty() {
        Ok(())
    } else {
        Err(Error::Docs(problems))
    }
}

/// A link to a file of this repository.
#[derive(Debug, Eq, PartialEq)]
struct Link {
    line: usize,
    /// The path as it is written, without the part after `#`.
    target: String,
}

/// Returns the relative links of a Markdown page. What stands in code is not a link.
fn links(page: &str) -> Vec<Link> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (index, line) in page.lines().enumerate() {
        let start = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(close)) if open == close => fence = None,
            (None, None) => found.extend(targets(&without_code(line)).filter_map(relative).map(
                |target| Link {
                    line: index + 1,
                    target,
                },
            )),
            _ => {}
        }
    }
    found
}

/// Drops the `code` of a line.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

/// Returns what the links and the link definitions of a line point at.
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

/// Returns the path of a target, or `None` if it is elsewhere or in the same page.
fn relative(target: &str) -> Option<String> {
    let target = target.trim_start_matches('<').trim_end_matches('>');
    let path = target.split(['#', '?']).next().unwrap_or(target);
    let elsewhere = path.contains("://") || path.starts_with("mailto:");
    (!path.is_empty() && !elsewhere).then(|| path.to_owned())
}

/// Returns where a link leads, from the root of the repository.
fn resolve(page: &Path, target: &str) -> PathBuf {
    let path = match target.strip_prefix('/') {
        Some(from_root) => PathBuf::from(from_root),
        None => page.parent().unwrap_or(Path::new("")).join(target),
    };
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // Above the root there is nothing to link to, so the dots stay and the path is not found.
            Component::ParentDir if clean.file_name().is_some() => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

/// Returns the pages of the book that its table of contents does not list.
fn unlisted<'a>(
    contents: &str,
    summary: &Path,
    pages: impl Iterator<Item = &'a PathBuf>,
) -> Vec<&'a PathBuf> {
    let listed: BTreeSet<PathBuf> = links(contents)
        .into_iter()
        .map(|link| resolve(summary, &link.target))
        .collect();
    pages
        .filter(|page| *page != summary && !listed.contains(*page))
        .collect()
}

/// Returns the Markdown files of a folder, as paths from the root, in order.
fn markdown(root: &Path, folder: &Path, deep: bool) -> Result<BTreeSet<PathBuf>, Error> {
    let path = root.join(folder);
    let failed = |source| Error::File {
        path: path.clone(),
        action: "read",
        source,
    };
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut pages = BTreeSet::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let name = folder.join(entry.file_name());
        if entry.path().is_dir() {
            // `docs/book` is what mdBook makes of `docs/src`.
            if deep && entry.file_name() != "book" {
                pages.extend(markdown(root, &name, true)?);
            }
        } else if name.extension().is_some_and(|extension| extension == "md") {
            pages.insert(name);
        }
    }
    Ok(pages)
}

fn read(root: &Path, page: &Path) -> Result<String, Error> {
    let path = root.join(page);
    fs::read_to_string(&path).map_err(|source| Error::File {
        path,
        action: "read",
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets_of(page: &str) -> Vec<String> {
        links(page).into_iter().map(|link| link.target).collect()
    }

    #[test]
    fn finds_relative_links_with_their_lines() {
        let page = "# Title\n\nSee [one](a.md) and [two](b/c.md#part \"A title\").\n[ref]: d.md\n";

        let expected = [(3, "a.md"), (3, "b/c.md"), (4, "d.md")];
        let expected = expected.map(|(line, target)| Link {
            line,
            target: target.to_owned(),
        });
        assert_eq!(links(page), expected);
    }

    #[test]
    fn leaves_out_code_addresses_anchors_and_footnotes() {
        let page = "`[a](a.md)` [b](https://b) [c](#c) [d](mailto:d@e) ![e](e.png)\n\
                    [^1]: note.md\n```md\n[f](f.md)\n```\n~~~\n```\n[g](g.md)\n~~~\n[h](<h.md>)\n";

        assert_eq!(targets_of(page), ["e.png", "h.md"]);
    }

    #[test]
    fn resolves_a_link_from_its_page() {
        let page = Path::new("docs/src/guide/start.md");

        assert_eq!(resolve(page, "../intro.md"), Path::new("docs/src/intro.md"));
        assert_eq!(
            resolve(page, "./next.md"),
            Path::new("docs/src/guide/next.md")
        );
        assert_eq!(resolve(page, "/README.md"), Path::new("README.md"));
        assert_eq!(
            resolve(Path::new("README.md"), "../x.md"),
            Path::new("../x.md")
        );
    }

    #[test]
    fn names_the_pages_that_the_contents_leave_out() {
        let pages = ["SUMMARY.md", "intro.md", "guide/start.md", "lost.md"]
            .map(|page| Path::new("docs/src").join(page));
        let contents = "[Intro](intro.md)\n- [Start](./guide/start.md)\n";

        let unlisted = unlisted(contents, Path::new("docs/src/SUMMARY.md"), pages.iter());

        assert_eq!(unlisted, [&Path::new("docs/src").join("lost.md")]);
    }

    #[test]
    fn lists_every_problem_of_a_repository() {
        let root = tempfile::tempdir().expect("a folder");
        let book = root.path().join("docs/src");
        fs::create_dir_all(&book).expect("a folder");
        fs::write(
            root.path().join("README.md"),
            "[x](docs/src/a.md) [y](gone.md)",
        )
        .expect("a file");
        fs::write(book.join("a.md"), "[r](../../README.md)").expect("a file");
        fs::write(book.join("b.md"), "").expect("a file");
        fs::write(book.join("SUMMARY.md"), "- [A](a.md)").expect("a file");

        let Err(Error::Docs(problems)) = check(root.path()) else {
            unreachable!("two problems");
        };

        assert_eq!(
            problems,
            [
                "README.md:1: no gone.md",
                "docs/src/b.md: not listed in docs/src/SUMMARY.md"
            ]
        );
    }
}
