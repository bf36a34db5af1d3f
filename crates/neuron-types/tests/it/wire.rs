//! Properties of the serialised forms that other programs and older journals rely on.

use std::time::Duration;

use neuron_types::{
    AgentSpec, CompletionRequest, CompletionResponse, RecordedEvent, RetryPolicy, RunEvent,
    StopReason,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::strategies::{event, response};

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
fn missing_optional_fields_take_their_defaults() {
    assert_eq!(
        serde_json::from_value::<CompletionRequest>(json!({})).unwrap(),
        CompletionRequest::default()
    );
    assert_eq!(
        serde_json::from_value::<AgentSpec>(json!({})).unwrap(),
        AgentSpec::default()
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
    assert_eq!(written(Duration::from_secs(90)), json!(90_000));
    assert_eq!(written(Duration::from_micros(1999)), json!(1));
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
