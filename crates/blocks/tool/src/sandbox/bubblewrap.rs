use neuron_sandbox::{Backend, SandboxRules};
use neuron_types::{ToolContext, ToolDyn, ToolOutput};
use serde_json::Value;

use crate::sandbox::{error::SandboxError, execute_tool::Sandbox, process::ProcessSandbox};

/// Confines a tool's processes by bubblewrap alone: namespaces of their own and a filter of system calls. Where that does
/// not work, no call is made. Default is [`BubblewrapSandbox::workspace`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BubblewrapSandbox(ProcessSandbox);

impl BubblewrapSandbox {
    /// Returns the sandbox with these rules, whatever back end they name.
    #[must_use]
    pub fn new(rules: SandboxRules) -> Self {
        Self(ProcessSandbox::new(rules.backend(Backend::Bubblewrap)))
    }

    /// Returns one with the rules of [`ProcessSandbox::workspace`].
    #[must_use]
    pub fn workspace() -> Self {
        Self::new(ProcessSandbox::workspace().rules().clone())
    }

    /// Returns one with the rules of [`ProcessSandbox::read_only`].
    #[must_use]
    pub fn read_only() -> Self {
        Self::new(ProcessSandbox::read_only().rules().clone())
    }

    /// Returns the rules.
    #[must_use]
    pub fn rules(&self) -> &SandboxRules {
        self.0.rules()
    }
}

impl Default for BubblewrapSandbox {
    fn default() -> Self {
        Self::workspace()
    }
}

impl Sandbox for BubblewrapSandbox {
    async fn execute_tool(
        &self,
        tool: &dyn ToolDyn,
        input: Value,
        ctx: &ToolContext,
    ) -> Result<ToolOutput, SandboxError> {
        self.0.execute_tool(tool, input, ctx).await
    }
}
