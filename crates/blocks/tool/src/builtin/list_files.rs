use std::{fs, sync::Arc};

use neuron_types::{Tool, ToolContext, ToolDefinition, ToolError};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::{
    BuiltinOptions,
    builtin::files::blocking::{blocking, check},
    builtin::files::error::cannot,
    builtin::files::root::Root,
    definition::reader,
    text::LimitedLines,
};

/// `list_files`: what is in a directory, hidden and ignored entries too.
///
/// One name a line, sorted; directories end in `/` and symbolic links in `@`. Links are not followed.
#[derive(Debug, Clone)]
pub struct ListFiles {
    options: Arc<BuiltinOptions>,
}

/// The arguments of [`ListFiles`].
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListFilesArgs {
    /// The directory, relative to the working directory. Default is the working directory.
    #[serde(default)]
    pub path: Option<String>,
}

impl ListFiles {
    /// The tool with these options.
    pub fn new(options: impl Into<Arc<BuiltinOptions>>) -> Self {
        Self {
            options: options.into(),
        }
    }
}

impl Tool for ListFiles {
    const NAME: &'static str = "list_files";
    type Args = ListFilesArgs;
    type Output = String;
    type Error = ToolError;

    fn definition(&self) -> ToolDefinition {
        let description = format!(
            "Lists one directory, hidden entries too: one name a line, sorted, at most {}. Directories \
             end in /, links in @. To find files deeper down use glob.",
            self.options.max_entries
        );
        reader::<ListFilesArgs>(Self::NAME, "List files", description)
    }

    async fn call(&self, args: ListFilesArgs, ctx: &ToolContext) -> Result<String, ToolError> {
        let options = Arc::clone(&self.options);
        let cwd = ctx.cwd.clone();
        blocking(ctx, move |stop| {
            let root = Root::new(&cwd, options.confine)?;
            list(&root, args.path.as_deref().unwrap_or("."), &options, stop)
        })
        .await
    }
}

fn list(
    root: &Root,
    path: &str,
    options: &BuiltinOptions,
    stop: &CancellationToken,
) -> Result<String, ToolError> {
    let real = root.existing(path)?;
    if !real.is_dir() {
        return Err(ToolError::ModelRetry(format!(
            "{path} is not a directory; read_file reads files"
        )));
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(&real).map_err(cannot("list", path))? {
        check(stop)?;
        let entry = entry.map_err(cannot("list", path))?;
        let mut name = entry.file_name().to_string_lossy().into_owned();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => name.push('/'),
            Ok(kind) if kind.is_symlink() => name.push('@'),
            _ => {}
        }
        names.push(name);
    }
    if names.is_empty() {
        return Ok("[the directory is empty]\n".to_owned());
    }
    names.sort_unstable();
    let mut lines = LimitedLines::new(options.max_entries, options.max_output_bytes);
    let shown = names.iter().take_while(|name| lines.push(name)).count();
    let mut notes = Vec::new();
    if shown < names.len() {
        notes.push(format!(
            "{shown} of {} entries are shown; use glob to find the others",
            names.len()
        ));
    }
    Ok(lines.finish(&notes))
}
