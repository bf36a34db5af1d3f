use std::{ffi::OsStr, io, os::unix::ffi::OsStrExt as _, path::Path, sync::Arc};

use neuron_types::{Tool, ToolContext, ToolDefinition, ToolError};
use rustix::fs::{Dir, FileType};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::{
    BuiltinOptions,
    builtin::definition::reader,
    builtin::files::blocking::{blocking, check},
    builtin::files::error::cannot,
    builtin::files::open::{listing, look, look_in},
    builtin::files::root::Root,
    builtin::text::LimitedLines,
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
    #[schemars(extend("format" = "path"))]
    pub path: Option<String>,
}

impl ListFiles {
    /// Makes the tool with these options.
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
            let root = Root::new(&cwd, &options)?;
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
    let is_dir = look(&real).map_err(cannot("open", path))?.is_dir();
    if !is_dir {
        return Err(ToolError::ModelRetry(format!(
            "{path} is not a directory; read_file reads files"
        )));
    }
    let mut names = Vec::new();
    let cannot_list = |error: io::Error| cannot("list", path)(error);
    let folder = listing(&real).map_err(cannot_list)?;
    for entry in Dir::read_from(&folder).map_err(|error| cannot_list(error.into()))? {
        check(stop)?;
        let entry = entry.map_err(|error| cannot_list(error.into()))?;
        let bytes = entry.file_name().to_bytes();
        if matches!(bytes, b"." | b"..") {
            continue;
        }
        let mut name = String::from_utf8_lossy(bytes).into_owned();
        let (is_dir, is_symlink) = match entry.file_type() {
            // Some file systems do not say it in the list.
            FileType::Unknown => look_in(&folder, Path::new(OsStr::from_bytes(bytes)))
                .map_or((false, false), |found| (found.is_dir(), found.is_symlink())),
            kind => (kind.is_dir(), kind.is_symlink()),
        };
        if is_dir {
            name.push('/');
        } else if is_symlink {
            name.push('@');
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
