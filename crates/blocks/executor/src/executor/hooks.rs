//! Asking the hooks, in the order of their registration.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use neuron_types::{FailureKind, Hook, HookAction, HookEvent, RunEvent, RunId, StepFailure};
use serde_json::Value;
use tracing::warn;

use super::attempt::panic_text;

/// What the hooks said of a tool call.
pub(crate) enum ToolVerdict {
    /// Make it, with this input where one of them changed it.
    Call(Option<Value>),
    /// Do not make it.
    Skip(String),
}

/// The hooks of an executor.
#[derive(Clone, Default)]
pub(crate) struct Hooks(pub(crate) Vec<Arc<dyn Hook>>);

impl Hooks {
    /// Asks about a tool call. A hook sees the input as the one before it left it.
    pub(crate) async fn before_tool(
        &self,
        tool_name: &str,
        input: &Value,
    ) -> Result<ToolVerdict, StepFailure> {
        let mut changed = None;
        for hook in &self.0 {
            let event = HookEvent::PreToolExecution {
                tool_name,
                input: changed.as_ref().unwrap_or(input),
            };
            match ask(hook.as_ref(), &event).await {
                HookAction::Continue => {}
                HookAction::ModifyToolInput { input } => changed = Some(input),
                HookAction::Skip { reason } => return Ok(ToolVerdict::Skip(reason)),
                HookAction::Terminate { reason } => return Err(terminated(&reason)),
            }
        }
        Ok(ToolVerdict::Call(changed))
    }

    /// Notifies the hooks of any other event. Each may end the run.
    pub(crate) async fn notify(&self, event: &HookEvent<'_>) -> Result<(), StepFailure> {
        for hook in &self.0 {
            match ask(hook.as_ref(), event).await {
                HookAction::Continue | HookAction::ModifyToolInput { .. } => {}
                HookAction::Skip { reason } | HookAction::Terminate { reason } => {
                    return Err(terminated(&reason));
                }
            }
        }
        Ok(())
    }

    /// Notifies the hooks of an event of the run, if it is one of theirs.
    pub(crate) async fn observe(
        &self,
        run_id: &RunId,
        event: &RunEvent,
    ) -> Result<(), StepFailure> {
        let run_id = run_id.as_str();
        let hook_event = match event {
            RunEvent::RunStarted { .. } => HookEvent::SessionStart { run_id },
            RunEvent::TurnStarted { turn } => HookEvent::LoopIteration { turn: *turn },
            RunEvent::TurnEnded { turn } => HookEvent::ExitCheck { turn: *turn },
            RunEvent::ContextCompacted {
                old_tokens,
                new_tokens,
                ..
            } => HookEvent::ContextCompaction {
                old_tokens: *old_tokens,
                new_tokens: *new_tokens,
            },
            RunEvent::RunEnded { .. } => HookEvent::SessionEnd { run_id },
            _ => return Ok(()),
        };
        self.notify(&hook_event).await
    }
}

/// Returns one hook's answer. A hook that fails or panics is logged and counts as having no answer.
async fn ask(hook: &dyn Hook, event: &HookEvent<'_>) -> HookAction {
    let answer = AssertUnwindSafe(async { hook.on_event(event).await })
        .catch_unwind()
        .await;
    match answer {
        Ok(Ok(action)) => action,
        Ok(Err(error)) => {
            warn!(%error, "a hook failed and is ignored");
            HookAction::Continue
        }
        Err(panic) => {
            warn!(
                panic = panic_text(panic.as_ref()),
                "a hook panicked and is ignored"
            );
            HookAction::Continue
        }
    }
}

fn terminated(reason: &str) -> StepFailure {
    StepFailure::new(
        FailureKind::Terminated,
        format!("a hook ended the run: {reason}"),
    )
}
