//! The samples leave no variant out: serde says which there are.

use std::{collections::BTreeSet, fmt::Debug};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::samples::{
    agent, approval, event, message, request, response, run, step, tool, transcript,
};

/// The variants of `T`, as serde lists them when it meets one that it does not know.
pub(crate) fn known_variants<T: DeserializeOwned + Debug>() -> BTreeSet<String> {
    // An externally tagged enum takes `type` for a variant, an internally tagged one takes `?` for one.
    let error = serde_json::from_str::<T>(r#"{"type":"?"}"#).unwrap_err();
    let error = error.to_string();
    let (_, expected) = error.split_once("expected ").unwrap();
    expected
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

fn variant_of<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value).unwrap() {
        Value::String(name) => name,
        Value::Object(fields) => match fields.get("type") {
            Some(Value::String(name)) => name.clone(),
            _ => fields.keys().next().unwrap().clone(),
        },
        other => panic!("{other} is no variant"),
    }
}

#[track_caller]
fn assert_complete<T: Serialize + DeserializeOwned + Debug>(samples: &[T]) {
    let sampled: BTreeSet<String> = samples.iter().map(variant_of).collect();
    assert_eq!(sampled, known_variants::<T>());
}

#[test]
fn samples_leave_no_variant_out() {
    assert_complete(&message::ROLES);
    assert_complete(&message::image_sources());
    assert_complete(&message::document_sources());
    assert_complete(&message::content_items());
    assert_complete(&message::content_blocks());
    assert_complete(&request::CACHE_TTLS);
    assert_complete(&request::system_prompts());
    assert_complete(&request::tool_choices());
    assert_complete(&request::response_formats());
    assert_complete(&request::THINKING_CONFIGS);
    assert_complete(&request::REASONING_EFFORTS);
    assert_complete(&request::context_edits());
    assert_complete(&tool::EFFECTS);
    assert_complete(&step::FAILURE_KINDS);
    assert_complete(&agent::ON_UNKNOWN_OUTCOME);
    assert_complete(&agent::context_rules());
    assert_complete(&approval::permission_decisions());
    assert_complete(&approval::ON_EXPIRY);
    assert_complete(&approval::VERDICTS);
    assert_complete(&neuron_types::TicketKind::ALL);
    assert_complete(&event::events());
    assert_complete(&run::PHASES);
    assert_complete(&run::EXIT_REASONS);
    assert_complete(&run::stages());
    assert_complete(&run::call_states());
    assert_complete(&transcript::items());
}

#[test]
fn every_named_stop_reason_reads_back_as_itself_and_not_as_other() {
    for reason in response::NAMED_STOP_REASONS {
        let name = serde_json::to_value(&reason).unwrap();
        assert_eq!(
            serde_json::from_value::<neuron_types::StopReason>(name).unwrap(),
            reason
        );
    }
}
