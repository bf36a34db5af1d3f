//! The page `CHANGELOG.md`: releases, and in each of them areas with entries.

use super::area::{self, Area};
use super::fragment::{Fragment, LONGEST};

/// The heading of what is not released yet.
const UNRELEASED: &str = "## [Unreleased]";

/// The most lines before the first dated release.
pub(crate) const MOST_LINES: usize = 150;

/// The page, with the part that changes read into areas.
#[derive(Debug)]
pub(crate) struct Page {
    /// The lines up to the heading of what is not released, this one included.
    head: Vec<String>,
    /// The areas of what is not released, in the order of the page.
    areas: Vec<Section>,
    /// The lines from the first release on.
    releases: Vec<String>,
    /// How many lines were read before the first release, blank ones at their end not counted.
    length: usize,
    /// What the reader found wrong.
    problems: Vec<String>,
}

#[derive(Debug)]
struct Section {
    heading: String,
    entries: Vec<String>,
}

impl Page {
    /// Reads the page. A line that it does not understand is one of the [problems](Self::problems).
    pub(crate) fn parse(text: &str) -> Self {
        let mut page = Self {
            head: Vec::new(),
            areas: Vec::new(),
            releases: Vec::new(),
            length: 0,
            problems: Vec::new(),
        };
        let lines: Vec<&str> = text.lines().collect();
        let Some(begin) = lines.iter().position(|line| *line == UNRELEASED) else {
            page.problems.push(format!("no heading `{UNRELEASED}`"));
            return page;
        };
        let end = lines
            .iter()
            .skip(begin + 1)
            .position(|line| line.starts_with("## "))
            .map_or(lines.len(), |after| begin + 1 + after);
        for (index, line) in lines.into_iter().enumerate() {
            if index < end && !line.trim().is_empty() {
                page.length = index + 1;
            }
            if index == end && !is_release(line) {
                let number = index + 1;
                let problem = format!("line {number}: not a heading `## [VERSION] - YYYY-MM-DD`");
                page.problems.push(problem);
            }
            if index <= begin {
                page.head.push(line.to_owned());
            } else if index >= end {
                page.releases.push(line.to_owned());
            } else {
                page.read(index + 1, line);
            }
        }
        page
    }

    /// Reads a line of what is not released.
    fn read(&mut self, number: usize, line: &str) {
        if let Some(heading) = line.strip_prefix("### ") {
            self.open(number, heading);
        } else if line.starts_with("- ") {
            let length = line.chars().skip(2).count();
            if length > LONGEST {
                let problem = format!("line {number}: {length} characters, and at most {LONGEST}");
                self.problems.push(problem);
            }
            match self.areas.last_mut() {
                Some(section) => section.entries.push(line.to_owned()),
                None => self
                    .problems
                    .push(format!("line {number}: an entry under no area")),
            }
        } else if !line.trim().is_empty() {
            let problem = format!("line {number}: neither an area nor an entry of one line");
            self.problems.push(problem);
        }
    }

    fn open(&mut self, number: usize, heading: &str) {
        if Area::rank(heading).is_none() {
            let areas = area::headings();
            let problem = format!("line {number}: unknown area `{heading}`; the areas are {areas}");
            self.problems.push(problem);
        }
        if self.areas.iter().any(|other| other.heading == heading) {
            let problem = format!("line {number}: the area `{heading}` is there twice");
            self.problems.push(problem);
        }
        self.areas.push(Section {
            heading: heading.to_owned(),
            entries: Vec::new(),
        });
    }

    /// Appends the entry of a fragment to its area. A missing area is added at its place.
    pub(crate) fn add(&mut self, fragment: &Fragment) {
        let heading = fragment.area.heading;
        let entry = format!("- {}", fragment.entry);
        if let Some(section) = self.areas.iter_mut().find(|area| area.heading == heading) {
            section.entries.push(entry);
            return;
        }
        let rank = Area::rank(heading);
        let place = self
            .areas
            .iter()
            .position(|other| Area::rank(&other.heading) > rank)
            .unwrap_or(self.areas.len());
        let section = Section {
            heading: heading.to_owned(),
            entries: vec![entry],
        };
        self.areas.insert(place, section);
    }

    /// Returns what is wrong with the page, its length included.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = self.problems.clone();
        let lines = self.unreleased().len().max(self.length);
        if lines > MOST_LINES {
            problems.push(format!(
                "{lines} lines before the first release, with all fragments, and at most {MOST_LINES}: join entries"
            ));
        }
        problems
    }

    /// Returns the text of the page.
    pub(crate) fn text(&self) -> String {
        let mut lines = self.unreleased();
        if !self.releases.is_empty() {
            lines.push(String::new());
            lines.extend(self.releases.iter().cloned());
        }
        lines.join("\n") + "\n"
    }

    /// Returns the lines before the first release.
    fn unreleased(&self) -> Vec<String> {
        let mut lines = self.head.clone();
        for section in &self.areas {
            lines.push(String::new());
            lines.push(format!("### {}", section.heading));
            lines.push(String::new());
            lines.extend(section.entries.iter().cloned());
        }
        lines
    }
}

/// Returns whether a line is the heading of a dated release.
fn is_release(line: &str) -> bool {
    line.strip_prefix("## [")
        .and_then(|rest| rest.split_once("] - "))
        .is_some_and(|(_, date)| date.parse::<chrono::NaiveDate>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Changelog\n\n## [Unreleased]\n\n### Run\n\n- One.\n\n### MCP\n\n- Two.\n\n\
                        ## [0.1.0] - 2027-01-31\n\n### Sundry\n\nWhatever it was.\n";

    fn fragment(name: &str, entry: &str) -> Fragment {
        Fragment::parse(name, entry).expect("a fragment")
    }

    fn problems(unreleased: &str) -> Vec<String> {
        Page::parse(&format!("# Changelog\n\n## [Unreleased]\n{unreleased}")).problems()
    }

    #[test]
    fn writes_what_it_has_read() {
        let page = Page::parse(PAGE);
        assert!(page.problems().is_empty(), "{page:?}");
        assert_eq!(page.text(), PAGE);
    }

    #[test]
    fn puts_an_entry_at_the_end_of_its_area() {
        let mut page = Page::parse(PAGE);
        page.add(&fragment("run-b.md", "Three."));
        assert_eq!(page.text(), PAGE.replace("- One.\n", "- One.\n- Three.\n"));
    }

    #[test]
    fn makes_an_area_in_its_place() {
        let mut page = Page::parse(PAGE);
        page.add(&fragment("tools-b.md", "Three."));
        page.add(&fragment("operating-b.md", "Four."));
        let expected = PAGE
            .replace("### MCP\n", "### Tools\n\n- Three.\n\n### MCP\n")
            .replace("- Two.\n", "- Two.\n\n### Operating\n\n- Four.\n");
        assert_eq!(page.text(), expected);

        let mut page = Page::parse("## [Unreleased]\n\n## [0.1.0] - 2027-01-31\n");
        page.add(&fragment("tools-b.md", "Three."));
        assert_eq!(
            page.text(),
            "## [Unreleased]\n\n### Tools\n\n- Three.\n\n## [0.1.0] - 2027-01-31\n"
        );
    }

    #[test]
    fn finds_unknown_areas_and_those_that_are_there_twice() {
        let problems = problems("\n### Added\n\n- One.\n\n### Run\n\n- Two.\n\n### Run\n");
        let [unknown, twice] = problems.as_slice() else {
            unreachable!("two problems: {problems:?}");
        };
        assert!(
            unknown.starts_with("line 5: unknown area `Added`"),
            "{unknown}"
        );
        assert!(twice.starts_with("line 13: the area `Run`"), "{twice}");
    }

    #[test]
    fn finds_what_is_no_entry_of_one_line() {
        let long = format!("- {}", "é".repeat(LONGEST));
        let text = format!("- Lost.\n\n### Run\n{long}\n{long}.\n  and more\n");
        assert_eq!(
            problems(&text),
            [
                "line 4: an entry under no area",
                "line 8: 161 characters, and at most 160",
                "line 9: neither an area nor an entry of one line",
            ]
        );
        assert_eq!(
            Page::parse("# Changelog\n").problems(),
            ["no heading `## [Unreleased]`"]
        );
    }

    #[test]
    fn counts_the_lines_before_the_first_release() {
        // Three lines of head, three of an area.
        let text = |entries: usize| format!("\n### Run\n\n{}", "- One.\n".repeat(entries));
        let releases = format!("\n## [0.1.0] - 2027-01-31\n{}", "\n".repeat(MOST_LINES));

        assert!(problems(&(text(MOST_LINES - 6) + &releases)).is_empty());
        let problems = problems(&(text(MOST_LINES - 5) + &releases));
        let [long] = problems.as_slice() else {
            unreachable!("one problem: {problems:?}");
        };
        assert!(
            long.starts_with("151 lines before the first release"),
            "{long}"
        );
    }

    #[test]
    fn counts_blank_lines_too() {
        let text = format!("\n### Run\n{}- One.\n", "\n".repeat(MOST_LINES));
        let problems = problems(&text);
        let [long] = problems.as_slice() else {
            unreachable!("one problem: {problems:?}");
        };
        assert!(long.starts_with("156 lines"), "{long}");
    }

    #[test]
    fn rejects_a_release_without_a_date() {
        assert!(problems("\n## [0.1.0] - 2027-01-31\n").is_empty());
        for heading in [UNRELEASED, "## [0.1.0]", "## [0.1.0] - soon", "## Sundry"] {
            let expected = "line 5: not a heading `## [VERSION] - YYYY-MM-DD`";
            assert_eq!(problems(&format!("\n{heading}\n")), [expected]);
        }
    }
}
