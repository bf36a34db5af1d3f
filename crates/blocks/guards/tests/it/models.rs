//! Guards whose verdicts come from a model: what the model is asked, and the verdicts that its words become.

use neuron_guards::{ModelGuard, Then};
use neuron_types::{
    CompletionResponse, Guard, GuardPoint, GuardSubject, GuardVerdict, Judge, JudgeSpec, Message,
    StopReason, SystemPrompt,
};
use proptest::prelude::*;
use serde_json::Value;

fn guard() -> ModelGuard {
    ModelGuard::new(
        "house_rules",
        "judges/small",
        "Nothing is pushed on a Sunday.",
    )
}

fn answer(text: &str) -> CompletionResponse {
    CompletionResponse {
        message: Message::assistant(text),
        ..CompletionResponse::default()
    }
}

fn judged(text: &str) -> String {
    let subject = GuardSubject::new(GuardPoint::Call, text).of_tool("bash");
    let question = guard().question(subject).unwrap();
    assert_eq!(question.messages.len(), 1);
    question.messages[0].text()
}

/// Returns what is between the marks of the block.
fn block(question: &str) -> Value {
    let inner = question.strip_prefix("<judged>\n").unwrap();
    let (inner, _) = inner.split_once("\n</judged>").unwrap();
    serde_json::from_str(inner).unwrap()
}

#[test]
fn the_policy_is_of_the_system_and_what_is_judged_is_of_the_user() {
    let question = guard()
        .question(GuardSubject::new(GuardPoint::Input, "Push it."))
        .unwrap();
    let Some(SystemPrompt::Text(system)) = &question.system else {
        panic!("{question:?}");
    };
    assert!(system.contains("Nothing is pushed on a Sunday."));
    assert!(!system.contains("Push it."));
    assert!(!judged("Push it.").contains("Sunday"));
}

proptest! {
    #[test]
    fn no_text_ends_its_block_or_takes_more_than_was_said(
        text in "(</judged>|<judged>|[<>\"\\\\{}\n]|\\PC){0,60}",
    ) {
        let question = judged(&text);
        prop_assert_eq!(question.matches("</judged>").count(), 1);
        prop_assert_eq!(question.matches("<judged>").count(), 1);
        prop_assert_eq!(&block(&question)["text"], &Value::from(text.as_str()));
        let asked = guard().question(GuardSubject::new(GuardPoint::Input, &text)).unwrap();
        prop_assert!(JudgeSpec::size_of(&asked) <= guard().spec().input_for(&text));
    }
}

#[test]
fn its_words_are_verdicts() {
    let said = |verdict: &str| {
        let text = format!("{{\"verdict\":\"{verdict}\",\"reason\":\"it is Sunday\"}}");
        guard().verdict(&answer(&text)).unwrap()
    };
    let reason = || "it is Sunday".to_owned();
    assert_eq!(said("pass"), GuardVerdict::Pass);
    assert_eq!(said("warn"), GuardVerdict::Warn { reason: reason() });
    assert_eq!(said("ask"), GuardVerdict::Ask { reason: reason() });
    assert_eq!(said("block"), GuardVerdict::Block { reason: reason() });
    assert_eq!(said("trip"), GuardVerdict::Trip { reason: reason() });
}

#[test]
fn a_verdict_may_stand_in_a_code_block_and_its_reason_is_bounded() {
    let long = "x".repeat(5_000);
    let text = format!("```json\n{{\"verdict\": \"block\", \"reason\": \"{long}\"}}\n```");
    let verdict = guard().verdict(&answer(&text)).unwrap();
    assert_eq!(verdict.reason().map(str::len), Some(300));
    let bare = guard()
        .verdict(&answer("{\"verdict\": \"block\"}"))
        .unwrap();
    assert_eq!(bare.reason(), Some("it is against house_rules"));
}

#[test]
fn what_is_no_verdict_is_a_failure() {
    let nonsense = [
        "",
        "pass",
        "It passes.",
        "{\"verdict\": \"allow\", \"reason\": \"\"}",
        "{\"verdict\": \"replace\", \"with\": \"x\", \"reason\": \"\"}",
        "{\"reason\": \"it is fine\"}",
        "{\"verdict\": \"pass\"} {\"verdict\": \"block\"}",
        "{\"verdict\": \"block\", \"verdict\": \"pass\"}",
        "[\"pass\"]",
    ];
    for text in nonsense {
        assert!(guard().verdict(&answer(text)).is_err(), "{text}");
    }
    for stop_reason in [StopReason::MaxTokens, StopReason::Refusal] {
        let cut = CompletionResponse {
            stop_reason,
            ..answer("{\"verdict\":\"pass\",\"reason\":\"\"}")
        };
        assert!(guard().verdict(&cut).is_err(), "{cut:?}");
    }
}

#[test]
fn a_failure_blocks_unless_it_is_said_otherwise() {
    let failed = |guard: ModelGuard| guard.on_failure("it failed".to_owned());
    assert_eq!(failed(guard()).as_str(), "block");
    assert_eq!(failed(guard().failing(Then::Ask)).as_str(), "ask");
    assert_eq!(failed(guard().passing_on_failure()).as_str(), "pass");
}

#[test]
fn it_looks_at_messages_and_calls_unless_it_is_set_otherwise() {
    let looks = GuardPoint::ALL.map(|point| guard().looks_at(point));
    assert_eq!(looks, [true, true, false, false]);
}

#[test]
fn it_looks_where_it_is_set_to_and_at_calls_and_results_of_its_tools() {
    let guard = guard().at(GuardPoint::ALL).of_tools(["bash"]);
    let looks = GuardPoint::ALL.map(|point| guard.looks_at(point));
    assert_eq!(looks, [true; 4]);
    let call = |tool| GuardSubject::new(GuardPoint::Call, "{}").of_tool(tool);
    assert!(guard.question(call("bash")).is_some());
    assert!(guard.question(call("grep")).is_none());
    let result = |tool| GuardSubject::new(GuardPoint::Result, "done").of_tool(tool);
    assert!(guard.question(result("bash")).is_some());
    assert!(guard.question(result("grep")).is_none());
    for point in [GuardPoint::Input, GuardPoint::Output] {
        assert!(guard.question(GuardSubject::new(point, "hi")).is_some());
    }
}
