//! Some lines of a text, as they are answered to a model.

use std::{
    io::{self, BufRead, Read},
    num::NonZeroUsize,
};

use neuron_types::ToolError;
use tokio_util::sync::CancellationToken;

use crate::{
    BuiltinOptions,
    builtin::files::{blocking::check, error::cannot},
    builtin::text::whole_end,
};

/// Which lines are asked for, counted from 1.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    first: usize,
    last: usize,
}

impl Range {
    pub(crate) fn new(
        start_line: Option<NonZeroUsize>,
        end_line: Option<NonZeroUsize>,
    ) -> Result<Self, ToolError> {
        let first = start_line.map_or(1, NonZeroUsize::get);
        let last = end_line.map_or(usize::MAX, NonZeroUsize::get);
        if last < first {
            return Err(ToolError::ModelRetry(format!(
                "end_line {last} is before start_line {first}; swap them"
            )));
        }
        Ok(Self { first, last })
    }
}

/// What is read.
pub(crate) struct Source<'a> {
    /// Its path, as the model knows it.
    pub(crate) path: &'a str,
    /// How many bytes it has.
    pub(crate) size: u64,
    /// The tool that reads it.
    pub(crate) tool: &'a str,
}

impl Source<'_> {
    /// Returns the lines as they stand in the file. A last line in brackets states what the limits cut off, with the
    /// line to continue from. A file that holds NUL bytes is rejected as binary.
    pub(crate) fn text(
        &self,
        reader: &mut impl BufRead,
        range: Range,
        options: &BuiltinOptions,
        stop: &CancellationToken,
    ) -> Result<String, ToolError> {
        let Self { path, size, tool } = *self;
        let start = reader.fill_buf().map_err(cannot("read", path))?;
        if start.is_empty() {
            return Ok("[the file is empty]\n".to_owned());
        }
        let binary = start.contains(&0);
        let excerpt = match binary {
            true => None,
            false => Some(excerpt(reader, path, range, options, stop)?),
        };
        match excerpt {
            Some(excerpt) if !excerpt.bytes.contains(&0) => excerpt.into_text(path, range.first),
            _ => Err(ToolError::ModelRetry(format!(
                "{path} is a binary file of {size} bytes; {tool} reads text"
            ))),
        }
    }
}

/// Some whole lines of a file.
struct Excerpt {
    bytes: Vec<u8>,
    /// The line after the last one that was read.
    next_line: usize,
    rest: Rest,
}

/// What is behind an [`Excerpt`].
enum Rest {
    /// Nothing, or nothing that was asked for.
    Nothing,
    /// Lines that were asked for.
    Lines,
    /// The rest of a line that is too long on its own.
    OfLine,
}

fn excerpt(
    reader: &mut impl BufRead,
    path: &str,
    Range { first, last }: Range,
    options: &BuiltinOptions,
    stop: &CancellationToken,
) -> Result<Excerpt, ToolError> {
    let mut line = 1;
    while line < first && skip_line(reader).map_err(cannot("read", path))? {
        check(stop)?;
        line += 1;
    }
    let end = last.min(first.saturating_add(options.max_lines.max(1) - 1));
    let mut bytes = Vec::new();
    while line <= end {
        check(stop)?;
        let before = bytes.len();
        let room = options.max_output_bytes - before;
        let read = reader
            .by_ref()
            .take((room as u64).saturating_add(1))
            .read_until(b'\n', &mut bytes)
            .map_err(cannot("read", path))?;
        if read == 0 {
            break;
        }
        if read > room {
            let rest = if before == 0 {
                Rest::OfLine
            } else {
                Rest::Lines
            };
            bytes.truncate(if before == 0 { room } else { before });
            let next_line = line + usize::from(before == 0);
            return Ok(Excerpt {
                bytes,
                next_line,
                rest,
            });
        }
        line += 1;
    }
    let more =
        line > end && end < last && !reader.fill_buf().map_err(cannot("read", path))?.is_empty();
    Ok(Excerpt {
        bytes,
        next_line: line,
        rest: if more { Rest::Lines } else { Rest::Nothing },
    })
}

/// Returns false at the end of the file.
fn skip_line(reader: &mut impl BufRead) -> io::Result<bool> {
    Ok(reader.skip_until(b'\n')? > 0)
}

impl Excerpt {
    fn into_text(self, path: &str, first: usize) -> Result<String, ToolError> {
        let next = self.next_line;
        if self.bytes.is_empty() && matches!(self.rest, Rest::Nothing) {
            return Err(ToolError::ModelRetry(format!(
                "{path} has {} lines; start_line is {first}",
                next - 1
            )));
        }
        let (mut text, lossy) = match String::from_utf8(self.bytes) {
            Ok(text) => (text, false),
            Err(error) => {
                let bytes = error.as_bytes();
                let whole = match self.rest {
                    Rest::OfLine => whole_end(bytes),
                    _ => bytes,
                };
                let text = String::from_utf8_lossy(whole);
                let lossy = matches!(text, std::borrow::Cow::Owned(_));
                (text.into_owned(), lossy)
            }
        };
        let mut note = |note: &str| {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(note);
        };
        match self.rest {
            Rest::Nothing => {}
            Rest::Lines => note(&format!(
                "[lines {first} to {}; the file goes on: read it with start_line {next}]\n",
                next - 1
            )),
            Rest::OfLine => note(&format!(
                "[line {} is too long and was cut; read on with start_line {next}]\n",
                next - 1
            )),
        }
        if lossy {
            note("[bytes that are not UTF-8 are shown as \u{FFFD}]\n");
        }
        Ok(text)
    }
}
