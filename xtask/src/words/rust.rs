//! The comments and the literals of Rust.

use std::borrow::Cow;

/// A comment, or a literal of text, with its numbered lines.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Block<'a> {
    pub(super) is_literal: bool,
    pub(super) lines: Vec<(usize, Cow<'a, str>)>,
}

/// What begins a comment that ends with its line, the longest first.
const MARKS: [&str; 4] = ["////", "///", "//!", "//"];

/// Returns the comments and literals of a source file. Lines of comments that follow one another are one block.
pub(super) fn blocks(source: &str) -> Vec<Block<'_>> {
    let mut scan = Scan {
        rest: source,
        line: 1,
        is_alone: true,
        blocks: Vec::new(),
        joined: None,
    };
    while scan.step().is_some() {}
    scan.blocks
}

#[derive(Debug)]
struct Scan<'a> {
    rest: &'a str,
    line: usize,
    /// Whether nothing but space stands before `rest` in its line.
    is_alone: bool,
    blocks: Vec<Block<'a>>,
    /// The line and the mark of a comment that continues the last block.
    joined: Option<(usize, &'static str)>,
}

impl<'a> Scan<'a> {
    fn step(&mut self) -> Option<()> {
        let first = self.rest.chars().next()?;
        if let Some(mark) = MARKS.into_iter().find(|mark| self.rest.starts_with(mark)) {
            self.line_comment(mark);
        } else if self.rest.starts_with("/*") {
            self.block_comment();
        } else if first == '"' {
            self.literal();
        } else if first == '\'' {
            self.character();
        } else if first.is_alphanumeric() || first == '_' {
            self.word();
        } else {
            self.take(first.len_utf8());
        }
        Some(())
    }

    /// Takes so many bytes.
    fn take(&mut self, count: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(count).unwrap_or((self.rest, ""));
        self.rest = rest;
        self.line += taken.matches('\n').count();
        let tail = taken.rsplit_once('\n').map(|(_, tail)| tail);
        self.is_alone = (self.is_alone || tail.is_some())
            && tail.unwrap_or(taken).chars().all(char::is_whitespace);
        taken
    }

    fn line_comment(&mut self, mark: &'static str) {
        let (line, is_alone) = (self.line, self.is_alone);
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let text = self.take(end);
        let text = Cow::from(text.strip_prefix(mark).unwrap_or(text));
        match self.blocks.last_mut() {
            Some(last) if is_alone && self.joined == Some((line, mark)) => {
                last.lines.push((line, text));
            }
            _ => self.push(false, vec![(line, text)]),
        }
        self.joined = is_alone.then_some((line + 1, mark));
    }

    fn block_comment(&mut self) {
        let line = self.line;
        let mut depth = 0_usize;
        let mut length = 0;
        while let Some(rest) = self.rest.get(length..) {
            if rest.starts_with("/*") {
                depth += 1;
                length += 2;
            } else if rest.starts_with("*/") {
                depth -= 1;
                length += 2;
            } else {
                length += rest.chars().next().map_or(1, char::len_utf8);
            }
            if depth == 0 {
                break;
            }
        }
        let text = self.take(length);
        let without_stars = |text: &'a str| text.trim_matches([' ', '\t', '*', '/', '!']);
        let lines = text.lines().map(without_stars).map(Cow::from);
        self.push(false, (line..).zip(lines).collect());
    }

    fn push(&mut self, is_literal: bool, lines: Vec<(usize, Cow<'a, str>)>) {
        self.blocks.push(Block { is_literal, lines });
        self.joined = None;
    }

    fn literal(&mut self) {
        let line = self.line;
        self.take(1);
        let mut is_escaped = false;
        let end = self.rest.find(|letter: char| {
            let is_end = letter == '"' && !is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            is_end
        });
        let text = self.take(end.unwrap_or(self.rest.len()));
        self.take(1);
        let lines = text.lines().map(without_escapes);
        self.push(true, (line..).zip(lines).collect());
    }

    fn raw_literal(&mut self, hashes: usize) {
        let line = self.line;
        self.take(hashes + 1);
        let close = format!("\"{}", "#".repeat(hashes));
        let end = self.rest.find(&close).unwrap_or(self.rest.len());
        let text = self.take(end);
        self.take(close.len());
        let lines = text.lines().map(Cow::from);
        self.push(true, (line..).zip(lines).collect());
    }

    /// Takes a character in quotes, or the quote that begins a lifetime.
    fn character(&mut self) {
        self.take(1);
        let mut letters = self.rest.chars();
        match (letters.next(), letters.next()) {
            (Some('\\'), Some(escaped)) => {
                self.take(1 + escaped.len_utf8());
                let end = self.rest.find('\'').unwrap_or_default();
                self.take(end + 1);
            }
            (Some(letter), Some('\'')) => {
                self.take(letter.len_utf8() + 1);
            }
            _ => {}
        }
    }

    /// Takes a name or a number, and the raw literal that it begins, if it does.
    fn word(&mut self) {
        let is_outside = |letter: char| !letter.is_alphanumeric() && letter != '_';
        let end = self.rest.find(is_outside).unwrap_or(self.rest.len());
        let word = self.take(end);
        let hashes = self.rest.len() - self.rest.trim_start_matches('#').len();
        let is_quoted = self
            .rest
            .get(hashes..)
            .is_some_and(|rest| rest.starts_with('"'));
        if ["r", "br", "cr"].contains(&word) && is_quoted {
            self.raw_literal(hashes);
        }
    }
}

/// Returns a line of a literal with its escapes made space, so that none becomes part of a word.
fn without_escapes(line: &str) -> Cow<'_, str> {
    if !line.contains('\\') {
        return Cow::from(line);
    }
    let mut is_escaped = false;
    let letters = line.chars().map(|letter| {
        let is_escape = is_escaped || letter == '\\';
        is_escaped = letter == '\\' && !is_escaped;
        if is_escape { ' ' } else { letter }
    });
    Cow::from(letters.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str, is_literal: bool) -> Vec<String> {
        let blocks = blocks(source).into_iter();
        let blocks = blocks.filter(|block| block.is_literal == is_literal);
        let text = |block: Block<'_>| {
            let lines = block.lines.iter();
            let lines = lines.map(|(number, text)| format!("{number}:{text}"));
            lines.collect::<Vec<_>>().join("|")
        };
        blocks.map(text).collect()
    }

    #[test]
    fn joins_the_lines_of_a_comment() {
        let source = "//! a\n//! b\n\n/// c\n// d\nlet e = 1; // f\n// g\n/* h\n * i */ j";
        let expected = ["1: a|2: b", "4: c", "5: d", "6: f", "7: g", "8:h|9:i"];
        assert_eq!(texts(source, false), expected);
    }

    #[test]
    fn keeps_comments_and_texts_apart() {
        let source = "let a = \"// b \\\" c\"; // d\nr#\"// e \"f\"#; '\"'; '\\''; b'\"'; // g\n";
        assert_eq!(texts(source, false), ["1: d", "2: g"]);
        assert_eq!(texts(source, true), ["1:// b    c", "2:// e \"f"]);

        let source = "fn a<'b>(c: &'b str) { r#d(\"e\nf\") } /* /* g */ h */ // i";
        assert_eq!(texts(source, false), ["2:g */ h", "2: i"]);
        assert_eq!(texts(source, true), ["1:e|2:f"]);
    }

    #[test]
    fn makes_escapes_space() {
        assert_eq!(texts("\"a\\ntold\"", true), ["1:a  told"]);
    }
}
