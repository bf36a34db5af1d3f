//! What this crate brings along: middleware, and the tools of a coding agent.

pub(crate) mod ask_person;
pub(crate) mod bash;
pub(crate) mod edit_file;
pub(crate) mod files;
pub(crate) mod glob;
pub(crate) mod grep;
pub(crate) mod list_files;
pub(crate) mod options;
pub(crate) mod read_file;
pub(crate) mod read_skill;
pub(crate) mod shell;
pub(crate) mod skills;
pub(crate) mod write_file;

use std::sync::Arc;

use neuron_types::ToolDyn;

pub use self::{
    ask_person::AskPersonTool,
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

/// The tools that an agent's list may name: those of [`BUILTIN_TOOLS`], and `ask_person`. Sorted.
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
#[must_use]
pub fn named_tools(options: &BuiltinOptions) -> Vec<Arc<dyn ToolDyn>> {
    let mut tools = builtin_tools(options);
    tools.insert(0, Arc::new(AskPersonTool));
    tools
}

/// Returns all built-in tools with these options, in the order of [`BUILTIN_TOOLS`].
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
