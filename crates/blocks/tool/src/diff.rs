//! Two texts side by side, as people read changes.

use std::{fmt::Write as _, time::Duration};

use similar::TextDiff;

/// How many lines stand around a change.
const CONTEXT: usize = 3;

/// How long the shortest of all diffs is looked for.
const PATIENCE: Duration = Duration::from_millis(300);

/// How many bytes a diff has, about: an executor cuts what is longer than 64 KiB.
const MOST_BYTES: usize = 63 * 1024;

/// Returns the unified diff of a file's texts, empty if they are the same. `old` is `None` where there is no such file.
///
/// Every line begins with what it is, whatever the texts and the path hold: control characters of the path are escaped,
/// those of the lines are not. A long diff is cut, and its last line states that.
///
/// ```
/// let diff = neuron_tool::unified_diff("a.txt", Some("one\ntwo\n"), "one\nthree\n");
/// assert_eq!(diff, "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n");
/// ```
#[must_use]
pub fn unified_diff(path: &str, old: Option<&str>, new: &str) -> String {
    let path: String = path.chars().flat_map(visible).collect();
    let before: Vec<&str> = old.unwrap_or_default().split_inclusive('\n').collect();
    let after: Vec<&str> = new.split_inclusive('\n').collect();
    let diff = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_slices(&before, &after);
    let mut hunks = diff.unified_diff();
    hunks.context_radius(CONTEXT);
    let mut text = String::new();
    let mut left_out = 0_usize;
    for hunk in hunks.iter_hunks() {
        // Writing to a String cannot fail.
        if text.is_empty() {
            let before = old.map_or("/dev/null", |_| path.as_str());
            let _ = write!(text, "--- {before}\n+++ {path}\n");
        }
        if text.len() < MOST_BYTES {
            let _ = writeln!(text, "{}", hunk.header());
        }
        for change in hunk.iter_changes() {
            let line = change.value();
            if text.len() + line.len() > MOST_BYTES {
                left_out += 1;
                continue;
            }
            let whole = line.strip_suffix('\n');
            let _ = writeln!(text, "{}{}", change.tag(), whole.unwrap_or(line));
            if whole.is_none() {
                text.push_str("\\ No newline at end of file\n");
            }
        }
    }
    if left_out > 0 {
        let _ = writeln!(text, "\\ lines that are not shown: {left_out}");
    }
    text
}

/// Returns the character, escaped if it is a control character.
fn visible(c: char) -> impl Iterator<Item = char> {
    let escaped = c.is_control().then(|| c.escape_default());
    let plain = (!c.is_control()).then_some(c);
    escaped.into_iter().flatten().chain(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_changes_with_the_lines_around_it() {
        let old: String = (1..=20).map(|line| format!("line {line}\n")).collect();
        let new = old.replace("line 10\n", "line ten\nand more\n");
        assert_eq!(
            unified_diff("a", Some(&old), &new),
            "--- a\n+++ a\n@@ -7,7 +7,8 @@\n line 7\n line 8\n line 9\n-line 10\n+line ten\n+and more\n \
             line 11\n line 12\n line 13\n"
        );
        assert_eq!(unified_diff("a", Some(&old), &old), "");
    }

    #[test]
    fn shows_a_new_file_and_a_last_line_without_an_end() {
        assert_eq!(
            unified_diff("a", None, "one\ntwo"),
            "--- /dev/null\n+++ a\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"
        );
    }

    #[test]
    fn nothing_in_a_text_or_path_passes_for_a_line_of_its_own() {
        let diff = unified_diff("a\n+++ b", Some("x\r-y\r"), "\u{1b}[2Jz\r");
        for line in diff.lines() {
            let starts = ["--- a\\n", "+++ a\\n", "@@ ", "-x\r", "+\u{1b}", "\\ No"];
            assert!(
                starts.iter().any(|start| line.starts_with(start)),
                "{line:?}"
            );
        }
    }

    #[test]
    fn a_long_diff_is_cut_and_says_so() {
        let new: String = (0..100_000).map(|line| format!("line {line}\n")).collect();
        let diff = unified_diff("a", None, &new);
        assert!(diff.len() < MOST_BYTES + 100, "{}", diff.len());
        assert!(diff.contains("\n\\ lines that are not shown: "));
        let long = "x".repeat(MOST_BYTES);
        let diff = unified_diff("a", Some(""), &format!("{long}\nshort\n"));
        assert!(
            diff.ends_with("+short\n\\ lines that are not shown: 1\n"),
            "{diff}"
        );
    }
}
