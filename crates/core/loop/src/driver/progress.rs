//! What an action came to.

use neuron_types::ToolCall;

/// What one action came to, as far as a caller of `run_step` wants to know.
pub(crate) enum Progress {
    CalledTool(ToolCall),
    Compacted { old_tokens: u64, new_tokens: u64 },
    Other,
    Ended,
}
