//! The tools of a coding agent: they read, search and change files, and start commands.
//!
//! ```
//! use neuron::builtin;
//!
//! // Tools that change nothing, in the agent's directory.
//! let names: Vec<_> = builtin::read_only().into_iter().map(|tool| tool.name().to_owned()).collect();
//! assert!(names.contains(&"read_file".to_owned()) && !names.contains(&"bash".to_owned()));
//! ```

use std::{sync::Arc, vec};

use neuron_tool::{BuiltinOptions, READ_ONLY_TOOLS, builtin_tools};
use neuron_types::ToolDyn;

/// Built-in tools, to be given to [`AgentBuilder::tools`](crate::AgentBuilder::tools).
///
/// They work in the agent's directory: [`AgentBuilder::dir`](crate::AgentBuilder::dir).
#[derive(Debug, Clone)]
#[must_use]
pub struct Builtin {
    only_reading: bool,
    options: BuiltinOptions,
}

/// Returns the tools that change nothing, such as `read_file` and `grep`: those in [`READ_ONLY_TOOLS`].
pub fn read_only() -> Builtin {
    Builtin {
        only_reading: true,
        options: BuiltinOptions::default(),
    }
}

/// Returns all of them: those of [`read_only`], and those that change things, such as `edit_file` and `bash`.
pub fn all() -> Builtin {
    Builtin {
        only_reading: false,
        options: BuiltinOptions::default(),
    }
}

impl Builtin {
    /// Sets what they may do and how much they answer. Default is [`BuiltinOptions::default`].
    pub fn options(mut self, options: BuiltinOptions) -> Self {
        self.options = options;
        self
    }
}

impl IntoIterator for Builtin {
    type Item = Arc<dyn ToolDyn>;
    type IntoIter = vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        let mut tools = builtin_tools(&self.options);
        tools.retain(|tool| !self.only_reading || READ_ONLY_TOOLS.contains(&tool.name()));
        tools.into_iter()
    }
}
