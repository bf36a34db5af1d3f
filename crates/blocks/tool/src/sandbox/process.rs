use neuron_sandbox::{Confine, SandboxRules};
use neuron_types::{ToolContext, ToolDyn, ToolOutput};
use serde_json::Value;

use crate::sandbox::{confined, error::SandboxError, execute_tool::Sandbox};

/// Confines a tool's processes by what works on this machine: bubblewrap, else Landlock, or what the
/// [rules](SandboxRules::backend) name. Default is [`ProcessSandbox::workspace`].
///
/// Each call has a temporary directory of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSandbox(Confine);

impl ProcessSandbox {
    /// Returns the sandbox with these rules.
    #[must_use]
    pub fn new(rules: SandboxRules) -> Self {
        Self(Confine::to(rules))
    }

    /// Returns one that writes the working directory and has no network: [`neuron_sandbox::Sandbox::Workspace`].
    #[must_use]
    pub fn workspace() -> Self {
        Self::new(SandboxRules::new())
    }

    /// Returns one that writes nothing but a temporary directory, and has no network:
    /// [`neuron_sandbox::Sandbox::ReadOnly`].
    #[must_use]
    pub fn read_only() -> Self {
        Self::new(SandboxRules::new().write([]))
    }

    /// Returns the rules.
    #[must_use]
    pub fn rules(&self) -> &SandboxRules {
        self.0.rules()
    }
}

impl Default for ProcessSandbox {
    fn default() -> Self {
        Self::workspace()
    }
}

impl Sandbox for ProcessSandbox {
    async fn execute_tool(
        &self,
        tool: &dyn ToolDyn,
        input: Value,
        ctx: &ToolContext,
    ) -> Result<ToolOutput, SandboxError> {
        confined::call(&self.0, tool, input, ctx).await
    }
}
