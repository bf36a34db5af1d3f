//! The executor's hooks are notified of the same events here and on Temporal.

use std::sync::{Arc, Mutex};

use neuron_executor::Executor;
use neuron_local::LocalDurableContext;
use neuron_testing::{NotedModel, NotedTool, input_of, noted_agent};
use neuron_tool::ToolRegistry;
use neuron_types::{
    ExitReason, Hook, HookAction, HookError, HookEvent, RunId, ToolEffects, WasmBoxedFuture,
};
use serde_json::json;

use crate::stage::Stage;

/// Notes its notices, and ends the run at an iteration.
#[derive(Clone, Default)]
struct Noting {
    told: Arc<Mutex<Vec<String>>>,
    ends_at: Option<u32>,
}

impl Noting {
    fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }
}

impl Hook for Noting {
    fn on_event<'a>(
        &'a self,
        event: &'a HookEvent<'a>,
    ) -> WasmBoxedFuture<'a, Result<HookAction, HookError>> {
        Box::pin(async move {
            let name = match event {
                HookEvent::SessionStart { .. } => "session start".to_owned(),
                HookEvent::SessionEnd { .. } => "session end".to_owned(),
                HookEvent::LoopIteration { turn } => format!("iteration {turn}"),
                HookEvent::ExitCheck { turn } => format!("exit check {turn}"),
                HookEvent::PreLlmCall { .. } => "before the model".to_owned(),
                HookEvent::PostLlmCall { .. } => "after the model".to_owned(),
                HookEvent::PreToolExecution { .. } => "before a tool".to_owned(),
                HookEvent::PostToolExecution { .. } => "after a tool".to_owned(),
                _ => "other".to_owned(),
            };
            self.told.lock().unwrap().push(name);
            match event {
                HookEvent::LoopIteration { turn } if Some(*turn) == self.ends_at => {
                    let reason = "enough".into();
                    Ok(HookAction::Terminate { reason })
                }
                _ => Ok(HookAction::Continue),
            }
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_are_told_the_same_and_may_end_the_run() {
    let script = json!({"turns": [
        {"tool_calls": [{"name": "echo", "input": {"text": "one"}}], "fail": [
            {"kind": "overloaded", "message": "no capacity"},
        ]},
        {"text": "Done."},
    ]});
    let model = NotedModel::new(&script);
    let (mut spec, _) = noted_agent(&model, &[NotedTool::echo(ToolEffects::Write)]);
    spec.retry.initial_interval = std::time::Duration::from_millis(10); // Only so that it does not take long.
    let stage = Stage::set().await;
    for (run, ends_at, end) in [
        ("told", None, ExitReason::Complete),
        ("ended", Some(2), ExitReason::Terminated),
    ] {
        let with = |hook: &Noting| {
            let mut tools = ToolRegistry::new();
            tools.register_dyn(Arc::new(NotedTool::echo(ToolEffects::Write)));
            Executor::builder()
                .provider("script", NotedModel::new(&script))
                .tools(tools)
                .hook(hook.clone())
                .build()
        };
        let (here, there) = (
            Noting {
                ends_at,
                ..Noting::default()
            },
            Noting {
                ends_at,
                ..Noting::default()
            },
        );
        let door = LocalDurableContext::new(with(&here), RunId::new(run).unwrap());
        let local = neuron_workflows::agent(&door, input_of(&spec))
            .await
            .unwrap();
        door.finish().await;
        assert_eq!(local.exit_reason, Some(end));

        let _worker = stage.worker(&with(&there));
        let output = stage.run(run, &spec).await;
        assert_eq!(output.exit_reason, Some(end));
        assert_eq!(there.told(), here.told());
        assert_eq!(there.told().last().map(String::as_str), Some("session end"));
        stage.replays(&output.run_id).await;
    }
}
