//! The trait at the boundary.

use neuron_types::{WasmBoxedFuture, WasmCompatSend, WasmCompatSync};

use crate::{TurnError, TurnInput, TurnOutput};

/// One exchange with an agent: a message goes in; an answer comes out, and what the agent wants done.
///
/// `neuron::turn::AgentTurn` runs the agent loop. Implement this trait for another kind of turn. It can be stored
/// behind `dyn`.
///
/// # Contract
///
/// - A turn reads state and writes none: what is to be written is among the [effects](TurnOutput::effects), which the
///   caller carries out.
/// - A turn never tries a failed step again: it returns [`TurnError::Retryable`], and the caller decides.
/// - A turn that fails has no effects.
/// - Dropping the future abandons the turn. Tools that it called have been called.
pub trait Turn: WasmCompatSend + WasmCompatSync {
    /// Runs the turn to its end.
    ///
    /// # Errors
    ///
    /// [`TurnError`]. A turn that met one of its limits, or that a hook ended, has an output: its
    /// [`exit_reason`](TurnOutput::exit_reason) states it.
    fn execute(&self, input: TurnInput) -> WasmBoxedFuture<'_, Result<TurnOutput, TurnError>>;
}
