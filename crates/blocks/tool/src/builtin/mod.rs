//! What this crate brings along: middleware, and the tools of a coding agent.

pub(crate) mod ask_person;
#[cfg(feature = "builtin")]
pub(crate) mod bash;
#[cfg(feature = "builtin")]
mod definition;
#[cfg(feature = "builtin")]
pub(crate) mod edit_file;
#[cfg(feature = "builtin")]
pub(crate) mod files;
#[cfg(feature = "builtin")]
pub(crate) mod glob;
#[cfg(feature = "builtin")]
pub(crate) mod grep;
#[cfg(feature = "builtin")]
pub(crate) mod list_files;
#[cfg(feature = "builtin")]
pub(crate) mod options;
#[cfg(feature = "builtin")]
pub(crate) mod read_file;
#[cfg(feature = "builtin")]
pub(crate) mod read_skill;
#[cfg(feature = "builtin")]
pub(crate) mod shell;
#[cfg(feature = "builtin")]
pub(crate) mod skills;
#[cfg(feature = "builtin")]
mod text;
#[cfg(feature = "builtin")]
pub(crate) mod write_file;

#[cfg(feature = "builtin")]
use std::sync::Arc;

#[cfg(feature = "builtin")]
use neuron_types::ToolDyn;

pub use self::ask_person::AskPersonTool;
#[cfg(feature = "builtin")]
pub use self::{
    bash::{Bash, BashArgs, check_sandbox},
    edit_file::{EditFile, EditFileArgs},
    glob::{Glob, GlobArgs},
    grep::{Grep, GrepArgs},
    list_files::{ListFiles, ListFilesArgs},
    options::BuiltinOptions,
    read_file::{ReadFile, ReadFileArgs},
    read_skill::{ReadSkill, ReadSkillArgs},
    skills::{Skill, SkillError},
    write_file::{WriteFile, WriteFileArgs},
};
pub use crate::layers::{
    concurrency_limit::ConcurrencyLimit, hook_runner::HookRunner,
    output_formatter::OutputFormatter, permission_checker::PermissionChecker,
    rate_limit::RateLimit, schema_validator::SchemaValidator, timeout::Timeout,
};

/// The names of the tools of [`builtin_tools`], sorted.
#[cfg(feature = "builtin")]
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
#[cfg(feature = "builtin")]
pub const READ_ONLY_TOOLS: &[&str] = &["glob", "grep", "list_files", "read_file"];

/// The tools that an agent's list may name: those of [`BUILTIN_TOOLS`], and `ask_person`. Sorted.
#[cfg(feature = "builtin")]
pub const NAMED_TOOLS: &[&str] = &[
    "ask_person",
    "bash",
    "edit_file",
    "glob",
    "grep",
    "list_files",
    "read_file",
    "write_file",
];

/// Returns the tools of [`NAMED_TOOLS`] with these options, in their order.
#[cfg(feature = "builtin")]
#[must_use]
pub fn named_tools(options: &BuiltinOptions) -> Vec<Arc<dyn ToolDyn>> {
    let mut tools = builtin_tools(options);
    tools.insert(0, Arc::new(AskPersonTool));
    tools
}

/// Returns all built-in tools with these options, in the order of [`BUILTIN_TOOLS`].
#[cfg(feature = "builtin")]
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
