//! Properties of the serialised forms that other programs and older journals rely on.

use std::{sync::Arc, time::Duration};

use neuron_types::{
    AgentRef, AgentSpec, CompletionRequest, CompletionResponse, ContentBlock, Message,
    RecordedEvent, RequestHead, RetryPolicy, RunEvent, RunRequest, RunState, StateVersion,
    StopReason,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::strategies::{event, response};
use crate::times::SECOND;

fn with_unknown_field(value: &impl serde::Serialize) -> Value {
    let mut value = serde_json::to_value(value).unwrap();
    value["added_later"] = json!({"by": ["a newer version", 1]});
    value
}

proptest! {
    #[test]
    fn a_response_with_unknown_fields_is_read(response in response::completion_response()) {
        let mut value = with_unknown_field(&response);
        value["usage"] = with_unknown_field(&response.usage);
        value["message"] = with_unknown_field(&response.message);
        prop_assert_eq!(serde_json::from_value::<CompletionResponse>(value).unwrap(), response);
    }

    #[test]
    fn an_event_with_unknown_fields_is_read(event in event::run_event()) {
        let value = with_unknown_field(&event);
        prop_assert_eq!(serde_json::from_value::<RunEvent>(value).unwrap(), event);
    }

    #[test]
    fn a_recorded_event_with_unknown_fields_is_read(event in event::recorded_event()) {
        let value = with_unknown_field(&event);
        prop_assert_eq!(serde_json::from_value::<RecordedEvent>(value).unwrap(), event);
    }
}

#[test]
fn a_definition_says_of_its_calls_what_older_ones_do_not() {
    let now = serde_json::to_value(AgentSpec::default()).unwrap();
    assert_eq!(now["parallel_writes"], json!(false));
    assert_eq!(now["calls_per_turn"], json!(32));
    let older: AgentSpec = serde_json::from_value(json!({})).unwrap();
    let again = serde_json::to_value(&older).unwrap();
    assert_eq!(again.get("parallel_writes"), None);
    assert_eq!(again.get("calls_per_turn"), None);
}

#[test]
fn missing_optional_fields_take_their_defaults() {
    assert_eq!(
        serde_json::from_value::<CompletionRequest>(json!({})).unwrap(),
        CompletionRequest::default()
    );
    // What was recorded before calls had an order and a bound has neither.
    assert_eq!(
        serde_json::from_value::<AgentSpec>(json!({})).unwrap(),
        AgentSpec {
            parallel_writes: true,
            calls_per_turn: None,
            ..AgentSpec::default()
        }
    );
    assert_eq!(
        serde_json::from_value::<RetryPolicy>(json!({"maximum_attempts": 2})).unwrap(),
        RetryPolicy {
            maximum_attempts: 2,
            ..RetryPolicy::default()
        }
    );
}

#[test]
fn durations_are_written_as_whole_milliseconds() {
    let written = |initial_interval| {
        let policy = RetryPolicy {
            initial_interval,
            ..RetryPolicy::default()
        };
        serde_json::to_value(policy).unwrap()["initial_interval_ms"].clone()
    };
    assert_eq!(written(90 * SECOND), json!(90_000));
    assert_eq!(written(Duration::from_micros(1999)), json!(1)); // Only written, never waited for.
    assert_eq!(written(Duration::MAX), json!(u64::MAX));
}

#[test]
fn numbers_in_arguments_are_read_to_the_last_bit() {
    // Numbers that a parser which rounds while it reads gets wrong by one bit.
    for number in [
        0.985_690_694_632_869_5_f64,
        0.212_918_907_267_134_58,
        0.925_933_892_649_635_9,
    ] {
        let text = serde_json::to_string(&json!({ "x": number })).unwrap();
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["x"].as_f64().map(f64::to_bits), Some(number.to_bits()));
    }
}

#[test]
fn a_reason_to_stop_that_a_provider_names_is_what_a_journal_makes_of_it() {
    for name in ["pause_turn", "max_tokens", "from_the_future", ""] {
        let named = StopReason::named(name.to_owned());
        let journaled = serde_json::to_string(&named).unwrap();
        assert_eq!(journaled, format!("{name:?}"));
        assert_eq!(
            serde_json::from_str::<StopReason>(&journaled).unwrap(),
            named
        );
    }
    assert_eq!(
        StopReason::named("pause_turn".to_owned()),
        StopReason::PauseTurn
    );
}

#[test]
fn input_and_state_of_another_version_are_refused_in_one_sentence() {
    let read = |json: Value| serde_json::from_value::<RunRequest>(json).unwrap_err();
    let agent = json!({"request": {"model": "m", "messages": []}});
    let input = json!({"agent": agent, "prompt": Message::user("a")});
    let first = "the run has version 1 of the run state, and this build reads version 4: \
                 finish it with the build that started it";
    assert_eq!(read(input.clone()).to_string(), first);
    assert_eq!(StateVersion::of(&input.to_string()).unwrap(), 1);

    // A name says all that there is to know.
    let named = json!({"agent": "default", "prompt": "a"});
    assert!(serde_json::from_value::<RunRequest>(named).is_ok());

    let state = r#"{"version": 5, "stage": "of_its_own"}"#;
    let error = serde_json::from_str::<RunState>(state).unwrap_err();
    let later =
        "the run was written by a newer version of neuron: state version 5, this one knows up to 4";
    assert!(error.to_string().starts_with(later), "{error}");
    assert_eq!(StateVersion::of(state).unwrap(), 5);
}

#[test]
fn a_request_is_one_object_and_its_clone_shares_everything() {
    let request = CompletionRequest::new(RequestHead::new("m"), vec![Message::user("a")]);
    assert_eq!(
        serde_json::to_value(&request).unwrap(),
        json!({"model": "m", "messages": [{"role": "user", "content": [{"text": "a"}]}]})
    );
    let mut next = request.clone();
    assert!(Arc::ptr_eq(&request.head, &next.head));
    assert!(std::ptr::eq(&request.messages[0], &next.messages[0]));
    next.messages.push(Message::user("b"));
    assert_eq!((request.messages.len(), next.messages.len()), (1, 2));
}

#[test]
fn a_run_is_given_a_value_in_the_place_of_a_prompt_and_not_beside_it() {
    let read = |json: Value| serde_json::from_value::<RunRequest>(json);
    for (input, prompt) in [
        (
            json!({"cents": 7, "to": "ada"}),
            r#"{"cents":7,"to":"ada"}"#,
        ),
        (json!("Pay it."), "Pay it."),
        (json!(7), "7"),
        (json!(null), "null"),
    ] {
        let request = read(json!({"agent": "clerk", "input": input})).unwrap();
        assert_eq!(request, RunRequest::new("clerk", Message::user(prompt)));
    }
    let both = read(json!({"agent": "clerk", "prompt": "Pay.", "input": 7})).unwrap_err();
    let expected = "a run is given a `prompt`, or a value as `input`, and not both";
    assert_eq!(both.to_string(), expected);
}

#[test]
fn a_request_needs_two_texts_and_refuses_what_it_does_not_know() {
    let read = |json: Value| serde_json::from_value::<RunRequest>(json);
    let short = json!({"agent": "default", "prompt": "Go."});
    let request = RunRequest::new("default", Message::user("Go."));
    assert_eq!(read(short.clone()).unwrap(), request);
    let whole = json!({"version": 4, "agent": {"name": "clerk"}, "prompt": Message::user("Go."),
        "tenant": "acme", "owner": null});
    let request = read(whole).unwrap();
    assert!(matches!(&request.agent, AgentRef::Definition(agent) if agent.name == "clerk"));
    assert_eq!(request.tags.tenant.as_deref(), Some("acme"));

    for (field, value, said) in [
        ("budget", json!({}), "unknown field `budget`"),
        (
            "overrides",
            json!({"limits": {"coins": 1}}),
            "unknown field `coins`",
        ),
        ("agent", json!(7), "the name of an agent, or its definition"),
        ("prompt", json!(["Go."]), "a text, or a message"),
        ("version", json!(5), "version 5"),
    ] {
        let mut wrong = short.clone();
        wrong[field] = value;
        let error = read(wrong).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn what_a_provider_repeats_of_a_text_goes_with_the_text() {
    let raw = json!({
        "type": "message",
        "id": "m1",
        "content": [{
            "type": "output_text",
            "logprobs": [{"token": "Forty-two."}],
            "annotations": [{"quote": "Forty-two."}],
        }],
        "citations": {"cited_text": "Forty-two."},
    });
    let mut message = Message::assistant("Forty-two.");
    message.content.insert(0, ContentBlock::Other(raw));
    message.replace_text("[withheld]");
    let left = serde_json::to_value(&message).unwrap();
    assert!(!left.to_string().contains("Forty-two"), "{left}");
    let ContentBlock::Other(raw) = &message.content[0] else {
        panic!("{left}");
    };
    let part = json!({"type": "output_text", "logprobs": [], "annotations": []});
    assert_eq!((&raw["id"], &raw["content"][0]), (&json!("m1"), &part));
}
