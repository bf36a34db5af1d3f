use std::sync::Arc;

use futures::future::BoxFuture;
use neuron::{
    guards::{TextGuard, Then},
    prelude::*,
    turn::{AgentTurn, Effect, EffectTool, LogLevel, Turn, TurnConfig, TurnInput},
    types::{
        ContentBlock, ContentItem, ContextPolicy, ContextRule, GuardPoint, Hook, HookAction,
        HookError, HookEvent, ToolOutput,
    },
};
use serde_json::json;
use tokio::sync::Notify;

use super::{Seen, clerk, turn};

/// A script that asks for all effects in one answer.
const ALL: &str = r#"{"turns": [
    {"tool_calls": [
        {"name": "write_memory", "input": {"scope": "user", "key": "city", "value": {"name": "Lisbon"}}},
        {"name": "delete_memory", "input": {"scope": "user", "key": "street"}},
        {"name": "delegate", "input": {"agent": "scout", "input": "Look around."}},
        {"name": "handoff", "input": {"agent": "guide", "state": {"mood": "good"}}},
        {"name": "signal", "input": {"target": "nightly", "payload": [1, 2]}}
    ]},
    {"text": "Done."}
]}"#;

/// Returns the results of its calls that the model read, in order.
fn read(seen: &Seen) -> Vec<(String, bool)> {
    let requests = seen.requests();
    let messages = requests.last().unwrap().messages.iter();
    let blocks = messages.flat_map(|message| &message.content);
    blocks
        .filter_map(|block| match block {
            ContentBlock::ToolResult(result) => match result.content.as_slice() {
                [ContentItem::Text(text)] => Some((text.clone(), result.is_error)),
                other => panic!("{other:?}"),
            },
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn each_effect_tool_answers_its_sentence_and_asks_for_its_effect() {
    let model = Seen::new(ALL);
    let output = turn(clerk(&model), TurnInput::text("Go.")).await.unwrap();
    assert_eq!(
        output.effects,
        [
            Effect::WriteMemory {
                scope: "user".into(),
                key: "city".into(),
                value: json!({"name": "Lisbon"}),
            },
            Effect::DeleteMemory {
                scope: "user".into(),
                key: "street".into(),
            },
            Effect::Delegate {
                agent: "scout".into(),
                input: json!("Look around."),
            },
            Effect::Handoff {
                agent: "guide".into(),
                state: json!({"mood": "good"}),
            },
            Effect::Signal {
                target: "nightly".into(),
                payload: json!([1, 2]),
            },
        ]
    );
    let answers = [
        "Memory written.",
        "Memory deleted.",
        "Delegation requested.",
        "Handoff initiated.",
        "Signal sent.",
    ];
    let expected: Vec<_> = answers.map(|text| (text.to_owned(), false)).into();
    assert_eq!(read(&model), expected);
    let called = output.metadata.tools_called.iter();
    let called: Vec<_> = called
        .map(|call| (call.tool.as_str(), call.is_error))
        .collect();
    let tools = EffectTool::ALL.map(|tool| (tool.as_str(), false));
    assert_eq!(called, tools);
}

#[tokio::test]
async fn a_call_without_an_argument_asks_for_nothing_and_the_model_learns_why() {
    let model = Seen::new(
        r#"{"turns": [
            {"tool_calls": [{"name": "delegate", "input": {"agent": "scout"}}]},
            {"text": "Never mind."}
        ]}"#,
    );
    let output = turn(clerk(&model), TurnInput::text("Go.")).await.unwrap();
    assert_eq!(output.effects, []);
    let results = read(&model);
    let [(text, true)] = results.as_slice() else {
        panic!("{results:?}");
    };
    assert!(text.contains("input"), "{text}");
}

/// Waits for the other tool, and asks for an effect.
#[neuron_tool(read_only)]
async fn first(#[state] gate: &Arc<Notify>) -> Result<ToolOutput, ToolError> {
    gate.notified().await;
    Ok(ToolOutput::from_value(json!({"effect": {"kind": "first"}})))
}

/// Lets the other tool continue, and requests an effect.
#[neuron_tool(read_only)]
async fn second(#[state] gate: &Arc<Notify>) -> Result<ToolOutput, ToolError> {
    gate.notify_one();
    let effect = json!({"effect": {"kind": "second", "payload": 2}, "note": "mine"});
    Ok(ToolOutput::from_value(effect))
}

#[tokio::test]
async fn effects_of_ones_own_tools_come_in_the_order_of_the_calls_whichever_ends_first() {
    let model = Seen::new(
        r#"{"turns": [
            {"tool_calls": [{"name": "first"}, {"name": "second"}]},
            {"text": "Done."}
        ]}"#,
    );
    let gate = Arc::new(Notify::new());
    let agent = clerk(&model)
        .tool(FirstTool::new(Arc::clone(&gate)))
        .tool(SecondTool::new(gate));
    let output = turn(agent, TurnInput::text("Go.")).await.unwrap();
    assert_eq!(
        output.effects,
        [
            Effect::Custom {
                kind: "first".into(),
                payload: json!(null),
            },
            Effect::Custom {
                kind: "second".into(),
                payload: json!(2),
            },
        ]
    );
}

/// A hook that skips one tool, and changes the input of another.
struct Censor;

impl Hook for Censor {
    fn on_event<'a>(
        &'a self,
        event: &'a HookEvent<'a>,
    ) -> BoxFuture<'a, Result<HookAction, HookError>> {
        let action = match event {
            HookEvent::PreToolExecution {
                tool_name: "delegate",
                ..
            } => HookAction::Skip {
                reason: "nobody is there".to_owned(),
            },
            HookEvent::PreToolExecution {
                tool_name: "write_memory",
                ..
            } => HookAction::ModifyToolInput {
                input: json!({"scope": "user", "key": "city", "value": "hidden"}),
            },
            _ => HookAction::Continue,
        };
        Box::pin(async { Ok(action) })
    }
}

#[tokio::test]
async fn a_hook_keeps_an_effect_back_and_changes_another() {
    let model = Seen::new(ALL);
    let output = turn(clerk(&model).hook(Censor), TurnInput::text("Go."))
        .await
        .unwrap();
    let hidden = Effect::WriteMemory {
        scope: "user".into(),
        key: "city".into(),
        value: json!("hidden"),
    };
    assert_eq!(output.effects[0], hidden);
    let is_delegate = |effect: &Effect| matches!(effect, Effect::Delegate { .. });
    assert!(!output.effects.iter().any(is_delegate), "{output:?}");
    let called = output.metadata.tools_called.iter();
    let called: Vec<&str> = called.map(|call| call.tool.as_str()).collect();
    assert!(!called.contains(&"delegate"), "it was not made: {called:?}");
}

#[tokio::test]
async fn a_denied_call_asks_for_nothing() {
    let model = Seen::new(ALL);
    let agent = clerk(&model).spec(|spec| spec.approvals.deny.push("signal".into()));
    let output = turn(agent, TurnInput::text("Go.")).await.unwrap();
    assert_eq!(output.effects.len(), 4, "{:?}", output.effects);
    let is_signal = |effect: &Effect| matches!(effect, Effect::Signal { .. });
    assert!(!output.effects.iter().any(is_signal));
}

#[tokio::test]
async fn the_model_is_offered_the_effects_that_the_turn_has_and_no_others() {
    let model = Seen::new(r#"{"turns": [{"text": "Hello."}]}"#);
    let agent: Agent = clerk(&model).build().unwrap();
    let offered = |at: usize| -> Vec<String> {
        let tools = model.requests()[at].head.tools.clone();
        tools.into_iter().map(|tool| tool.name).collect()
    };
    let few = AgentTurn::new(&agent).effect_tools([EffectTool::Signal]);
    few.execute(TurnInput::text("Hi.")).await.unwrap();
    assert_eq!(offered(0), ["signal"]);

    let config = TurnConfig {
        allowed_tools: Some(vec!["handoff".into(), "delegate".into()]),
        ..TurnConfig::default()
    };
    let allowed = TurnInput::text("Hi.").config(config);
    AgentTurn::new(&agent).execute(allowed).await.unwrap();
    assert_eq!(offered(1), ["delegate", "handoff"]);
}

#[tokio::test]
async fn a_call_of_a_tool_that_is_not_allowed_asks_for_nothing() {
    let model = Seen::new(ALL);
    let config = TurnConfig {
        allowed_tools: Some(vec!["write_memory".into()]),
        ..TurnConfig::default()
    };
    let output = turn(clerk(&model), TurnInput::text("Go.").config(config))
        .await
        .unwrap();
    let [Effect::WriteMemory { .. }] = output.effects.as_slice() else {
        panic!("{:?}", output.effects);
    };
}

#[tokio::test]
async fn the_loop_logs_that_it_compacted_the_conversation_behind_the_effects_before() {
    let note = "x".repeat(4_000);
    let write = format!(
        r#"{{"tool_calls": [{{"name": "write_memory", "input": {{"scope": "s", "key": "k", "value": "{note}"}}}}]}}"#
    );
    let model = Seen::new(&format!(
        r#"{{"turns": [{write}, {write}, {write}, {{"text": "Done."}}]}}"#
    ));
    let agent = clerk(&model).context(ContextPolicy {
        rules: vec![ContextRule::SlidingWindow { keep: 2 }],
        at_tokens: Some(2_000),
        ..ContextPolicy::default()
    });
    let output = turn(agent, TurnInput::text("Go.")).await.unwrap();
    let place = output.effects.iter().position(|effect| {
        matches!(effect, Effect::Log { level: LogLevel::Info, message } if message.contains("compacted"))
    });
    assert!(place.is_some_and(|place| place > 0), "{:?}", output.effects);
}

/// Pages a person, with a code.
#[neuron_tool(read_only)]
async fn page() -> Result<ToolOutput, ToolError> {
    let effect = json!({"effect": {"kind": "page", "payload": "CODE-17"}});
    Ok(ToolOutput::from_value(effect))
}

/// Says nothing that a guard would find.
#[neuron_tool(read_only)]
async fn plain() -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::text("Nothing."))
}

#[tokio::test]
async fn an_effect_that_is_lost_to_a_guard_is_named_in_its_place() {
    let script = r#"{"turns": [
        {"tool_calls": [
            {"name": "write_memory", "input": {"scope": "user", "key": "code", "value": "CODE-17"}},
            {"name": "page"},
            {"name": "plain"},
            {"name": "signal", "input": {"target": "nightly", "payload": 1}}
        ]},
        {"text": "Done."}
    ]}"#;
    for then in [Then::Replace("[code]".into()), Then::Block] {
        let guard = TextGuard::patterns("codes", ["CODE-[0-9]+"]).unwrap();
        let guard = guard.at([GuardPoint::Result]).then(then);
        let model = Seen::new(script);
        let agent = clerk(&model).tool(PageTool).tool(PlainTool).guard(guard);
        let output = turn(agent, TurnInput::text("Go.")).await.unwrap();
        let [of_memory, of_page, signal] = output.effects.as_slice() else {
            panic!("{:?}", output.effects);
        };
        for (effect, tool) in [(of_memory, "write_memory"), (of_page, "page")] {
            let Effect::Log { level, message } = effect else {
                panic!("{effect:?}");
            };
            assert_eq!(*level, LogLevel::Warn);
            for named in [tool, "codes", "lost"] {
                assert!(message.contains(named), "{message}");
            }
            assert!(!message.contains("CODE-17"), "{message}");
        }
        assert!(matches!(signal, Effect::Signal { .. }), "{signal:?}");
    }
}
