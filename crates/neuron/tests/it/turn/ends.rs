use std::{
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::BoxFuture;
use neuron::{
    executor::{Delta, EventSink, RetryNotice, TokenDelta},
    guards::{TextGuard, Then},
    prelude::*,
    turn::{AgentTurn, Effect, ExitReason, Turn, TurnConfig, TurnError, TurnInput},
    types::{
        FailureKind, FormRequest, GuardPoint, Hook, HookAction, HookError, HookEvent, Message,
        Pending, RecordedEvent, ToolOutput,
    },
};
use serde_json::json;

use super::{Seen, clerk, turn};

/// A script that asks for an effect in each of two turns, each with its price.
const TWICE: &str = r#"{"turns": [
    {"tool_calls": [{"name": "signal", "input": {"target": "a", "payload": 1}}],
     "usage": {"input_tokens": 100, "output_tokens": 10}, "cost_usd": "0.25"},
    {"tool_calls": [{"name": "signal", "input": {"target": "a", "payload": 2}}],
     "usage": {"input_tokens": 200, "output_tokens": 20}, "cost_usd": "0.25"},
    {"text": "Done.", "usage": {"input_tokens": 300, "output_tokens": 30}, "cost_usd": "0.25"}
]}"#;

fn config(config: TurnConfig) -> TurnInput {
    TurnInput::text("Go.").config(config)
}

#[tokio::test]
async fn a_complete_turn_sums_what_all_of_its_calls_took() {
    let output = turn(clerk(&Seen::new(TWICE)), TurnInput::text("Go."))
        .await
        .unwrap();
    assert_eq!(output.exit_reason, ExitReason::Complete);
    assert_eq!(output.text(), "Done.");
    let metadata = &output.metadata;
    assert_eq!((metadata.tokens_in, metadata.tokens_out), (600, 60));
    assert_eq!(metadata.cost, Some("0.75".parse().unwrap()));
    assert_eq!(metadata.tools_called.len(), 2);
}

#[tokio::test]
async fn a_cost_that_is_not_known_is_none() {
    let model = Seen::new(r#"{"turns": [{"text": "Hello."}]}"#);
    let output = turn(clerk(&model), TurnInput::text("Hi.")).await.unwrap();
    assert_eq!(output.metadata.cost, None);
}

#[tokio::test]
async fn a_turn_ends_at_its_limits_with_the_effects_so_far() {
    let turns = TurnConfig {
        max_turns: Some(1),
        ..TurnConfig::default()
    };
    let output = turn(clerk(&Seen::new(TWICE)), config(turns)).await.unwrap();
    assert_eq!(output.exit_reason, ExitReason::MaxTurns);
    assert_eq!(output.effects.len(), 1);

    let cost = TurnConfig {
        max_cost: Some("0.4".parse().unwrap()),
        ..TurnConfig::default()
    };
    let output = turn(clerk(&Seen::new(TWICE)), config(cost)).await.unwrap();
    assert_eq!(output.exit_reason, ExitReason::MaxCost);
    assert_eq!(output.effects.len(), 2);
}

/// Never answers.
#[neuron_tool(read_only)]
async fn stuck() -> Result<String, ToolError> {
    pending().await
}

#[tokio::test]
async fn a_turn_ends_when_its_time_is_over() {
    let model = Seen::new(r#"{"turns": [{"tool_calls": [{"name": "stuck"}]}]}"#);
    let time = TurnConfig {
        max_duration: Some(Duration::from_millis(20)), // Nothing else ends the turn.
        ..TurnConfig::default()
    };
    let output = turn(clerk(&model).tool(StuckTool), config(time))
        .await
        .unwrap();
    assert_eq!(output.exit_reason, ExitReason::MaxDuration);
}

/// A hook that halts at the exit check of this turn.
struct Halt(u32);

impl Hook for Halt {
    fn on_event<'a>(
        &'a self,
        event: &'a HookEvent<'a>,
    ) -> BoxFuture<'a, Result<HookAction, HookError>> {
        let action = match event {
            HookEvent::ExitCheck { turn } if *turn == self.0 => HookAction::Terminate {
                reason: "enough".to_owned(),
            },
            _ => HookAction::Continue,
        };
        Box::pin(async { Ok(action) })
    }
}

#[tokio::test]
async fn a_hook_that_halts_at_the_exit_check_ends_the_turn_with_what_it_says() {
    let model = Seen::new(TWICE);
    let output = turn(clerk(&model).hook(Halt(2)), TurnInput::text("Go."))
        .await
        .unwrap();
    let ExitReason::ObserverHalt { reason } = &output.exit_reason else {
        panic!("{output:?}");
    };
    assert!(reason.ends_with("enough"), "{reason}");
    assert_eq!(output.effects.len(), 2);
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn a_failure_that_may_pass_is_returned_and_not_tried_again() {
    let model = Seen::new(
        r#"{"turns": [{"text": "Hello.", "fail": [
            {"kind": "rate_limited", "message": "slow down"}
        ]}]}"#,
    );
    let agent: Agent = clerk(&model).build().unwrap();
    let clerk = AgentTurn::new(&agent);
    let error = clerk.execute(TurnInput::text("Hi.")).await.unwrap_err();
    let TurnError::Retryable { source } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(source.kind, FailureKind::RateLimited);
    assert_eq!(model.requests().len(), 1);
    // The caller tries again.
    let output = clerk.execute(TurnInput::text("Hi.")).await.unwrap();
    assert_eq!(output.text(), "Hello.");
}

async fn model_error(script: &str) -> String {
    let error = turn(clerk(&Seen::new(script)), TurnInput::text("Hi."))
        .await
        .unwrap_err();
    assert!(!error.is_retryable());
    let TurnError::Model { message, .. } = error else {
        panic!("{error:?}");
    };
    message
}

#[tokio::test]
async fn an_answer_that_was_cut_or_refused_is_an_error_of_the_model() {
    let cut = r#"{"turns": [{"text": "Once upon", "stop_reason": "max_tokens"}]}"#;
    assert_eq!(model_error(cut).await, "output truncated");
    for reason in ["content_filter", "refusal"] {
        let refused = format!(r#"{{"turns": [{{"text": "", "stop_reason": "{reason}"}}]}}"#);
        assert!(!model_error(&refused).await.is_empty());
    }
    let rejected =
        r#"{"turns": [{"text": "", "fail": [{"kind": "invalid_request", "message": "no"}]}]}"#;
    assert_eq!(model_error(rejected).await, "the model call failed");
}

/// Asks for a name before it continues.
#[neuron_tool(read_only)]
async fn book() -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::pending(Pending::Form {
        requests: vec![FormRequest {
            key: "name".into(),
            message: "For whom?".into(),
            schema: Some(json!({"type": "string"})),
            url: None,
        }],
        state: None,
    }))
}

#[tokio::test]
async fn a_turn_that_waits_for_a_person_is_an_error() {
    let model = Seen::new(r#"{"turns": [{"tool_calls": [{"name": "book"}]}]}"#);
    let error = turn(clerk(&model).tool(BookTool), TurnInput::text("Hi."))
        .await
        .unwrap_err();
    let TurnError::NobodyToAsk { asked } = error else {
        panic!("{error:?}");
    };
    assert_eq!(asked, "book");

    let asks = clerk(&model).tool(BookTool).ask("book");
    let error = turn(asks, TurnInput::text("Hi.")).await.unwrap_err();
    assert!(matches!(error, TurnError::NobodyToAsk { .. }), "{error:?}");
    assert_eq!(model.requests().len(), 1, "nothing was started");
}

/// A sink that keeps the text of the answer.
#[derive(Default)]
struct Screen(Mutex<String>);

impl EventSink for Screen {
    fn event(&self, _: &RecordedEvent) {}

    fn retry(&self, _: &RetryNotice) {}

    fn wants_tokens(&self) -> bool {
        true
    }

    fn token(&self, delta: &TokenDelta) {
        if let Delta::Text(text) = &delta.delta {
            self.0.lock().unwrap().push_str(text);
        }
    }
}

#[tokio::test]
async fn a_sink_is_told_the_answer_as_it_comes() {
    let model = Seen::new(r#"{"turns": [{"text": "Hello."}]}"#);
    let agent: Agent = clerk(&model).build().unwrap();
    let screen = Arc::new(Screen::default());
    let clerk = AgentTurn::new(&agent).sink(screen.clone());
    clerk.execute(TurnInput::text("Hi.")).await.unwrap();
    assert_eq!(*screen.0.lock().unwrap(), "Hello.");
}

#[tokio::test]
async fn turns_that_run_at_the_same_time_have_effects_of_their_own() {
    let agent: Agent = clerk(&Seen::new(TWICE)).build().unwrap();
    let clerk = AgentTurn::new(&agent);
    let (one, other) = futures::join!(
        clerk.execute(TurnInput::text("One.")),
        clerk.execute(TurnInput::text("Another."))
    );
    for output in [one.unwrap(), other.unwrap()] {
        let payloads = output.effects.iter().map(|effect| match effect {
            Effect::Signal { payload, .. } => payload.clone(),
            other => panic!("{other:?}"),
        });
        assert_eq!(payloads.collect::<Vec<_>>(), [json!(1), json!(2)]);
    }
}

#[tokio::test]
async fn what_a_guard_has_withheld_of_an_answer_is_not_the_answer_of_the_turn() {
    let model = Seen::new(
        r#"{"turns": [{"text": "The code is CODE-17.", "tool_calls": [
            {"name": "signal", "input": {"target": "a", "payload": 1}}
        ]}]}"#,
    );
    let guard = TextGuard::patterns("codes", ["CODE-[0-9]+"]).unwrap();
    let guard = guard.at([GuardPoint::Output]).then(Then::Ask);
    let once = TurnConfig {
        max_turns: Some(1),
        ..TurnConfig::default()
    };
    let output = turn(clerk(&model).guard(guard), config(once))
        .await
        .unwrap();
    assert_eq!(output.exit_reason, ExitReason::MaxTurns);
    let whole = serde_json::to_string(&output).unwrap();
    assert!(!whole.contains("CODE-17"), "{whole}");
    assert_eq!(output.text(), "");
    assert_eq!(output.effects.len(), 1, "the call was made: {whole}");
}

#[tokio::test]
async fn the_result_of_the_first_tool_is_the_answer_of_a_turn_that_stops_at_it() {
    let model = Seen::new(
        r#"{"turns": [{"text": "I send it.", "tool_calls": [
            {"name": "signal", "input": {"target": "a", "payload": 1}}
        ]}]}"#,
    );
    let output = turn(clerk(&model).stop_on_first_tool(), TurnInput::text("Go."))
        .await
        .unwrap();
    assert_eq!(output.exit_reason, ExitReason::Complete);
    assert_eq!(output.message, Message::assistant("Signal sent."));
    assert_eq!(output.effects.len(), 1);
}
