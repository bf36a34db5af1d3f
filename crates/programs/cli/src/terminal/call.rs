//! A tool call in a form for people: complete, and nothing in it can pass for something else.

use neuron_tool::unified_diff;
use serde_json::{Map, Value};

use crate::terminal::shown;

/// The prefix of every further line of a text that is one value.
const CONTINUED: &str = "│ ";

/// The heading of a diff that follows arguments.
const CHANGES: &str = "this would change:";

/// Returns the arguments of a call, line by line: a command as it would be typed, an edit as a diff, anything else as
/// JSON.
pub(crate) fn lines(tool: &str, args: &Value) -> Vec<String> {
    let known = args.as_object().and_then(|fields| match tool {
        "bash" => command(fields),
        "edit_file" => edit(fields),
        "write_file" => file(fields),
        _ => None,
    });
    known.unwrap_or_else(|| json(args))
}

/// Returns the same if a diff may show what the call changes. The diff takes the place of arguments that it shows
/// whole.
pub(crate) fn lines_with(tool: &str, args: &Value, diff: Option<&str>) -> Vec<String> {
    let Some(diff) = diff else {
        return lines(tool, args);
    };
    let shown = args.as_object().and_then(|fields| match tool {
        "edit_file" => without(fields, &["path", "old_string", "new_string"]),
        "write_file" => without(fields, &["path", "content"]),
        _ => None,
    });
    match shown {
        Some((_, rest)) if is_whole(diff) => {
            let mut lines = text_lines(diff);
            lines.extend(others(&rest));
            lines
        }
        _ => {
            let mut lines = lines(tool, args);
            lines.push(CHANGES.to_owned());
            lines.extend(text_lines(diff));
            lines
        }
    }
}

/// Returns whether the end of a diff states that it is complete.
fn is_whole(diff: &str) -> bool {
    let last = diff.lines().next_back().unwrap_or_default();
    let is_cut = last.starts_with("\\ ") && last.contains(" not shown: ");
    !last.is_empty() && !is_cut
}

/// Returns the lines of a diff or another text for people.
pub(crate) fn text_lines(text: &str) -> Vec<String> {
    let lines = text.split_terminator('\n');
    lines.map(|line| shown::code(line).into_owned()).collect()
}

/// Returns a command, and the other fields of the call.
fn command(fields: &Map<String, Value>) -> Option<Vec<String>> {
    let (typed, rest) = without(fields, &["command"])?;
    let command = typed.first()?;
    let mut lines = Vec::new();
    for (number, line) in command.split('\n').enumerate() {
        let prompt = if number == 0 { "$ " } else { "> " };
        lines.push(format!("{prompt}{}", shown::code(line)));
    }
    lines.extend(others(&rest));
    Some(lines)
}

/// Returns an edit as the model wrote it: the surrounding lines of the file are not in the arguments.
fn edit(fields: &Map<String, Value>) -> Option<Vec<String>> {
    let (given, rest) = without(fields, &["path", "old_string", "new_string"])?;
    let [path, old, new] = given.as_slice() else {
        return None;
    };
    let diff = unified_diff(path, Some(&with_end(old)), &with_end(new));
    if diff.is_empty() {
        return None;
    }
    let mut lines = text_lines(&diff);
    let mut hunks = 0;
    lines.retain_mut(|line| {
        let begins_hunk = line.starts_with("@@ ");
        if begins_hunk {
            // The numbers are those of lines in the two texts, and not in the file.
            "⋮".clone_into(line);
            hunks += 1;
        }
        !begins_hunk || hunks > 1
    });
    lines.extend(others(&rest));
    Some(lines)
}

/// Returns the new content of a file.
fn file(fields: &Map<String, Value>) -> Option<Vec<String>> {
    let (given, rest) = without(fields, &["path", "content"])?;
    let [path, content] = given.as_slice() else {
        return None;
    };
    let mut lines = vec![format!("+++ {}", shown::line(path))];
    for line in content.split_inclusive('\n') {
        let whole = line.strip_suffix('\n');
        lines.push(format!("+{}", shown::code(whole.unwrap_or(line))));
        if whole.is_none() {
            lines.push("\\ No newline at end of file".to_owned());
        }
    }
    lines.extend(others(&rest));
    Some(lines)
}

/// Returns these fields, if all are there and are texts, and the rest.
fn without<'a>(
    fields: &'a Map<String, Value>,
    names: &[&str],
) -> Option<(Vec<&'a str>, Map<String, Value>)> {
    let given = names.iter().map(|name| fields.get(*name)?.as_str());
    let given = given.collect::<Option<Vec<&str>>>()?;
    let mut rest = fields.clone();
    rest.retain(|name, _| !names.contains(&name.as_str()));
    Some((given, rest))
}

/// Returns the fields of a call that are shown besides its main ones.
fn others(rest: &Map<String, Value>) -> Vec<String> {
    let lines = rest.iter().map(|(name, value)| {
        let (name, value) = (shown::line(name), value.to_string());
        format!("{name}: {}", shown::line(&value))
    });
    lines.collect()
}

/// Returns the text with a line break at its end. Texts of an edit are parts of lines: a missing end says nothing about
/// the file.
fn with_end(text: &str) -> String {
    match text.strip_suffix('\n') {
        Some(_) => text.to_owned(),
        None if text.is_empty() => String::new(),
        None => format!("{text}\n"),
    }
}

/// Returns JSON with the line breaks of its texts as line breaks.
fn json(args: &Value) -> Vec<String> {
    let pretty = serde_json::to_string_pretty(args).unwrap_or_else(|_| args.to_string());
    pretty.lines().flat_map(broken).collect()
}

/// Returns a line of JSON, broken where a text in it has a line break.
fn broken(line: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let indent: String = line.chars().take_while(|c| *c == ' ').collect();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        let next = match c {
            '\\' => chars.next(),
            _ => None,
        };
        match (c, next) {
            ('\\', Some('n')) => lines.push(format!("{indent}{CONTINUED}")),
            ('\\', Some('t')) => push(&mut lines, "\t"),
            (c, next) => {
                let text: String = [Some(c), next].into_iter().flatten().collect();
                push(&mut lines, &text);
            }
        }
    }
    let lines = lines.into_iter();
    lines.map(|line| shown::code(&line).into_owned()).collect()
}

fn push(lines: &mut [String], text: &str) {
    if let Some(last) = lines.last_mut() {
        last.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_reads_as_it_would_be_typed() {
        let args = json!({"command": "cd src\nrm -r *", "timeout_secs": 5});
        let expected = ["$ cd src", "> rm -r *", "timeout_secs: 5"];
        assert_eq!(lines("bash", &args), expected);
    }

    #[test]
    fn an_edit_reads_as_a_diff() {
        let args = json!({"path": "a.txt", "old_string": "one\ntwo", "new_string": "one\n\tthree"});
        let expected = ["--- a.txt", "+++ a.txt", " one", "-two", "+\tthree"];
        assert_eq!(lines("edit_file", &args), expected);
        let args = json!({"path": "a.txt", "content": "one\ntwo"});
        let expected = ["+++ a.txt", "+one", "+two", "\\ No newline at end of file"];
        assert_eq!(lines("write_file", &args), expected);
    }

    #[test]
    fn a_diff_stands_in_the_place_of_an_edits_arguments() {
        let args = json!({"path": "a", "old_string": "x", "new_string": "y", "replace_all": true});
        let diff = "--- a\n+++ a\n@@ -7 +7 @@\n-\tx\u{1b}[2J\n+\ty\n";
        let expected = [
            "--- a",
            "+++ a",
            "@@ -7 +7 @@",
            "-\tx\\u{1b}[2J",
            "+\ty",
            "replace_all: true",
        ];
        assert_eq!(lines_with("edit_file", &args, Some(diff)), expected);
        assert_eq!(
            lines_with("edit_file", &args, None),
            lines("edit_file", &args)
        );
    }

    #[test]
    fn arguments_that_a_diff_does_not_have_whole_are_shown_too() {
        let args = json!({"path": "a", "content": "x\n"});
        let cut = "+++ a\n\\ lines that are not shown: 7\n";
        let expected = [
            "+++ a",
            "+x",
            CHANGES,
            "+++ a",
            "\\ lines that are not shown: 7",
        ];
        assert_eq!(lines_with("write_file", &args, Some(cut)), expected);
        let args = json!({"sql": "drop"});
        let expected = ["{", "  \"sql\": \"drop\"", "}", CHANGES, "-all"];
        assert_eq!(lines_with("query", &args, Some("-all\n")), expected);
    }

    #[test]
    fn other_calls_read_as_json_with_line_breaks() {
        let args = json!({"body": "one\n\ttwo \\n", "to": "ada"});
        let expected = [
            "{",
            "  \"body\": \"one",
            "  │ \ttwo \\\\n\",",
            "  \"to\": \"ada\"",
            "}",
        ];
        assert_eq!(lines("mail", &args), expected);
        // Arguments that are not as expected are shown as they are.
        let args = json!({"command": ["ls"]});
        assert_eq!(lines("bash", &args)[1], "  \"command\": [");
    }

    #[test]
    fn nothing_in_an_argument_is_obeyed_by_the_terminal_or_passes_for_another() {
        let hostile = "x\u{1b}[2J\r\n  \"safe\": true\u{202e}\n$ ls";
        for (tool, args) in [
            ("bash", json!({ "command": hostile })),
            ("write_file", json!({"path": hostile, "content": hostile})),
            (
                "edit_file",
                json!({"path": hostile, "old_string": "", "new_string": hostile}),
            ),
            ("mail", json!({ "body": hostile })),
        ] {
            let lines = lines(tool, &args);
            let of_text = |line: &&String| line.contains("safe") || line.contains("ls");
            for line in lines.iter().filter(of_text) {
                let marks = ["> ", "+", "--- ", "│ "];
                let is_marked = marks.iter().any(|mark| line.trim_start().starts_with(mark));
                assert!(is_marked, "{tool}: {line:?}");
            }
            let obeyed = |c: char| (c.is_control() && c != '\t') || c == '\u{202e}';
            assert!(!lines.concat().contains(obeyed), "{tool}: {lines:?}");
        }
    }
}
