use std::{
    io::{self, BufRead, BufReader, Read},
    num::NonZeroUsize,
    sync::Arc,
};

use neuron_types::{Tool, ToolContext, ToolDefinition, ToolError};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::{
    BuiltinOptions,
    builtin::files::blocking::{blocking, check},
    builtin::files::error::cannot,
    builtin::files::open,
    builtin::files::root::Root,
    definition::reader,
    text::whole_end,
};

/// `read_file`: the text of a file, or some of its lines.
///
/// Answers with the text as it stands in the file. What the limits cut off is said in a last line in
/// brackets, with the line to go on from. A file that holds NUL bytes is refused as binary.
#[derive(Debug, Clone)]
pub struct ReadFile {
    options: Arc<BuiltinOptions>,
}

/// The arguments of [`ReadFile`].
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFileArgs {
    /// The file, relative to the working directory.
    #[schemars(extend("format" = "path"))]
    pub path: String,
    /// The first line to read, counted from 1. Default is the first line of the file.
    #[serde(default)]
    pub start_line: Option<NonZeroUsize>,
    /// The last line to read. Default is the last line of the file.
    #[serde(default)]
    pub end_line: Option<NonZeroUsize>,
}

impl ReadFile {
    /// The tool with these options.
    pub fn new(options: impl Into<Arc<BuiltinOptions>>) -> Self {
        Self {
            options: options.into(),
        }
    }
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    type Args = ReadFileArgs;
    type Output = String;
    type Error = ToolError;

    fn definition(&self) -> ToolDefinition {
        let description = format!(
            "Reads a text file, or some of its lines. One answer has at most {} lines and {} bytes; \
             what is left is said at its end.",
            self.options.max_lines, self.options.max_output_bytes
        );
        reader::<ReadFileArgs>(Self::NAME, "Read file", description)
    }

    async fn call(&self, args: ReadFileArgs, ctx: &ToolContext) -> Result<String, ToolError> {
        let options = Arc::clone(&self.options);
        let cwd = ctx.cwd.clone();
        blocking(ctx, move |stop| {
            let root = Root::new(&cwd, &options)?;
            read(&root, &args, &options, stop)
        })
        .await
    }
}

fn read(
    root: &Root,
    args: &ReadFileArgs,
    options: &BuiltinOptions,
    stop: &CancellationToken,
) -> Result<String, ToolError> {
    let path = args.path.as_str();
    let real = root.existing(path)?;
    let first = args.start_line.map_or(1, NonZeroUsize::get);
    let last = args.end_line.map_or(usize::MAX, NonZeroUsize::get);
    if last < first {
        return Err(ToolError::ModelRetry(format!(
            "end_line {last} is before start_line {first}; swap them"
        )));
    }
    // Opening a device may have effects.
    let found = open::look(&real).map_err(cannot("read", path))?;
    if found.is_dir() {
        return Err(ToolError::ModelRetry(format!(
            "{path} is a directory; list_files shows what is in it"
        )));
    }
    if !found.is_file() {
        return Err(ToolError::ModelRetry(format!(
            "{path} is neither a file nor a directory and cannot be read"
        )));
    }
    let file = open::file(&real).map_err(cannot("read", path))?;
    let size = file.metadata().map_err(cannot("read", path))?.len();
    let mut reader = BufReader::new(file);
    let start = reader.fill_buf().map_err(cannot("read", path))?;
    if start.is_empty() {
        return Ok("[the file is empty]\n".to_owned());
    }
    let binary = start.contains(&0);
    let excerpt = if binary {
        None
    } else {
        Some(excerpt(&mut reader, path, first, last, options, stop)?)
    };
    match excerpt {
        Some(excerpt) if !excerpt.bytes.contains(&0) => excerpt.into_text(path, first),
        _ => Err(ToolError::ModelRetry(format!(
            "{path} is a binary file of {size} bytes; read_file reads text"
        ))),
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
    first: usize,
    last: usize,
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

/// False at the end of the file.
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
