//! The hook of a world's executors.

use neuron_types::{Hook, HookAction, HookError, HookEvent, WasmBoxedFuture};

use serde_json::json;

use super::line::Line;

/// A hook that notes the events that are no tool calls, and does what a call's argument `hook` names.
pub(crate) struct WorldHook {
    pub(crate) line: Line,
}

impl Hook for WorldHook {
    fn on_event<'a>(
        &'a self,
        event: &'a HookEvent<'a>,
    ) -> WasmBoxedFuture<'a, Result<HookAction, HookError>> {
        Box::pin(async move {
            let note = match event {
                HookEvent::SessionStart { run_id } => format!("start of {run_id}"),
                HookEvent::LoopIteration { turn } => format!("turn {turn}"),
                HookEvent::ContextCompaction { .. } => "compaction".to_owned(),
                HookEvent::ExitCheck { turn } => format!("end of turn {turn}"),
                HookEvent::SessionEnd { run_id } => format!("end of {run_id}"),
                HookEvent::PreLlmCall { .. } => "model".to_owned(),
                HookEvent::PreToolExecution { input, .. } => {
                    return Ok(action(input["hook"].as_str()));
                }
                _ => return Ok(HookAction::Continue),
            };
            let noted = self.line.note(note).await;
            noted.map(|()| HookAction::Continue)
        })
    }
}

fn action(asked: Option<&str>) -> HookAction {
    let reason = "the hook says so".to_owned();
    match asked {
        Some("skip") => HookAction::Skip { reason },
        Some("terminate") => HookAction::Terminate { reason },
        Some("modify") => HookAction::ModifyToolInput {
            input: json!({"text": "changed by a hook"}),
        },
        _ => HookAction::Continue,
    }
}
