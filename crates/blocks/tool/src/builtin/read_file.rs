use std::{io::BufReader, num::NonZeroUsize, sync::Arc};

use neuron_types::{Tool, ToolContext, ToolDefinition, ToolError};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::{
    BuiltinOptions,
    builtin::definition::reader,
    builtin::files::blocking::blocking,
    builtin::files::error::cannot,
    builtin::files::excerpt::{Range, Source},
    builtin::files::open,
    builtin::files::root::Root,
};

/// `read_file`: the text of a file, or some of its lines.
///
/// Answers with the text as it stands in the file. A last line in brackets states what the limits cut off, with the
/// line to continue from. A file that holds NUL bytes is rejected as binary.
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
    /// Makes the tool with these options.
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
    let range = Range::new(args.start_line, args.end_line)?;
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
    let source = Source {
        path,
        size,
        tool: ReadFile::NAME,
    };
    source.text(&mut BufReader::new(file), range, options, stop)
}
