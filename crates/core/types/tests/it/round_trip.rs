//! Whatever is written is read back the same.

use std::fmt::Debug;

use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};

use crate::strategies::{
    agent, approval, event, json, message, request, response, run, step, tool,
};

fn assert_survives<T>(value: &T) -> Result<(), TestCaseError>
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let text = serde_json::to_string(value).unwrap();
    let back: T = serde_json::from_str(&text)
        .map_err(|error| TestCaseError::fail(format!("{error} in {text}")))?;
    prop_assert_eq!(&back, value);
    // A digest over a journaled value is the same after every replay.
    prop_assert_eq!(serde_json::to_string(&back).unwrap(), text);
    Ok(())
}

macro_rules! survive_json {
    ($($name:ident: $strategy:expr,)+) => {
        proptest! {
            $(
                #[test]
                fn $name(value in $strategy) {
                    assert_survives(&value)?;
                }
            )+
        }
    };
}

survive_json! {
    values: json(),
    roles: message::role(),
    image_sources: message::image_source(),
    document_sources: message::document_source(),
    content_items: message::content_item(),
    tool_result_blocks: message::tool_result(),
    content_blocks: message::content_block(),
    messages: message::message(),
    cache_ttls: request::cache_ttl(),
    cache_controls: request::cache_control(),
    system_blocks: request::system_block(),
    system_prompts: request::system_prompt(),
    tool_choices: request::tool_choice(),
    response_formats: request::response_format(),
    thinking_configs: request::thinking_config(),
    reasoning_efforts: request::reasoning_effort(),
    context_edits: request::context_edit(),
    context_managements: request::context_management(),
    completion_requests: request::completion_request(),
    stop_reasons: response::stop_reason(),
    usage_iterations: response::usage_iteration(),
    token_usages: response::token_usage(),
    completion_responses: response::completion_response(),
    tool_effects: tool::effects(),
    tool_calls: tool::call(),
    tool_annotations: tool::annotations(),
    tool_definitions: tool::definition(),
    tool_outputs: tool::output(),
    failure_kinds: step::failure_kind(),
    step_failures: step::failure(),
    step_ids: step::step_id(),
    retry_policies: step::retry_policy(),
    activity_options: step::activity_options(),
    permission_decisions: approval::permission_decision(),
    approval_rules: approval::rules(),
    on_expiries: approval::on_expiry(),
    verdicts: approval::verdict(),
    approval_tickets: approval::ticket(),
    decisions: approval::decision(),
    on_unknown_outcomes: agent::on_unknown_outcome(),
    context_rules: agent::context_rule(),
    context_policies: agent::context_policy(),
    limits: agent::limits(),
    tool_settings: agent::tool_settings(),
    agent_specs: agent::agent_spec(),
    run_requests: agent::run_request(),
    run_events: event::run_event(),
    recorded_events: event::recorded_event(),
    run_ids: run::run_id(),
    run_phases: run::run_phase(),
    exit_reasons: run::exit_reason(),
    user_messages: run::user_message(),
    run_errors: run::run_error(),
    run_outputs: run::run_output(),
    run_statuses: run::run_status(),
    run_outcomes: run::run_outcome(),
    stages: run::stage(),
    call_states: run::call_state(),
    pending_calls: run::pending_call(),
    run_states: run::run_state(),
}
