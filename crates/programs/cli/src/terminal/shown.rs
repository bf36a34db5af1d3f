//! Text of models, tools and files in a form that is safe for a terminal: nothing in it moves the cursor, hides text or
//! changes its direction.

use std::{borrow::Cow, fmt::Write as _};

use neuron_types::{is_control, is_invisible};
use serde_json::Value;

/// The longest tool arguments on a line of progress, in characters.
const SHORT: usize = 100;

/// Escapes control characters and characters that change the direction of the text, except line breaks and tabs.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_control(c) && c != '\n' && c != '\t')
}

/// Escapes the same, line breaks and tabs included, and invisible characters: the result is always one line.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escape(text, is_invisible)
}

/// Returns a line of a program, a diff or a result: escapes the same except for tabs, which are part of its form.
pub(crate) fn code(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_invisible(c) && c != '\t')
}

/// Returns one line of at most `most` characters, with `…` where something was cut.
pub(crate) fn short_line(text: &str, most: usize) -> String {
    let mut cut: String = text.chars().take(most).collect();
    if cut.len() < text.len() {
        cut.pop();
        cut.push('…');
    }
    line(&cut).into_owned()
}

/// Returns a tool call on one short line: `bash {"command":"ls"}`.
pub(crate) fn call(tool: &str, args: &Value) -> String {
    let tool = short_line(tool, SHORT);
    match args {
        Value::Object(map) if map.is_empty() => tool,
        args => format!("{tool} {}", short_line(&args.to_string(), SHORT)),
    }
}

/// Returns a whole tool call on one line. Nothing is cut: a person decides about it.
pub(crate) fn whole_call(tool: &str, args: &Value) -> String {
    format!("{} {}", line(tool), line(&args.to_string()))
}

/// Returns an argument of a command that a person may copy into a shell.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn escape(text: &str, bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&bad) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if bad(c) {
            // Writing to a String cannot fail.
            write!(escaped, "{}", c.escape_default()).ok();
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn escapes_what_a_terminal_would_obey() {
        assert_eq!(line("a\x1b[2Jb\r\n\tc"), r"a\u{1b}[2Jb\r\n\tc");
        assert_eq!(line("\u{9b}31m\u{7f}"), r"\u{9b}31m\u{7f}");
        assert_eq!(line("safe\u{202e}txt.exe"), r"safe\u{202e}txt.exe");
        assert_eq!(line("\u{e0041}"), r"\u{e0041}");
        assert_eq!(line("a\u{61c}b"), r"a\u{61c}b");
        assert_eq!(code("ls\u{2800}\u{3164}x\t1"), "ls\\u{2800}\\u{3164}x\t1");
    }

    #[test]
    fn keeps_line_breaks_and_tabs_of_an_answer() {
        assert_eq!(text("one\n\ttwo\r\x07"), "one\n\ttwo\\r\\u{7}");
        assert_eq!(text("naïve 👩\u{200d}🔬"), "naïve 👩\u{200d}🔬");
    }

    #[test]
    fn cuts_long_lines_between_characters() {
        assert_eq!(short_line("äöü", 3), "äöü");
        assert_eq!(short_line("äöüß", 3), "äö…");
        assert_eq!(short_line("\n\n\n", 2), "\\n…");
    }

    #[test]
    fn shows_a_call_on_one_line() {
        assert_eq!(call("now", &json!({})), "now");
        assert_eq!(
            call("bash", &json!({"command": "a\nb"})),
            r#"bash {"command":"a\nb"}"#
        );
    }

    #[test]
    fn quotes_what_a_shell_would_split() {
        assert_eq!(shell_word("a/b-1.toml"), "a/b-1.toml");
        assert_eq!(shell_word("it's here"), r"'it'\''s here'");
        assert_eq!(shell_word(""), "''");
    }
}
