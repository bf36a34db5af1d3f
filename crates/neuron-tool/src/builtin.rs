//! What this crate brings along: middleware, and the tools of a coding agent.

use std::sync::Arc;

use neuron_types::ToolDyn;

pub use crate::{
    bash::{Bash, BashArgs},
    concurrency_limit::ConcurrencyLimit,
    edit_file::{EditFile, EditFileArgs},
    glob::{Glob, GlobArgs},
    grep::{Grep, GrepArgs},
    hook_runner::HookRunner,
    list_files::{ListFiles, ListFilesArgs},
    options::BuiltinOptions,
    output_formatter::OutputFormatter,
    permission_checker::PermissionChecker,
    rate_limit::RateLimit,
    read_file::{ReadFile, ReadFileArgs},
    schema_validator::SchemaValidator,
    timeout::Timeout,
    write_file::{WriteFile, WriteFileArgs},
};

/// The names of the tools of [`builtin_tools`], sorted.
pub const BUILTIN_TOOLS: &[&str] = &[
    "bash",
    "edit_file",
    "glob",
    "grep",
    "list_files",
    "read_file",
    "write_file",
];

/// The names of those that change nothing, sorted.
pub const READ_ONLY_TOOLS: &[&str] = &["glob", "grep", "list_files", "read_file"];

/// All built-in tools with these options, in the order of [`BUILTIN_TOOLS`].
#[must_use]
pub fn builtin_tools(options: &BuiltinOptions) -> Vec<Arc<dyn ToolDyn>> {
    let options = Arc::new(options.clone());
    vec![
        Arc::new(Bash::new(Arc::clone(&options))),
        Arc::new(EditFile::new(Arc::clone(&options))),
        Arc::new(Glob::new(Arc::clone(&options))),
        Arc::new(Grep::new(Arc::clone(&options))),
        Arc::new(ListFiles::new(Arc::clone(&options))),
        Arc::new(ReadFile::new(Arc::clone(&options))),
        Arc::new(WriteFile::new(options)),
    ]
}
