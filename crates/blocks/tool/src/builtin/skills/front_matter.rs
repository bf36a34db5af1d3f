//! What a `SKILL.md` begins with: the part of YAML that says a name and a description.
//!
//! Between two lines `---` stand lines `key: value`. A text may stand as it is, in quotes of either kind on one line, or as a
//! block after `|` or `>`. Other keys may hold whatever they like in lines that are indented.

use std::str::Lines;

/// What is said of the skill.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    pub(crate) name: String,
    pub(crate) description: String,
}

/// What is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The line, counted from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
}

const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;

/// The most bytes of a `SKILL.md`: it is to be read as a whole.
const MAX_BYTES: usize = 256 * 1024;

/// What a plain text cannot begin with: it would mean something.
const INDICATORS: &[char] = &[
    '[', ']', '{', '}', '&', '*', '!', '%', '@', '`', ',', '#', '|', '>', '"', '\'',
];

/// Reads what the content of a `SKILL.md` begins with.
pub(crate) fn parse(content: &[u8]) -> Result<FrontMatter, Problem> {
    if content.len() > MAX_BYTES {
        let message =
            format!("the file has more than {MAX_BYTES} bytes: move parts to other files");
        return Err(Problem { line: 1, message });
    }
    let text = std::str::from_utf8(content).map_err(|error| {
        let before = content.get(..error.valid_up_to()).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        problem(line, "this is not UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader {
        lines: text.lines(),
        number: 0,
        next: None,
    };
    if reader.take().is_none_or(|line| line.trim_end() != "---") {
        let message =
            "the file begins with --- on a line, then name and description, then --- again";
        return Err(problem(1, message));
    }
    let (mut name, mut description) = (None, None);
    loop {
        let Some(line) = reader.take() else {
            return Err(problem(reader.number, "there is no line --- after this"));
        };
        let number = reader.number;
        if line.trim_end() == "---" {
            break;
        }
        if is_empty(line) {
            continue;
        }
        let Some((key, value)) = key_and_value(line) else {
            let message = "this is no line as name: value";
            return Err(problem(number, message));
        };
        let kept = match key {
            "name" => &mut name,
            "description" => &mut description,
            _ => {
                reader.skip_indented();
                continue;
            }
        };
        if kept.is_some() {
            return Err(problem(number, &format!("{key} stands here twice")));
        }
        let value = reader.value(value).map_err(|what| {
            let message = format!("{key} {what}");
            problem(number, &message)
        })?;
        *kept = Some((number, value));
    }
    let end = reader.number;
    let missing = |key: &str| problem(end, &format!("{key} is missing: add a line {key}: …"));
    let (line, name) = name.ok_or_else(|| missing("name"))?;
    check_name(&name).map_err(|message| problem(line, message))?;
    let (line, description) = description.ok_or_else(|| missing("description"))?;
    check_description(&description).map_err(|message| problem(line, message))?;
    Ok(FrontMatter { name, description })
}

fn problem(line: usize, message: &str) -> Problem {
    let message = message.to_owned();
    Problem { line, message }
}

fn check_name(name: &str) -> Result<(), &'static str> {
    let is_known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    match !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_known) {
        true => Ok(()),
        false => Err("name has 1 to 64 of lowercase letters, digits and hyphens"),
    }
}

fn check_description(description: &str) -> Result<(), &'static str> {
    let is_control = |c: char| neuron_types::is_control(c) && !matches!(c, '\n' | '\t');
    if description.is_empty() || description.chars().count() > MAX_DESCRIPTION {
        return Err("description has 1 to 1024 characters");
    }
    match description.contains(is_control) {
        true => Err("description has control characters: remove them"),
        false => Ok(()),
    }
}

/// Returns whether there is nothing on the line but a comment.
fn is_empty(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn is_indented(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

/// Returns the key of a line that is not indented, and what stands behind it.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_apart = value.is_empty() || is_indented(value);
    (is_apart && !key.is_empty() && key.chars().all(is_key)).then(|| (key, value.trim()))
}

/// The lines, one after the other.
struct Reader<'t> {
    lines: Lines<'t>,
    /// Of the line that was taken last, counted from 1.
    number: usize,
    /// One that was looked at.
    next: Option<&'t str>,
}

impl<'t> Reader<'t> {
    fn take(&mut self) -> Option<&'t str> {
        let line = self.next.take().or_else(|| self.lines.next())?;
        self.number += 1;
        Some(line)
    }

    fn take_if(&mut self, is_wanted: impl Fn(&str) -> bool) -> Option<&'t str> {
        if self.next.is_none() {
            self.next = self.lines.next();
        }
        match self.next {
            Some(line) if is_wanted(line) => self.take(),
            _ => None,
        }
    }

    /// Passes over the lines of a key that is not read here: what is indented, and lists.
    fn skip_indented(&mut self) {
        let is_part = |line: &str| {
            is_indented(line) || line.is_empty() || line.starts_with("- ") || line == "-"
        };
        while self.take_if(is_part).is_some() {}
    }

    /// Returns the text that stands behind a key, and in the lines below.
    fn value(&mut self, value: &str) -> Result<String, String> {
        if value.starts_with(['|', '>']) {
            return self.block(value);
        }
        let text = match value.chars().next() {
            Some('"') => double_quoted(value),
            Some('\'') => single_quoted(value),
            _ => return self.plain(value),
        }?;
        match self.take_if(|line| is_indented(line) && !is_empty(line)) {
            Some(_) => Err("goes on in a line of its own: write it in one line, or after >".into()),
            None => Ok(text.trim().to_owned()),
        }
    }

    /// Reads a text without quotes, which may continue in lines that are indented.
    fn plain(&mut self, value: &str) -> Result<String, String> {
        let mut words = vec![value];
        while let Some(line) = self.take_if(|line| is_indented(line) && !is_empty(line)) {
            words.push(line.trim());
        }
        let words: Vec<&str> = words.into_iter().map(without_comment).collect();
        let text = words.join(" ").trim().to_owned();
        let begins = ["- ", "? ", ": "]
            .iter()
            .any(|begin| text.starts_with(begin));
        // A colon and a space in it is an error in YAML and nothing else. Many published skills have one, and their other
        // readers take the line as a text.
        if begins || text.starts_with(INDICATORS) {
            return Err("is not read as a text by YAML as it stands: put it in quotes".into());
        }
        Ok(text)
    }

    /// Returns the indented lines after `|`, or after `>`, which makes a line of those that follow each other.
    fn block(&mut self, head: &str) -> Result<String, String> {
        let (style, rest) = head.split_at(1);
        if !matches!(without_comment(rest).trim(), "" | "-" | "+") {
            return Err(format!("begins with {head:?}: write > or | alone"));
        }
        let mut lines = Vec::new();
        while let Some(line) = self.take_if(|line| is_indented(line) || line.trim().is_empty()) {
            lines.push(line);
        }
        let depth = |line: &&str| line.len() - line.trim_start_matches(' ').len();
        let first = lines.iter().find(|line| !line.trim().is_empty());
        let depth = first.map(depth).unwrap_or_default();
        let mut text = String::new();
        for line in lines {
            let is_blank = line.trim().is_empty();
            // Less than the first is no part of the block; YAML does not allow it.
            if !is_blank
                && line
                    .get(..depth)
                    .is_none_or(|start| !start.trim().is_empty())
            {
                return Err("has a line that is indented less than the first of its block".into());
            }
            let line = line.get(depth..).unwrap_or_default().trim_end();
            let ends_line = text.is_empty() || text.ends_with('\n');
            match style {
                "|" => text.extend([line, "\n"]),
                _ if is_blank => text.push('\n'),
                _ if ends_line => text.push_str(line),
                _ => text.extend([" ", line]),
            }
        }
        Ok(text.trim().to_owned())
    }
}

/// Returns what stands before a `#` that begins a comment.
fn without_comment(text: &str) -> &str {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if c == '#' && matches!(before, ' ' | '\t') {
            return text.get(..at).unwrap_or_default().trim_end();
        }
        before = c;
    }
    text
}

/// Returns the text if nothing but a comment follows it.
fn ended(text: String, rest: &str) -> Result<String, String> {
    match without_comment(rest).trim().is_empty() {
        true => Ok(text),
        false => Err("goes on behind its quotes".into()),
    }
}

const OPEN: &str = "has no quote at its end: write it in one line, or after >";

fn single_quoted(value: &str) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = value.get(1..).unwrap_or_default();
    loop {
        let (part, after) = rest.split_once('\'').ok_or(OPEN)?;
        text.push_str(part);
        match after.strip_prefix('\'') {
            Some(more) => {
                text.push('\'');
                rest = more;
            }
            None => return ended(text, after),
        }
    }
}

fn double_quoted(value: &str) -> Result<String, String> {
    let mut text = String::new();
    let mut chars = value.chars();
    chars.next();
    loop {
        match chars.next().ok_or(OPEN)? {
            '"' => return ended(text, chars.as_str()),
            '\\' => {
                let escape = chars.next().ok_or(OPEN)?;
                let digits = match escape {
                    'x' => 2,
                    'u' => 4,
                    'U' => 8,
                    _ => 0,
                };
                let digits: String = chars.by_ref().take(digits).collect();
                let c = match escape {
                    'n' => Some('\n'),
                    't' => Some('\t'),
                    '"' | '\\' | '/' | ' ' => Some(escape),
                    _ if !digits.chars().all(|c| c.is_ascii_hexdigit()) => None,
                    _ => u32::from_str_radix(&digits, 16)
                        .ok()
                        .and_then(char::from_u32),
                };
                text.push(c.ok_or_else(|| format!("has an escape that is not known: \\{escape}"))?);
            }
            c => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The description of a file with these lines for it.
    fn description(lines: &str) -> Result<String, Problem> {
        let text = format!("---\nname: a\n{lines}\n---\nText.\n");
        parse(text.as_bytes()).map(|found| found.description)
    }

    #[test]
    fn a_text_stands_as_it_is_in_quotes_or_as_a_block() {
        for (lines, expected) in [
            ("description: Reads PDFs.", "Reads PDFs."),
            ("description: Reads # not a comment", "Reads"),
            ("description: Reads C#-code.", "Reads C#-code."),
            ("description: Use when: it rains", "Use when: it rains"),
            (
                "description: Use it\n  when: always:",
                "Use it when: always:",
            ),
            (
                "description: \"Use: \\\"so\\\" \\u00e9\" # why",
                "Use: \"so\" é",
            ),
            ("description: 'Use: it''s so'", "Use: it's so"),
            (
                "description: >\n  One\n  two.\n\n  Three.",
                "One two.\nThree.",
            ),
            ("description: >-\n  One\n  two.\nlicense: MIT", "One two."),
            ("description: |\n  One\n    two.", "One\n  two."),
            ("description:\n  One\n  two.", "One two."),
            ("description: One\n  two.", "One two."),
            (
                "metadata:\n  name: b\n  - c\nlist:\n- d\n# e\ndescription: f",
                "f",
            ),
            ("allowed-tools: [a, b]\nx: &y {\ndescription: f", "f"),
        ] {
            assert_eq!(description(lines).unwrap(), expected, "{lines}");
        }
    }

    #[test]
    fn what_yaml_would_read_in_another_way_is_refused_with_its_line() {
        let long = format!("description: {}", "x".repeat(1025));
        for (lines, line) in [
            ("description: : so", 3),
            ("description: [a]", 3),
            ("description: &a b", 3),
            ("description: \"a", 3),
            ("description: \"a\" b", 3),
            ("description: \"a\\q\"", 3),
            ("description: 'a", 3),
            ("description: 'a'\n  b", 3),
            ("description: >2\n  b", 3),
            ("description: >\n    a\n  b", 3),
            ("description:", 3),
            ("description: \"\\u001b[2J\"", 3),
            ("description: a\ndescription: b", 4),
            ("description: a\nname: b", 4),
            ("x: y\n  z\nnonsense", 5),
            ("x:y", 3),
            ("x: y", 4),
            (&long, 3),
        ] {
            assert_eq!(description(lines).unwrap_err().line, line, "{lines}");
        }
    }

    #[test]
    fn a_file_that_does_not_begin_or_end_it_is_refused() {
        for (text, line) in [
            (&b"# Title\n"[..], 1),
            (b"", 1),
            (b"---\nname: a\n", 2),
            (b"---\nname: a\n\xff", 3),
            (b"---\nname: A\ndescription: b\n---\n", 2),
            (b"---\nname: ../a\ndescription: b\n---\n", 2),
            (b"---\ndescription: b\n---\n", 3),
        ] {
            assert_eq!(parse(text).unwrap_err().line, line);
        }
        let found = parse("\u{feff}---\r\nname: a-1\r\ndescription: b\r\n---\r\n".as_bytes());
        assert_eq!(found.unwrap().name, "a-1");
    }

    proptest! {
        #[test]
        fn a_quoted_text_comes_back_as_it_was(text in "[ -~é–]{0,20}[!-~]") {
            let text = text.trim();
            let double = text.replace('\\', "\\\\").replace('"', "\\\"");
            let double = description(&format!("description: \"{double}\""));
            prop_assert_eq!(double.unwrap(), text);
            let single = description(&format!("description: '{}'", text.replace('\'', "''")));
            prop_assert_eq!(single.unwrap(), text);
        }

        #[test]
        fn whatever_stands_there_is_read_or_refused(text in "(---\n)?[-a-z:'\"|>#\\\\ \n\té]{0,60}(---\n)?") {
            if let Ok(found) = parse(text.as_bytes()) {
                prop_assert!(!found.name.is_empty() && !found.description.is_empty());
            }
        }
    }
}
