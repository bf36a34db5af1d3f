//! Checks that no test acts by the clock: each time in a test has its reason on its line.

use std::path::Path;

use crate::checkout;
use crate::error::Error;

/// The folders that contain only tests: from the root, or anywhere below it.
const HOMES: [&str; 1] = ["tests/"];
const ANYWHERE: [&str; 2] = ["/tests/", "/examples/"];

/// Tests of how files are read, which wait for none of the times in them.
const READERS: [&str; 1] = ["crates/programs/config/tests/it/agent_file/"];

/// The beginning of the tests in a file of the product.
const UNIT_TESTS: [&str; 2] = ["#[cfg(test)]", "#[cfg(all(test"];

/// The languages of tests, and the beginning of a comment in them. Rust has scripts of shells in its texts.
const LANGUAGES: [(&str, &[&str]); 5] = [
    ("rs", &["//", "# "]),
    ("py", &["# "]),
    ("mjs", &["//"]),
    ("js", &["//"]),
    ("sh", &["# "]),
];

/// Calls of Rust that make a time out of a number, or wait for it.
const TIMES: [&str; 6] = [
    "Duration::from_",
    "Duration::new(",
    "sleep(",
    "set_delay(",
    "setTimeout(",
    "setInterval(",
];

/// Short names of calls that make a time, which count if their line contains a number.
const SHORT: [&str; 6] = [
    "millis(", "micros(", "secs(", "seconds(", "minutes(", "hours(",
];

/// Keys of scripts that are times, which count if a number follows them.
const KEYS: [&str; 5] = [
    "\"delay_ms\":",
    "\"takes_ms\":",
    "\"retry_after_ms\":",
    "\"within_ms\":",
    "timeout=",
];

/// The units of times in files and options, as in `timeout = "5s"` and `--grace=5s`.
const UNITS: [&str; 5] = ["ms", "s", "m", "h", "d"];

/// The command of a shell, which counts if a number follows it.
const COMMAND: &str = "sleep ";

/// The sign before a value in a file that stands in a text of Rust.
const SETTING: &str = "= \\\"";

/// The fewest words of a reason.
const WORDS: usize = 3;

/// Checks the files that Git knows, and those that it does not ignore.
///
/// # Errors
///
/// Returns an error that lists every line of a test that names a time without a reason, or names a file that cannot be
/// read.
pub(crate) fn check(root: &Path) -> Result<(), Error> {
    let mut found = Vec::new();
    for name in &checkout::files(root, &[])? {
        let Some(comments) = comments_of(Path::new(name)) else {
            continue;
        };
        let Some(text) = checkout::read(root, name)? else {
            continue;
        };
        let lines = without_reason(&text, is_of_tests(name), comments);
        found.extend(lines.map(|(number, line)| format!("{name}:{number}: {}", line.trim())));
    }
    if found.is_empty() {
        Ok(())
    } else {
        Err(Error::Clock(found))
    }
}

fn comments_of(path: &Path) -> Option<&'static [&'static str]> {
    let extension = path.extension()?.to_str()?;
    let mut languages = LANGUAGES.iter();
    languages.find_map(|(name, comments)| (*name == extension).then_some(*comments))
}

fn is_of_tests(name: &str) -> bool {
    let begins = |home: &&str| name.starts_with(home);
    let is_home = HOMES.iter().any(begins);
    let is_inside = ANYWHERE.iter().any(|folder| name.contains(folder));
    (is_home || is_inside) && !READERS.iter().any(begins)
}

/// Returns the numbered lines of a test that name a time without a reason.
fn without_reason<'a>(
    text: &'a str,
    is_test: bool,
    comments: &'a [&'a str],
) -> impl Iterator<Item = (usize, &'a str)> {
    let mut is_test = is_test;
    text.lines().enumerate().filter_map(move |(index, line)| {
        is_test |= UNIT_TESTS
            .iter()
            .any(|begin| line.trim_start().starts_with(begin));
        let (code, reason) = split(line, comments);
        let is_wrong = is_test && names_a_time(code) && !is_reason(reason);
        is_wrong.then_some((index + 1, line))
    })
}

/// Returns a line's code and its comment. A sign in the middle of a word, as in an address, does not begin a comment.
fn split<'a>(line: &'a str, comments: &[&str]) -> (&'a str, &'a str) {
    let begin = |sign: &&str| {
        let places = line.match_indices(*sign).map(|(place, _)| place);
        let begun = places.filter(|place| line.get(..*place).is_some_and(ends_a_word));
        begun.last()
    };
    let places = comments.iter().filter_map(begin);
    // The last sign counts: a text may contain it, too.
    let place = places.max().unwrap_or(line.len());
    line.split_at_checked(place).unwrap_or((line, ""))
}

fn ends_a_word(before: &str) -> bool {
    before.is_empty() || before.ends_with([' ', '\t'])
}

fn is_reason(comment: &str) -> bool {
    let words = comment.split_whitespace();
    words
        .filter(|word| word.contains(char::is_alphabetic))
        .count()
        >= WORDS
}

fn names_a_time(code: &str) -> bool {
    // The definition of the function names no time.
    if code.contains("fn sleep(") {
        return false;
    }
    let is_there = |sign: &&str| places(code, sign).next().is_some();
    let has_number = |sign: &&str| places(code, sign).any(begins_with_number);
    TIMES.iter().any(is_there)
        || SHORT.iter().chain(&KEYS).any(has_number)
        || has_number(&COMMAND)
        || code.split(SETTING).skip(1).any(begins_with_time)
        || options(code).any(begins_with_time)
}

/// Returns the values of the options in a line: the text after the `=` of `--name=value`.
fn options(code: &str) -> impl Iterator<Item = &str> {
    let words = code.split(['"', ' ', '\'']);
    words.filter_map(|word| Some(word.strip_prefix("--")?.split_once('=')?.1))
}

/// Returns whether a text begins with a number with a unit, and ends there or at a quote.
fn begins_with_time(text: &str) -> bool {
    let text = text.split(['"', '\\']).next().unwrap_or_default();
    let unit = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    unit.len() < text.len() && UNITS.contains(&unit)
}

/// Returns the texts after a sign, wherever the sign begins a word.
fn places<'a>(code: &'a str, sign: &'a str) -> impl Iterator<Item = &'a str> {
    code.match_indices(sign).filter_map(move |(place, _)| {
        let before = code.get(..place)?;
        let is_whole = !before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        code.get(place + sign.len()..).filter(|_| is_whole)
    })
}

fn begins_with_number(text: &str) -> bool {
    text.trim_start()
        .starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, is_test: bool) -> Vec<usize> {
        let lines = without_reason(text, is_test, LANGUAGES[0].1);
        lines.map(|(number, _)| number).collect()
    }

    #[test]
    fn finds_times_without_a_reason() {
        // The parts are separate, so that this line is not found itself.
        for (call, rest) in [
            ("Duration::", "from_secs(5);"),
            ("[1, 2].map(Duration::", "from_millis);"),
            ("tokio::time::sl", "eep(pause).await;"),
            ("let short = mil", "lis(50);"),
            ("json!({\"delay_", "ms\": 300})"),
            ("\"echo x; sl", "eep 0.2; echo y\""),
            ("set", "Timeout(() => go(), 20);"),
            ("timeout = \\", "\"5s\\\"\\n"),
            ("\"--grace", "=10s\","),
        ] {
            let line = format!("    {call}{rest}");
            assert_eq!(found(&line, true), [1], "{line}");
            assert_eq!(found(&format!("{line} // between two looks"), true), [0; 0]);
            assert_eq!(found(&format!("{line} // soon"), true), [1], "no reason");
            assert_eq!(found(&line, false), [0; 0], "no test");
        }
    }

    #[test]
    fn leaves_out_what_is_no_time() {
        for line in [
            "let url = \"http://127.0.0.1\"; wait(patience());",
            "elapsed.as_millis()",
            "assert_eq!(told[\"delay_ms\"], 7);",
            "// It sleeps for a while.",
            "oversleep(5);",
            "\"5 seconds\", \"s\", \"x5s\", \"extend:deadline=5m\"",
            "async fn sleep(&self, time: Duration) {",
        ] {
            assert_eq!(found(line, true), [0; 0], "{line}");
        }
    }

    #[test]
    fn knows_the_tests_of_a_file_and_of_a_folder() {
        let sleeps = format!("{}eep(pause);", "sl");
        let text = format!("{sleeps}\n#[cfg(test)]\nmod tests {{\n    {sleeps}\n}}\n");
        assert_eq!(found(&text, false), [4]);
        assert!(is_of_tests("crates/core/loop/tests/it/machine.rs"));
        assert!(is_of_tests("tests/kit/src/lib.rs"));
        assert!(!is_of_tests("crates/core/loop/src/lib.rs"));
    }
}
