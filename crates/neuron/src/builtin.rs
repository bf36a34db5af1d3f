//! The tools of a coding agent: they read, search and change files, and start commands.
//!
//! ```
//! use neuron::builtin;
//!
//! // Tools that change nothing, in the agent's directory.
//! let names: Vec<_> = builtin::read_only().into_iter().map(|tool| tool.name().to_owned()).collect();
//! assert!(names.contains(&"read_file".to_owned()) && !names.contains(&"bash".to_owned()));
//! ```

use std::sync::Arc;
#[cfg(feature = "builtin")]
use std::vec;

#[cfg(feature = "builtin")]
use neuron_sandbox::Sandbox;
use neuron_tool::builtin::AskPersonTool;
#[cfg(feature = "builtin")]
use neuron_tool::{BuiltinOptions, READ_ONLY_TOOLS, builtin_tools};
use neuron_types::ToolDyn;

#[cfg(feature = "builtin")]
pub use neuron_tool::builtin::{Skill, SkillError};

/// Built-in tools, to be given to [`AgentBuilder::tools`](crate::AgentBuilder::tools).
///
/// They work in the agent's directory: [`AgentBuilder::dir`](crate::AgentBuilder::dir).
#[cfg(feature = "builtin")]
#[derive(Debug, Clone)]
#[must_use]
pub struct Builtin {
    only_reading: bool,
    options: BuiltinOptions,
}

/// Returns the tools that change nothing, such as `read_file` and `grep`: those in [`READ_ONLY_TOOLS`].
#[cfg(feature = "builtin")]
pub fn read_only() -> Builtin {
    Builtin {
        only_reading: true,
        options: BuiltinOptions::default(),
    }
}

/// Returns all built-in tools: those of [`read_only`], and those that change things, such as `edit_file` and `bash`.
#[cfg(feature = "builtin")]
pub fn all() -> Builtin {
    Builtin {
        only_reading: false,
        options: BuiltinOptions::default(),
    }
}

/// Returns the tool `ask_person`, with which the model asks a person: the run opens a ticket of kind
/// [question](neuron_types::TicketKind::Question), and the answer is the call's result.
///
/// Pass it to [`AgentBuilder::tools`](crate::AgentBuilder::tools), too: `.tools([builtin::ask_person()])`.
#[must_use]
pub fn ask_person() -> Arc<dyn ToolDyn> {
    Arc::new(AskPersonTool)
}

#[cfg(feature = "builtin")]
impl Builtin {
    /// Sets what the commands of `bash` may reach. Default is [`Sandbox::Workspace`].
    ///
    /// If the back end needs a helper, `main` of this program calls [`sandbox::dispatch`](crate::sandbox::dispatch)
    /// first.
    pub fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.options.sandbox = sandbox;
        self
    }

    /// Sets what the tools may do and how long their results may be. Default is [`BuiltinOptions::default`].
    pub fn options(mut self, options: BuiltinOptions) -> Self {
        self.options = options;
        self
    }
}

#[cfg(feature = "builtin")]
impl IntoIterator for Builtin {
    type Item = Arc<dyn ToolDyn>;
    type IntoIter = vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        let mut tools = builtin_tools(&self.options);
        tools.retain(|tool| !self.only_reading || READ_ONLY_TOOLS.contains(&tool.name()));
        tools.into_iter()
    }
}
