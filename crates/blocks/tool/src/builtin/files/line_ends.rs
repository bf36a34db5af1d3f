//! Line ends of a file, which its changes keep whatever line ends a model writes.

use std::{borrow::Cow, ops::Range};

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// `\n`.
    Lf,
    /// `\r\n`.
    CrLf,
}

impl LineEnd {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// Returns the text with every line ended by `\n`.
pub(crate) fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text of a file, in which texts are found whatever their line ends are.
pub(crate) struct FileText<'a> {
    text: &'a str,
    plain: Cow<'a, str>,
    /// Where the line ends of `plain` are that are `\r\n` in the file.
    crlf: Vec<usize>,
    /// How most lines end; `None` where none does.
    usual: Option<LineEnd>,
}

impl<'a> FileText<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let crlf = text.match_indices("\r\n").enumerate();
        Self {
            text,
            plain: with_lf(text),
            crlf: crlf.map(|(before, (at, _))| at - before).collect(),
            usual: usual(text.as_bytes()),
        }
    }

    /// Returns the text with every line ended by `\n`: what is to be searched.
    pub(crate) fn plain(&self) -> &str {
        &self.plain
    }

    /// Returns the file with `new` in the place of all that `old` matches. `old` has lines that end in `\n`.
    pub(crate) fn replaced(&self, old: &str, new: &str) -> String {
        let mut result = String::with_capacity(self.text.len());
        let mut last = 0;
        for (at, _) in self.plain.match_indices(old) {
            let range = self.in_file(at..at + old.len());
            result.push_str(self.text.get(last..range.start).unwrap_or_default());
            let found = self.text.get(range.clone()).unwrap_or_default();
            result.push_str(&with_ends_of(found.as_bytes(), new, self.usual));
            last = range.end;
        }
        result.push_str(self.text.get(last..).unwrap_or_default());
        result
    }

    /// Returns where a part of the plain text is in the file.
    fn in_file(&self, plain: Range<usize>) -> Range<usize> {
        let place = |at: usize| at + self.crlf.partition_point(|end| *end < at);
        place(plain.start)..place(plain.end)
    }
}

/// Returns how most lines of a file end; `None` where no line ends, and for a file that is no text.
pub(crate) fn usual(content: &[u8]) -> Option<LineEnd> {
    if content.contains(&0) {
        return None;
    }
    let (mut all, mut crlf) = (0_usize, 0_usize);
    for line_end in ends(content) {
        all += 1;
        crlf += usize::from(line_end == LineEnd::CrLf);
    }
    let most = if crlf > all / 2 {
        LineEnd::CrLf
    } else {
        LineEnd::Lf
    };
    (all > 0).then_some(most)
}

/// Returns the new text with the line ends of the old one that it replaces: those before and behind what differs stay,
/// and so does each between as far as there are as many. A further line ends as `usual` says, and as it is written
/// where that is `None`.
pub(crate) fn with_ends_of<'a>(old: &[u8], new: &'a str, usual: Option<LineEnd>) -> Cow<'a, str> {
    let Some(usual) = usual else {
        return Cow::Borrowed(new);
    };
    let new = with_lf(new);
    let ends: Vec<LineEnd> = ends(old).collect();
    let lines = new.bytes().filter(|byte| *byte == b'\n').count();
    let behind = ends_behind(old, new.as_bytes()).min(ends.len().min(lines));
    let mut result = String::with_capacity(new.len());
    for (at, line) in new.split_inclusive('\n').enumerate() {
        let Some(text) = line.strip_suffix('\n') else {
            result.push_str(line);
            continue;
        };
        let left = lines - at;
        let kept = if left <= behind {
            ends.get(ends.len() - left)
        } else {
            ends.get(..ends.len() - behind)
                .and_then(|ends| ends.get(at))
        };
        result.push_str(text);
        result.push_str(kept.unwrap_or(&usual).as_str());
    }
    Cow::Owned(result)
}

/// Returns how the lines of a text end, in their order.
fn ends(text: &[u8]) -> impl Iterator<Item = LineEnd> {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.filter_map(|line| match line {
        [.., b'\r', b'\n'] => Some(LineEnd::CrLf),
        [.., b'\n'] => Some(LineEnd::Lf),
        _ => None,
    })
}

/// Returns how many whole lines the two texts end with alike, whatever line ends they have.
fn ends_behind(old: &[u8], new: &[u8]) -> usize {
    let is_end = |byte: &u8| *byte == b'\n';
    let (mut old, mut new) = (old.rsplit(is_end), new.rsplit(is_end));
    // What is behind the last line end.
    if old.next() != new.next() {
        return 0;
    }
    let lines = old.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let alike = lines.zip(new).take_while(|(old, new)| old == new);
    alike.count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn crlf(text: &str) -> String {
        text.replace('\n', "\r\n")
    }

    #[test]
    fn a_mixed_file_keeps_the_ends_of_what_is_not_touched() {
        let file = FileText::new("a\r\nb\nc\r\nd\ne\r\n");
        assert_eq!(file.replaced("c", "C"), "a\r\nb\nC\r\nd\ne\r\n");
        assert_eq!(
            file.replaced("b\nc\nd", "b\nX\nY\nd"),
            "a\r\nb\nX\r\nY\r\nd\ne\r\n"
        );
        assert_eq!(file.replaced("b\nc\nd\n", "b\nd\n"), "a\r\nb\nd\ne\r\n");
        assert_eq!(file.replaced("a\nb\n", "A\nB\n"), "A\r\nB\nc\r\nd\ne\r\n");
    }

    #[test]
    fn a_file_in_which_no_line_ends_takes_the_text_as_it_is_written() {
        assert_eq!(FileText::new("a").replaced("a", "b\r\nc\n"), "b\r\nc\n");
        assert_eq!(with_ends_of(b"", "b\r\nc\n", usual(b"")), "b\r\nc\n");
        assert_eq!(usual(b"\0\r\n"), None);
    }

    proptest! {
        /// An edit does to a CRLF file what it does to the LF file.
        #[test]
        fn an_edit_of_a_crlf_file_is_the_edit_of_its_lf_form_converted(
            text in "[ab\n]{0,20}\n[ab\n]{0,5}",
            old in "[ab\n]{1,3}",
            new in "[abc\n]{0,6}",
        ) {
            let plain = FileText::new(&text).replaced(&old, &new);
            prop_assert_eq!(&plain, &text.replace(&old, &new));
            let dos = crlf(&text);
            for new in [new.clone(), crlf(&new)] {
                prop_assert_eq!(FileText::new(&dos).replaced(&old, &new), crlf(&plain));
                prop_assert_eq!(FileText::new(&text).replaced(&old, &new), plain.clone());
            }
        }

        /// Whatever ends a file mixes, an edit of it is that of its LF form but for them, and what is not matched stays.
        #[test]
        fn an_edit_of_a_mixed_file_leaves_what_is_around(
            text in "([ab\r]{0,2}(\n|\r\n)){1,6}",
            old in "[ab\n]{1,3}",
            new in "[ab\n]{0,3}",
        ) {
            let file = FileText::new(&text);
            let made = file.replaced(&old, &new);
            prop_assert_eq!(file.replaced(&old, &old), text.clone());
            if let Some(at) = file.plain().find(&old) {
                let range = file.in_file(at..at + old.len());
                prop_assert!(made.starts_with(&text[..range.start]));
                prop_assert_eq!(made.matches('\n').count(), file.plain().replace(&old, &new).matches('\n').count());
            }
        }

        /// A file that is written again as it is, with whatever ends, stays as it is.
        #[test]
        fn the_same_lines_written_again_keep_their_ends(text in "([ab]{0,2}(\n|\r\n)){1,6}[ab]?") {
            let usual = usual(text.as_bytes());
            let plain = with_lf(&text).into_owned();
            prop_assert_eq!(&with_ends_of(text.as_bytes(), &plain, usual), &text);
            let dos = crlf(&plain);
            prop_assert_eq!(&with_ends_of(text.as_bytes(), &dos, usual), &text);
        }
    }
}
