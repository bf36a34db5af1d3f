use std::{io::Read as _, path::Path, sync::Arc};

use neuron_types::{Preview, Tool, ToolAnnotations, ToolContext, ToolDefinition, ToolError};
use serde::Deserialize;

use crate::{
    BuiltinOptions,
    builtin::definition::{annotations, definition},
    builtin::files::blocking::blocking,
    builtin::files::error::cannot,
    builtin::files::line_ends::{usual, with_ends_of},
    builtin::files::open,
    builtin::files::replace::{lock, replace, replaceable},
    builtin::files::root::Root,
    builtin::files::seen::{check_seen, content_of, fingerprint},
    diff::unified_diff,
};

/// Writing the same content twice leaves the same file, and the content before it is lost.
const ANNOTATIONS: ToolAnnotations = annotations(false, true, true, false);

/// `write_file`: puts text into a file, new or not.
///
/// The file is replaced as a whole: a reader sees the old content or the new. It keeps its permissions; missing
/// directories are made.
///
/// It keeps its line ends, too, `\n` or `\r\n`, whichever the content has. A new file is written as the content is given, and
/// so is one in which no line ends.
#[derive(Debug, Clone)]
pub struct WriteFile {
    options: Arc<BuiltinOptions>,
}

/// The arguments of [`WriteFile`].
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteFileArgs {
    /// The file, relative to the working directory.
    #[schemars(extend("format" = "path"))]
    pub path: String,
    /// The whole new content.
    pub content: String,
}

impl WriteFile {
    /// Makes the tool with these options.
    pub fn new(options: impl Into<Arc<BuiltinOptions>>) -> Self {
        Self {
            options: options.into(),
        }
    }
}

impl Tool for WriteFile {
    const NAME: &'static str = "write_file";
    type Args = WriteFileArgs;
    type Output = String;
    type Error = ToolError;

    fn definition(&self) -> ToolDefinition {
        let description = "Writes a text file. A file that exists is replaced as a whole, missing \
                           directories are made. To change a part of a file use edit_file.";
        let description = description.to_owned();
        ToolDefinition {
            previews: true,
            ..definition::<WriteFileArgs>(Self::NAME, "Write file", description, ANNOTATIONS)
        }
    }

    async fn call(&self, args: WriteFileArgs, ctx: &ToolContext) -> Result<String, ToolError> {
        let options = Arc::clone(&self.options);
        let (cwd, approved) = (ctx.cwd.clone(), ctx.preview.clone());
        blocking(ctx, move |stop| {
            let WriteFileArgs { path, content } = args;
            let real = Root::new(&cwd, &options)?.target(&path)?;
            let _lock = lock(&real);
            let found = if approved.is_some() {
                let found = content_of(&real, &path)?;
                check_seen(approved.as_deref(), found.as_deref(), &path)?;
                found
            } else {
                start_of(&real, &path, options.max_file_bytes)?
            };
            let found = found.unwrap_or_default();
            let content = with_ends_of(&found, &content, usual(&found));
            replace(&real, &path, content.as_bytes(), stop)?;
            Ok(format!("wrote {} bytes to {path}", content.len()))
        })
        .await
    }

    async fn preview(
        &self,
        args: WriteFileArgs,
        ctx: &ToolContext,
    ) -> Result<Option<Preview>, ToolError> {
        let options = Arc::clone(&self.options);
        let cwd = ctx.cwd.clone();
        blocking(ctx, move |_| {
            let WriteFileArgs { path, content } = args;
            let real = Root::new(&cwd, &options)?.target(&path)?;
            let size = replaceable(&real, &path)?.map_or(0, |found| found.size());
            if size > options.max_file_bytes {
                let text = format!("replaces all of {path}, which has {size} bytes");
                return Ok(Some(Preview {
                    text: Some(text),
                    ..Preview::default()
                }));
            }
            let found = content_of(&real, &path)?;
            let mut preview = Preview {
                fingerprint: Some(fingerprint(found.as_deref())),
                ..Preview::default()
            };
            let old = found.as_deref().unwrap_or_default();
            let content = with_ends_of(old, &content, usual(old));
            match found.as_deref().map(std::str::from_utf8).transpose() {
                Ok(old) => preview.diff = Some(unified_diff(&path, old, &content)),
                Err(_) => {
                    preview.text = Some(format!("replaces all of {path}, which is no text"));
                }
            }
            Ok(Some(preview))
        })
        .await
    }
}

/// Returns what a file that is to be replaced begins with; `None` if it is not there. A process that may write a file
/// need not be able to read it: nothing is known of such a file.
fn start_of(real: &Path, path: &str, most: u64) -> Result<Option<Vec<u8>>, ToolError> {
    if replaceable(real, path)?.is_none() {
        return Ok(None);
    }
    let Ok(file) = open::file(real) else {
        return Ok(None);
    };
    let mut start = Vec::new();
    let mut file = file.take(most);
    file.read_to_end(&mut start).map_err(cannot("read", path))?;
    Ok(Some(start))
}
