use neuron_types::ToolError;

/// Why a call in a sandbox has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The tool cannot be confined. It was not called.
    #[error(
        "the tool {tool} cannot be confined and was not called: what it does is not in processes that it starts. Have a \
         program do it, called by bash or served over MCP, or confine this whole process and call the tool without a sandbox"
    )]
    NotConfinable {
        /// Its name.
        tool: String,
    },
    /// Nothing on this machine can confine the tool as asked. It was not called.
    #[error("the tool {tool} was not called: no sandbox can be had for it")]
    Unavailable {
        /// Its name.
        tool: String,
        /// Why.
        #[source]
        source: neuron_sandbox::SandboxError,
    },
    /// The tool failed in the sandbox, or the call was [cancelled](ToolError::Cancelled).
    #[error(transparent)]
    Tool(#[from] ToolError),
}
