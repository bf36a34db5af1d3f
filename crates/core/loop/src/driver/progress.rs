//! The result of an action.

use neuron_types::ToolCall;

/// The result of one action, as far as a caller of `run_step` needs it.
pub(crate) enum Progress {
    CalledTool(ToolCall),
    Compacted { old_tokens: u64, new_tokens: u64 },
    Other,
    Ended,
}
