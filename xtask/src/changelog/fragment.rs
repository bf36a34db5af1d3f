//! A fragment: a file of `changelog.d` with one entry that the changelog does not have yet.

use super::area::{self, Area};

/// The longest line of a fragment and the longest entry of the changelog, in characters.
pub(crate) const LONGEST: usize = 160;

/// The most lines of a fragment.
const LINES: usize = 2;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub(crate) area: Area,
    /// What the changelog gets: the first line of the file.
    pub(crate) entry: String,
}

impl Fragment {
    /// Reads a fragment from the name of its file and its content.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with it, to be appended to its name.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, String> {
        let area = area_of(name)?;
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let entry = lines.first().map_or("", |line| line.trim());
        if entry.is_empty() {
            return Err("the first line is empty, and must be the entry".to_owned());
        }
        if lines.len() > LINES {
            return Err(format!("{} lines, and at most {LINES}", lines.len()));
        }
        if let Some(longest) = lines.iter().map(|line| line.chars().count()).max()
            && longest > LONGEST
        {
            return Err(format!(
                "a line of {longest} characters, and at most {LONGEST}"
            ));
        }
        if entry.starts_with(['-', '*', '#', '>']) {
            return Err("the first line must be plain text, without `-` or `#`".to_owned());
        }
        Ok(Self {
            area,
            entry: entry.to_owned(),
        })
    }
}

/// Returns the area that a file's name, `<area>-<short-name>.md`, begins with.
fn area_of(name: &str) -> Result<Area, String> {
    let parts = name
        .strip_suffix(".md")
        .and_then(|stem| stem.split_once('-'))
        .filter(|(_, short)| is_short_name(short));
    let Some((slug, _)) = parts else {
        return Err(
            "must be named <area>-<short-name>.md, in small letters, digits and `-`".to_owned(),
        );
    };
    Area::of_slug(slug)
        .ok_or_else(|| format!("unknown area `{slug}`; the areas are {}", area::slugs()))
}

fn is_short_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(name: &str, text: &str) -> String {
        Fragment::parse(name, text).expect_err("a problem")
    }

    #[test]
    fn takes_the_first_line_as_the_entry() {
        let text = "`neuron rm` forgets runs.\nSee the page on local runs.\n";
        let fragment = Fragment::parse("run-forget-2.md", text).expect("a fragment");

        assert_eq!(fragment.area.heading, "Run");
        assert_eq!(fragment.entry, "`neuron rm` forgets runs.");
    }

    #[test]
    fn rejects_an_unknown_area() {
        let problem = problem("sundry-thing.md", "A thing.");
        assert!(problem.starts_with("unknown area `sundry`"), "{problem}");
        assert!(problem.contains("approve, tools"), "{problem}");
    }

    #[test]
    fn rejects_a_name_of_another_form() {
        for name in ["run.md", "run-.md", "run-a_b.md", "run-a.txt", "Run-A.md"] {
            let problem = problem(name, "A thing.");
            assert!(problem.contains("must be named"), "{name}: {problem}");
        }
    }

    #[test]
    fn rejects_an_empty_one() {
        for text in ["", "\n", "  \n\n", "\nThe second line."] {
            let problem = problem("run-a.md", text);
            assert!(problem.contains("empty"), "{text:?}: {problem}");
        }
    }

    #[test]
    fn counts_lines_and_characters() {
        let just_right = "é".repeat(LONGEST);
        assert!(Fragment::parse("run-a.md", &format!("{just_right}\n{just_right}\n")).is_ok());

        let long = problem("run-a.md", &format!("{just_right}."));
        assert!(long.contains("161 characters"), "{long}");
        let long = problem("run-a.md", &format!("Short.\n{just_right}."));
        assert!(long.contains("161 characters"), "{long}");
        let many = problem("run-a.md", "One.\nTwo.\nThree.");
        assert!(many.contains("3 lines"), "{many}");
    }

    #[test]
    fn rejects_markup_before_the_entry() {
        for text in ["- An entry.", "# A heading"] {
            assert!(problem("run-a.md", text).contains("plain text"), "{text}");
        }
    }
}
