use std::sync::Arc;

use neuron_types::{Tool, ToolAnnotations, ToolContext, ToolDefinition, ToolError};
use serde::Deserialize;

use crate::{
    BuiltinOptions,
    builtin::files::blocking::blocking,
    builtin::files::replace::{lock, replace},
    builtin::files::root::Root,
    definition::{annotations, definition},
};

/// Writing the same content twice leaves the same file, and the content before it is lost.
const ANNOTATIONS: ToolAnnotations = annotations(false, true, true, false);

/// `write_file`: puts text into a file, new or not.
///
/// The file is replaced as a whole: whoever reads it sees the old content or the new. It keeps its
/// permissions; missing directories are made.
#[derive(Debug, Clone)]
pub struct WriteFile {
    options: Arc<BuiltinOptions>,
}

/// The arguments of [`WriteFile`].
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteFileArgs {
    /// The file, relative to the working directory.
    pub path: String,
    /// The whole new content.
    pub content: String,
}

impl WriteFile {
    /// The tool with these options.
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
        definition::<WriteFileArgs>(
            Self::NAME,
            "Write file",
            description.to_owned(),
            ANNOTATIONS,
        )
    }

    async fn call(&self, args: WriteFileArgs, ctx: &ToolContext) -> Result<String, ToolError> {
        let confine = self.options.confine;
        let cwd = ctx.cwd.clone();
        blocking(ctx, move |stop| {
            let WriteFileArgs { path, content } = args;
            let real = Root::new(&cwd, confine)?.target(&path)?;
            let _lock = lock(&real);
            replace(&real, &path, content.as_bytes(), stop)?;
            Ok(format!("wrote {} bytes to {path}", content.len()))
        })
        .await
    }
}
