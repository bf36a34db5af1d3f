use std::{io::Read, path::Path, sync::Arc};

use neuron_types::{Preview, Tool, ToolAnnotations, ToolContext, ToolDefinition, ToolError};
use serde::Deserialize;

use crate::{
    BuiltinOptions,
    builtin::definition::{annotations, definition},
    builtin::files::blocking::blocking,
    builtin::files::error::cannot,
    builtin::files::line_ends::{FileText, with_lf},
    builtin::files::open,
    builtin::files::replace::{lock, replace, replaceable},
    builtin::files::root::Root,
    builtin::files::seen::{check_seen, fingerprint},
    diff::unified_diff,
};

/// A second call finds another text than the first, and the text before it is lost.
const ANNOTATIONS: ToolAnnotations = annotations(false, true, false, false);
/// How many places of an ambiguous text are named.
const MAX_PLACES: usize = 5;

/// `edit_file`: replaces a text in a file by another.
///
/// The old text must occur exactly once, unless all its occurrences are to be replaced. The file is
/// replaced as a whole and keeps its permissions. Edits of one file wait for each other.
///
/// The file keeps its line ends, `\n` or `\r\n`, whichever the texts have: the old text matches a file with the other ones,
/// and the new text gets those of the file. In a file that has both, what is not replaced keeps its own.
#[derive(Debug, Clone)]
pub struct EditFile {
    options: Arc<BuiltinOptions>,
}

/// The arguments of [`EditFile`].
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditFileArgs {
    /// The file, relative to the working directory.
    #[schemars(extend("format" = "path"))]
    pub path: String,
    /// The text to replace, exactly as it stands in the file, whitespace included.
    pub old_string: String,
    /// The text to put in its place.
    pub new_string: String,
    /// Replace every occurrence. Default is false: the text must occur exactly once.
    #[serde(default)]
    pub replace_all: bool,
}

impl EditFile {
    /// Makes the tool with these options.
    pub fn new(options: impl Into<Arc<BuiltinOptions>>) -> Self {
        Self {
            options: options.into(),
        }
    }
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    type Args = EditFileArgs;
    type Output = String;
    type Error = ToolError;

    fn definition(&self) -> ToolDefinition {
        let description = "Replaces a text in a file by another. The old text must occur exactly once, \
                           unless replace_all is true.";
        let description = description.to_owned();
        ToolDefinition {
            previews: true,
            ..definition::<EditFileArgs>(Self::NAME, "Edit file", description, ANNOTATIONS)
        }
    }

    async fn call(&self, args: EditFileArgs, ctx: &ToolContext) -> Result<String, ToolError> {
        let options = Arc::clone(&self.options);
        let (cwd, approved) = (ctx.cwd.clone(), ctx.preview.clone());
        blocking(ctx, move |stop| {
            let path = args.path.as_str();
            let real = Root::new(&cwd, &options)?.editable(path)?;
            let _lock = lock(&real);
            let text = text_of(&real, path, &options)?;
            check_seen(approved.as_deref(), Some(text.as_bytes()), path)?;
            let (new, count) = edit(&text, &args).map_err(ToolError::ModelRetry)?;
            replace(&real, path, new.as_bytes(), stop)?;
            let occurrences = if count == 1 {
                "occurrence"
            } else {
                "occurrences"
            };
            Ok(format!("replaced {count} {occurrences} in {path}"))
        })
        .await
    }

    async fn preview(
        &self,
        args: EditFileArgs,
        ctx: &ToolContext,
    ) -> Result<Option<Preview>, ToolError> {
        let options = Arc::clone(&self.options);
        let cwd = ctx.cwd.clone();
        blocking(ctx, move |_| {
            let path = args.path.as_str();
            let real = Root::new(&cwd, &options)?.editable(path)?;
            let text = text_of(&real, path, &options)?;
            let (new, _) = edit(&text, &args).map_err(ToolError::ModelRetry)?;
            Ok(Some(Preview {
                diff: Some(unified_diff(path, Some(&text), &new)),
                fingerprint: Some(fingerprint(Some(text.as_bytes()))),
                ..Preview::default()
            }))
        })
        .await
    }
}

/// Returns the text of a file that can be edited.
fn text_of(real: &Path, path: &str, options: &BuiltinOptions) -> Result<String, ToolError> {
    replaceable(real, path)?;
    let mut file = open::file(real).map_err(cannot("read", path))?;
    let size = file.metadata().map_err(cannot("read", path))?.len();
    if size > options.max_file_bytes {
        return Err(ToolError::ModelRetry(format!(
            "{path} has {size} bytes; edit_file edits files of at most {} bytes",
            options.max_file_bytes
        )));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(cannot("read", path))?;
    String::from_utf8(bytes)
        .map_err(|_| ToolError::ModelRetry(format!("{path} is not UTF-8; edit_file edits text")))
}

/// Returns the new text, and how many occurrences were replaced.
fn edit(text: &str, args: &EditFileArgs) -> Result<(String, usize), String> {
    let EditFileArgs {
        path,
        old_string: old,
        new_string: new,
        replace_all,
    } = args;
    if old.is_empty() {
        return Err("old_string is empty; give the text to replace".to_owned());
    }
    if old == new {
        return Err("old_string and new_string are the same; nothing would change".to_owned());
    }
    let old = &*with_lf(old);
    if old == with_lf(new) {
        return Err(
            "old_string and new_string differ in their line ends only, and a file keeps its own; nothing would \
             change"
                .to_owned(),
        );
    }
    let file = FileText::new(text);
    match file.plain().matches(old).count() {
        0 => Err(format!(
            "old_string is not in {path}; read the file and copy the text exactly, whitespace included"
        )),
        count if count > 1 && !replace_all => Err(format!(
            "old_string occurs {count} times in {path}, first in {}; add the text around the one you \
             mean, or set replace_all",
            places(file.plain(), old)
        )),
        count => Ok((file.replaced(old, new), count)),
    }
}

/// Returns the lines in which the first occurrences begin.
fn places(text: &str, old: &str) -> String {
    let lines: Vec<String> = text
        .match_indices(old)
        .take(MAX_PLACES)
        .map(|(at, _)| {
            let before = text.as_bytes().get(..at).unwrap_or_default();
            (1 + before.iter().filter(|byte| **byte == b'\n').count()).to_string()
        })
        .collect();
    format!("lines {}", lines.join(", "))
}
