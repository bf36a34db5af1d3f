use std::sync::Arc;

use globset::GlobBuilder;
use neuron_types::{Tool, ToolContext, ToolDefinition, ToolError};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::{
    BuiltinOptions,
    builtin::definition::reader,
    builtin::files::blocking::blocking,
    builtin::files::error::cannot,
    builtin::files::open::look,
    builtin::files::root::Root,
    builtin::files::walk::{files, unreadable_note},
    builtin::text::LimitedLines,
};

/// `glob`: the files whose path matches a pattern.
///
/// One path a line, sorted, relative to the working directory. Hidden files, links and what `.gitignore`
/// names are left out.
#[derive(Debug, Clone)]
pub struct Glob {
    options: Arc<BuiltinOptions>,
}

/// The arguments of [`Glob`].
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlobArgs {
    /// The pattern, for paths relative to `path`: `*` stays in one directory, `**` goes through all,
    /// `{a,b}` is one of both. For example `src/**/*.rs`.
    pub pattern: String,
    /// The directory to search, relative to the working directory. Default is the working directory.
    #[serde(default)]
    #[schemars(extend("format" = "path"))]
    pub path: Option<String>,
}

impl Glob {
    /// Makes the tool with these options.
    pub fn new(options: impl Into<Arc<BuiltinOptions>>) -> Self {
        Self {
            options: options.into(),
        }
    }
}

impl Tool for Glob {
    const NAME: &'static str = "glob";
    type Args = GlobArgs;
    type Output = String;
    type Error = ToolError;

    fn definition(&self) -> ToolDefinition {
        let description = format!(
            "Finds files by the pattern of their path: one path a line, sorted, at most {}. Hidden files \
             and what .gitignore names are left out.",
            self.options.max_entries
        );
        reader::<GlobArgs>(Self::NAME, "Find files", description)
    }

    async fn call(&self, args: GlobArgs, ctx: &ToolContext) -> Result<String, ToolError> {
        let options = Arc::clone(&self.options);
        let cwd = ctx.cwd.clone();
        blocking(ctx, move |stop| {
            let root = Root::new(&cwd, &options)?;
            glob(&root, &args, &options, stop)
        })
        .await
    }
}

fn glob(
    root: &Root,
    args: &GlobArgs,
    options: &BuiltinOptions,
    stop: &CancellationToken,
) -> Result<String, ToolError> {
    let pattern = args.pattern.strip_prefix("./").unwrap_or(&args.pattern);
    if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
        return Err(ToolError::ModelRetry(
            "the pattern starts with / or has ..; name the directory in path and write the pattern \
             relative to it"
                .to_owned(),
        ));
    }
    let matcher = GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| ToolError::ModelRetry(format!("{error}; mend the pattern")))?
        .compile_matcher();
    let path = args.path.as_deref().unwrap_or(".");
    let start = root.existing(path)?;
    let is_dir = look(&start).map_err(cannot("open", path))?.is_dir();
    if !is_dir {
        return Err(ToolError::ModelRetry(format!(
            "{path} is not a directory; name a directory in path"
        )));
    }
    let mut lines = LimitedLines::new(options.max_entries, options.max_output_bytes);
    let mut found = false;
    let mut more = false;
    let unreadable = files(root, &start, stop, |file| {
        let inside = file.strip_prefix(&start).unwrap_or(file);
        // The walk goes by names, which may lead elsewhere by now.
        if matcher.is_match(inside) && look(file).is_ok_and(|found| found.is_file()) {
            found = true;
            more = !lines.push(&root.show(file));
        }
        Ok(!more)
    })?;
    let mut notes = Vec::new();
    if more {
        notes.push("there are more; use a narrower pattern or a path".to_owned());
    } else if !found {
        notes.push("no file matches".to_owned());
    }
    notes.extend(unreadable_note(unreadable));
    Ok(lines.finish(&notes))
}
