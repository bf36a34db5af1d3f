//! Watching and vetoing effects, in the executor.

use serde_json::Value;

use crate::{
    CompletionRequest, CompletionResponse, HookError, ToolOutput, WasmBoxedFuture, WasmCompatSend,
    WasmCompatSync,
};

/// What happened, as a hook sees it.
#[derive(Debug)]
#[non_exhaustive]
pub enum HookEvent<'a> {
    /// A run begins here, for the first time.
    SessionStart {
        /// The run's id.
        run_id: &'a str,
    },
    /// A turn begins.
    LoopIteration {
        /// Counted from 1.
        turn: u32,
    },
    /// A model is about to be called.
    PreLlmCall {
        /// What it will be asked.
        request: &'a CompletionRequest,
    },
    /// A model answered.
    PostLlmCall {
        /// Its answer.
        response: &'a CompletionResponse,
    },
    /// A tool is about to be called.
    PreToolExecution {
        /// Its name.
        tool_name: &'a str,
        /// Its arguments.
        input: &'a Value,
    },
    /// A tool returned.
    PostToolExecution {
        /// Its name.
        tool_name: &'a str,
        /// What it returned.
        output: &'a ToolOutput,
    },
    /// The conversation was compacted.
    ContextCompaction {
        /// Its tokens before, estimated.
        old_tokens: u64,
        /// Its tokens after, estimated.
        new_tokens: u64,
    },
    /// A turn is over, and the loop is about to decide whether there is another.
    ExitCheck {
        /// Counted from 1.
        turn: u32,
    },
    /// A run ended.
    SessionEnd {
        /// The run's id.
        run_id: &'a str,
    },
}

/// What a hook wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum HookAction {
    /// Continue.
    Continue,
    /// Do not call the tool; the model reads the reason as an error result. Answered to any event but
    /// [`HookEvent::PreToolExecution`] it means [`HookAction::Terminate`].
    Skip {
        /// Why.
        reason: String,
    },
    /// End the run.
    Terminate {
        /// Why.
        reason: String,
    },
    /// Call the tool with this input. Answered to any event but [`HookEvent::PreToolExecution`] it means
    /// [`HookAction::Continue`].
    ModifyToolInput {
        /// The new arguments.
        input: Value,
    },
}

/// Watches and vetoes effects.
///
/// Hooks run in the executor, in the order of their registration, around the effect that they watch. Their
/// verdict is part of the journaled outcome, so a replay neither runs nor reports them again. Events that
/// are not effects (`SessionStart`, `LoopIteration`, `ContextCompaction`, `ExitCheck`, `SessionEnd`) reach
/// them before the next effect, or at the end of the run.
pub trait Hook: WasmCompatSend + WasmCompatSync {
    /// Takes notice of an event, and returns what the hook wants done.
    ///
    /// # Errors
    ///
    /// An error is logged and counts as [`HookAction::Continue`].
    fn on_event<'a>(
        &'a self,
        event: &'a HookEvent<'a>,
    ) -> WasmBoxedFuture<'a, Result<HookAction, HookError>>;
}
