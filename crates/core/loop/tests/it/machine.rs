//! Single decisions of the machine.

use futures::executor::block_on;
use neuron_loop::{Action, AgentLoop, AgentMachine, MachineError, Observation};
use neuron_types::{
    AgentSpec, CallState, CompletionResponse, ContentBlock, ContentItem, ContextRule, ExitReason,
    FailureKind, Limits, Lineage, Message, OverrideRejected, Parent, PermissionDecision, RunEvent,
    RunId, RunInput, RunPhase, RunTags, StepFailure, StepId, StopReason, ToolEffects, UserMessage,
};
use serde_json::json;
use uuid::Uuid;

use crate::door::TestDoor;
use crate::driver::Keep;
use crate::support::{
    agent, answered, ask, at, authorize, calls, calls_of, exit, input, last_results, make,
    model_answer, model_call, model_ended, one_call, reread, response, says, start, to_model_call,
    tool_ended, tool_text,
};
use crate::times::SECOND;

#[test]
fn ends_complete_when_the_model_is_done_and_nothing_is_queued() {
    let mut machine = answered(agent(), says("hello"));
    machine.feed(Observation::Messages(vec![]), at(2)).unwrap();
    assert_eq!(machine.next(), Action::Done);
    let output = machine.output(&"r".parse().unwrap(), "local");
    assert_eq!(output.state, RunPhase::Completed);
    assert_eq!(output.output.as_deref(), Some("hello"));
    assert_eq!((output.turns, output.usage.total()), (1, 15));
    assert_eq!(output.cost_usd.unwrap().to_string(), "0.01");
}

#[test]
fn takes_up_a_message_that_was_queued_while_the_model_answered_for_the_last_time() {
    let mut machine = answered(agent(), says("hello"));
    let message = UserMessage {
        text: "and?".into(),
    };
    machine
        .feed(Observation::Messages(vec![message]), at(2))
        .unwrap();
    to_model_call(&mut machine);
    assert_eq!(machine.messages().last().unwrap().text(), "and?");
    assert_eq!(machine.state().turn, 2);
}

#[test]
fn makes_all_calls_of_a_turn_at_once_and_answers_them_in_order() {
    let mut machine = answered(
        agent(),
        calls(&[("look", json!({"n": 1})), ("push", json!({"n": 2}))]),
    );
    authorize(&mut machine, vec![PermissionDecision::Allow; 2]);
    let Action::Start(steps) = machine.next() else {
        panic!("the calls are not made: {:?}", machine.next());
    };
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[0].options.effects, ToolEffects::ReadOnly);
    assert_eq!(steps[1].options.effects, ToolEffects::Write);
    assert_eq!(steps[1].options.step, StepId::new(1, 2));
    let results = vec![Ok(tool_text("one")), Ok(tool_text("two"))];
    make(&mut machine, results, 3);
    let ids: Vec<String> = last_results(&machine)
        .into_iter()
        .map(|result| result.tool_use_id)
        .collect();
    assert_eq!(ids, ["c1", "c2"]);
    assert_eq!(machine.next(), Action::TakeMessages);
}

#[test]
fn every_step_carries_what_no_other_run_has() {
    let lineage = Lineage::of(Uuid::from_u128(7));
    let mut machine = AgentMachine::new(input(agent()), at(0)).with_lineage(lineage.clone());
    to_model_call(&mut machine);
    let Some(options) = model_call(&machine) else {
        panic!("the model is not called: {:?}", machine.next());
    };
    assert_eq!(options.nonce, lineage.nonce);

    let mut machine = answered(agent(), one_call("push")).with_lineage(lineage.clone());
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    let Some((_, options)) = calls_of(machine.next()) else {
        panic!("the call is not made: {:?}", machine.next());
    };
    assert_eq!(options[0].nonce, lineage.nonce);
}

#[test]
fn makes_calls_one_by_one_when_the_agent_says_so() {
    let spec = AgentSpec {
        parallel_tools: false,
        ..agent()
    };
    let mut machine = answered(spec, calls(&[("look", json!({})), ("look", json!({}))]));
    authorize(&mut machine, vec![PermissionDecision::Allow; 2]);
    for expected in ["c1", "c2"] {
        let Some((calls, _)) = calls_of(machine.next()) else {
            panic!("no call");
        };
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].id, expected);
        make(&mut machine, vec![Ok(tool_text("x"))], 3);
    }
    assert_eq!(last_results(&machine).len(), 2);
}

#[test]
fn a_failed_tool_is_an_error_result_and_the_run_goes_on() {
    let mut machine = answered(agent(), one_call("look"));
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    let failure = StepFailure::new(FailureKind::Timeout, "no result within 1s");
    make(&mut machine, vec![Err(failure)], 3);
    assert!(last_results(&machine)[0].is_error);
    assert_eq!(machine.next(), Action::TakeMessages);
}

#[test]
fn input_that_can_never_be_right_ends_the_run_with_every_call_answered() {
    let mut machine = answered(agent(), calls(&[("look", json!({})), ("push", json!({}))]));
    authorize(&mut machine, vec![PermissionDecision::Allow, ask()]);
    let failure = StepFailure::new(FailureKind::ToolInput, "never");
    make(&mut machine, vec![Err(failure)], 3);
    assert_eq!(exit(&machine), ExitReason::Failed);
    assert_eq!(last_results(&machine).len(), 2);
}

#[test]
fn a_denied_call_is_answered_and_not_made() {
    let mut machine = answered(agent(), one_call("push"));
    authorize(&mut machine, vec![PermissionDecision::Deny("no".into())]);
    let result = &last_results(&machine)[0];
    assert!(result.is_error);
    assert_eq!(result.content, [ContentItem::Text("denied: no".into())]);
    assert_eq!(machine.state().tool_calls, 0);
}

#[test]
fn each_limit_ends_the_run_before_the_next_turn() {
    let cases = [
        (
            Limits {
                turns: Some(1),
                ..Limits::default()
            },
            ExitReason::MaxTurns,
        ),
        (
            Limits {
                tokens: Some(5_000),
                ..Limits::default()
            },
            ExitReason::MaxTokens,
        ),
        (
            Limits {
                cost_usd: Some("0.01".parse().unwrap()),
                ..Limits::default()
            },
            ExitReason::MaxCost,
        ),
        (
            Limits {
                duration: Some(3 * SECOND),
                ..Limits::default()
            },
            ExitReason::MaxDuration,
        ),
    ];
    for (limits, expected) in cases {
        let mut answer = one_call("look");
        answer.usage.input_tokens = 5_000;
        let mut machine = answered(AgentSpec { limits, ..agent() }, answer);
        authorize(&mut machine, vec![PermissionDecision::Allow]);
        make(&mut machine, vec![Ok(tool_text("x"))], 3);
        machine.feed(Observation::Messages(vec![]), at(3)).unwrap();
        assert_eq!(exit(&machine), expected);
        let output = machine.output(&"r".parse().unwrap(), "local");
        assert_eq!(output.state, RunPhase::LimitReached);
    }
}

#[test]
fn a_limit_of_a_cost_that_nobody_knows_ends_the_run() {
    let limits = Limits {
        cost_usd: Some("5.00".parse().unwrap()),
        ..Limits::default()
    };
    let unknown = CompletionResponse {
        cost_usd: None,
        ..one_call("look")
    };
    let mut machine = answered(AgentSpec { limits, ..agent() }, unknown);
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    make(&mut machine, vec![Ok(tool_text("x"))], 3);
    machine.feed(Observation::Messages(vec![]), at(3)).unwrap();
    assert_eq!(exit(&machine), ExitReason::MaxCost);
    let error = machine.output(&"r".parse().unwrap(), "local").error;
    let message = error.unwrap().message;
    assert!(
        message.starts_with("what the run costs is not known, so its limit of 5.00 US dollars"),
        "{message}"
    );
    assert!(message.contains("(test/m)"), "{message}");
}

#[test]
fn the_event_of_an_answer_names_the_model_where_the_agent_has_several() {
    let mut response = says("Done.");
    response.message.content.push(ContentBlock::AnsweredBy {
        model: "other/n".into(),
    });
    let mut machine = answered(agent(), response);
    let events = machine.take_events();
    let named = events.iter().find_map(|event| match event {
        RunEvent::ModelResponded { model, text, .. } => Some((model.as_deref(), text.as_deref())),
        _ => None,
    });
    assert_eq!(named, Some((Some("other/n"), Some("Done."))));
}

#[test]
fn calls_over_the_limit_are_answered_and_not_made_and_the_run_ends_after_the_turn() {
    let limits = Limits {
        tool_calls: Some(1),
        ..Limits::default()
    };
    let mut machine = answered(
        AgentSpec { limits, ..agent() },
        calls(&[("look", json!({})), ("look", json!({}))]),
    );
    authorize(&mut machine, vec![PermissionDecision::Allow; 2]);
    let Some((calls, _)) = calls_of(machine.next()) else {
        panic!("the first call is not made");
    };
    assert_eq!(calls.len(), 1);
    make(&mut machine, vec![Ok(tool_text("x"))], 3);
    assert_eq!(last_results(&machine).len(), 2);
    machine.feed(Observation::Messages(vec![]), at(3)).unwrap();
    assert_eq!(exit(&machine), ExitReason::MaxToolCalls);
}

#[test]
fn a_call_that_the_output_limit_cut_is_not_made() {
    let mut cut = calls(&[("look", json!({})), ("push", json!({"path": "a"}))]);
    cut.stop_reason = StopReason::MaxTokens;
    let machine = answered(agent(), cut);
    let Action::Authorize(unjudged) = machine.next() else {
        panic!("no call is left");
    };
    assert_eq!(unjudged.len(), 1);
    assert_eq!(unjudged[0].id, "c1");
}

#[test]
fn an_answer_that_the_output_limit_cut_ends_the_run_with_what_there_is() {
    let cut = response(
        StopReason::MaxTokens,
        vec![ContentBlock::Text("half".into())],
    );
    let machine = answered(agent(), cut);
    assert_eq!(exit(&machine), ExitReason::MaxTokens);
    let output = machine.output(&"r".parse().unwrap(), "local");
    assert_eq!(output.output.as_deref(), Some("half"));
}

#[test]
fn a_refusal_ends_the_run_and_stays_out_of_the_conversation() {
    for reason in [StopReason::Refusal, StopReason::ContentFilter] {
        let machine = answered(agent(), response(reason, vec![]));
        assert_eq!(exit(&machine), ExitReason::Refused);
        assert_eq!(machine.messages().len(), 1);
    }
}

#[test]
fn what_is_left_out_of_requests_is_told_once() {
    let left_out = vec!["the tool \"odd\" is left out".to_owned()];
    let mut first = calls(&[("push", json!({"n": 1}))]);
    first.left_out.clone_from(&left_out);
    let mut machine = answered(agent(), first);
    let told = |machine: &mut AgentMachine| -> Vec<Vec<String>> {
        let events = machine.take_events().into_iter();
        let told = events.filter_map(|event| match event {
            RunEvent::LeftOut { what, .. } => Some(what),
            _ => None,
        });
        told.collect()
    };
    assert_eq!(told(&mut machine), std::slice::from_ref(&left_out));
    let state = machine.state().clone();
    assert_eq!(state.left_out, left_out);
}

#[test]
fn ids_of_calls_are_the_runs_own_where_the_models_cannot_be() {
    let call = |id: &str| ContentBlock::tool_use(id, "push", json!({}));
    let ids = ["call_1", "functions.push:0", "call_1", ""];
    let answer = response(StopReason::ToolUse, ids.map(call).to_vec());
    let machine = answered(agent(), answer);
    let Some(message) = machine.messages().last() else {
        panic!("no answer");
    };
    let given: Vec<(&str, Option<&str>)> = message
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolUse { id, own_id, .. } => Some((id.as_str(), own_id.as_deref())),
            _ => None,
        })
        .collect();
    assert_eq!(given[0], ("call_1", None));
    let own: Vec<Option<&str>> = given.iter().map(|(_, own)| *own).collect();
    assert_eq!(own, [None, Some("functions.push:0"), Some("call_1"), None]);
    let distinct: std::collections::BTreeSet<&str> = given.iter().map(|(id, _)| *id).collect();
    assert_eq!(distinct.len(), 4);
    assert!(distinct.iter().all(|id| neuron_types::is_call_id(id)));
    let pending = machine
        .state()
        .calls
        .iter()
        .map(|slot| slot.call.id.as_str());
    assert!(pending.eq(given.iter().map(|(id, _)| *id)));
}

#[test]
fn an_answer_that_ended_for_an_unknown_reason_is_no_output() {
    let half = response(
        StopReason::Other("insufficient_system_resource".into()),
        vec![ContentBlock::Text("half".into())],
    );
    let machine = answered(agent(), half);
    assert_eq!(exit(&machine), ExitReason::Failed);
    let output = machine.output(&"r".parse().unwrap(), "local");
    assert_eq!(output.output, None);
    let error = output.error.unwrap();
    assert_eq!(error.kind, FailureKind::MalformedAnswer);
    assert!(
        error.message.contains("insufficient_system_resource"),
        "{error:?}"
    );
}

#[test]
fn a_paused_answer_is_sent_back_with_nothing_said_in_between() {
    let paused = response(StopReason::PauseTurn, vec![ContentBlock::Text("…".into())]);
    let mut machine = answered(agent(), paused.clone());
    for _ in 0..20 {
        assert_eq!(machine.next(), Action::Compact { required: false });
        to_model_call(&mut machine);
        model_ended(&mut machine, Ok(paused.clone()), 3);
    }
    assert_eq!(exit(&machine), ExitReason::Failed);
}

#[test]
fn a_conversation_that_is_too_long_is_compacted_once_and_then_fails_the_run() {
    let too_long = || StepFailure::new(FailureKind::ContextLength, "too long");
    let mut machine = AgentMachine::new(input(agent()), at(0));
    to_model_call(&mut machine);
    model_ended(&mut machine, Err(too_long()), 1);
    assert_eq!(machine.next(), Action::Compact { required: true });
    let refused = machine.feed(
        Observation::ContextKept {
            tokens: 1,
            estimated: 1,
        },
        at(1),
    );
    assert!(matches!(refused, Err(MachineError::Unexpected { .. })));
    let compacted = Observation::Compacted {
        messages: vec![Message::user("short")],
        old_tokens: 9,
        new_tokens: 1,
        shortfall: None,
        spent: neuron_loop::Spent::default(),
    };
    machine.feed(compacted, at(2)).unwrap();
    model_ended(&mut machine, Err(too_long()), 3);
    assert_eq!(exit(&machine), ExitReason::Failed);
}

/// A machine whose model rejected a conversation of this number of tokens, in words that are not known.
fn refused_at(tokens: u64, status: u16) -> AgentMachine {
    let mut agent = agent();
    agent.context.rules = vec![ContextRule::SlidingWindow { keep: 1 }];
    agent.context.at_tokens = Some(1_000);
    let mut machine = AgentMachine::new(input(agent), at(0));
    while machine.next() != (Action::Compact { required: false }) {
        machine.feed(Observation::Messages(vec![]), at(0)).unwrap();
    }
    let kept = Observation::ContextKept {
        tokens,
        estimated: tokens,
    };
    machine.feed(kept, at(0)).unwrap();
    refuse(&mut machine, status);
    machine
}

fn refuse(machine: &mut AgentMachine, status: u16) {
    let failure = StepFailure {
        status: Some(status),
        ..StepFailure::new(FailureKind::InvalidRequest, "zu lang")
    };
    model_ended(machine, Err(failure), 1);
}

#[test]
fn a_large_request_that_is_refused_in_unknown_words_is_made_smaller_once() {
    for status in [400, 413, 422] {
        let mut machine = refused_at(500, status);
        assert_eq!(machine.next(), Action::Compact { required: true });
        let compacted = Observation::Compacted {
            messages: vec![Message::user("short")],
            old_tokens: 500,
            new_tokens: 1,
            shortfall: None,
            spent: neuron_loop::Spent::default(),
        };
        machine.feed(compacted, at(2)).unwrap();
        refuse(&mut machine, status);
        let output = machine.output(&"r".parse().unwrap(), "local");
        let error = output.error.unwrap();
        assert_eq!(error.kind, FailureKind::InvalidRequest);
        assert_eq!(error.message, "zu lang");
    }
}

#[test]
fn what_was_refused_is_said_where_nothing_can_be_made_smaller() {
    let mut machine = refused_at(500, 400);
    let failed = Observation::CompactionFailed {
        reason: "there is nothing to leave out".into(),
        tokens: 500,
        estimated: 500,
        spent: neuron_loop::Spent::default(),
    };
    machine.feed(failed, at(2)).unwrap();
    let output = machine.output(&"r".parse().unwrap(), "local");
    let error = output.error.unwrap();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (FailureKind::InvalidRequest, "zu lang")
    );
}

#[test]
fn a_small_request_that_is_refused_is_an_invalid_one_at_once() {
    for (tokens, status) in [(499, 400), (500, 404)] {
        let machine = refused_at(tokens, status);
        assert_eq!(exit(&machine), ExitReason::Failed, "{tokens} {status}");
    }
}

#[test]
fn a_failure_kind_decides_the_exit_reason() {
    let cases = [
        (FailureKind::Authentication, ExitReason::Failed),
        (FailureKind::Guardrail, ExitReason::Guardrail),
        (FailureKind::Terminated, ExitReason::Terminated),
        (FailureKind::ContentFilter, ExitReason::Refused),
        (FailureKind::Cancelled, ExitReason::Cancelled),
    ];
    for (kind, expected) in cases {
        let mut machine = AgentMachine::new(input(agent()), at(0));
        to_model_call(&mut machine);
        let failure = StepFailure::new(kind, "why");
        model_ended(&mut machine, Err(failure), 1);
        assert_eq!(exit(&machine), expected);
    }
}

#[test]
fn a_call_of_a_tool_that_the_agent_does_not_list_is_refused_before_anybody_is_asked() {
    let mut agent = agent();
    agent.head_mut().tools.retain(|tool| tool.name == "look");
    agent.limits.tool_calls = Some(1);
    let wanted = [("push", json!({})), ("look", json!({}))];
    let mut machine = answered(agent, calls(&wanted));
    authorize(&mut machine, vec![ask(), PermissionDecision::Allow]);
    let Some((calls, _)) = calls_of(machine.next()) else {
        panic!("{:?}", machine.next());
    };
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].name, "look");
    let refused = &machine.state().calls[0].state;
    let CallState::Done(result) = refused else {
        panic!("{refused:?}");
    };
    assert!(result.is_error);
    let text = ContentItem::Text("there is no tool \"push\": use look".into());
    assert_eq!(result.content, [text]);
}

#[test]
fn steps_and_tickets_of_another_scope_are_told_from_the_runs_own() {
    let mut state = AgentMachine::new(input(agent()), at(0)).state().clone();
    state.scope = 2;
    let mut machine = AgentMachine::from(state);
    to_model_call(&mut machine);
    let Some(options) = model_call(&machine) else {
        panic!("{:?}", machine.next());
    };
    assert_eq!(options.step.to_string(), "2/1:0");
    model_ended(
        &mut machine,
        Ok(calls(&[("look", json!({})), ("push", json!({}))])),
        1,
    );
    authorize(&mut machine, vec![PermissionDecision::Allow, ask()]);
    let Some((_, options)) = calls_of(machine.next()) else {
        panic!("{:?}", machine.next());
    };
    assert_eq!(options[0].step.to_string(), "2/1:1");
    let run_id = RunId::new("r").unwrap();
    let tickets = machine.output(&run_id, "local").approvals;
    assert_eq!(tickets[0].ticket, "s2-t1-2");
    assert_eq!(tickets[0].agent.as_deref(), Some(&*agent().name));
}

#[test]
fn every_step_says_whose_its_run_is_and_the_run_at_the_top_of_the_tree() {
    let mut state = AgentMachine::new(input(agent()), at(0)).state().clone();
    state.tags = RunTags {
        tenant: Some("acme".into()),
        owner: Some("ada".into()),
        labels: [("team".into(), "a".into())].into(),
    };
    let root = RunId::new("top").unwrap();
    state.tree.parent = Some(Box::new(Parent {
        run: RunId::new("top.1-1").unwrap(),
        root: root.clone(),
        key: Uuid::nil(),
        levels: 0,
        bounds: Vec::new(),
        signed: false,
        lease: None,
    }));
    let tags = state.tags.clone();
    let mut machine = AgentMachine::from(state);
    to_model_call(&mut machine);
    let Some(options) = model_call(&machine) else {
        panic!("{:?}", machine.next());
    };
    assert_eq!((&options.tags, &options.root), (&tags, &Some(root.clone())));
    model_ended(&mut machine, Ok(one_call("look")), 1);
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    let Some((_, options)) = calls_of(machine.next()) else {
        panic!("{:?}", machine.next());
    };
    assert_eq!((&options[0].tags, &options[0].root), (&tags, &Some(root)));
}

#[test]
fn a_run_starts_with_the_fingerprint_of_its_definition_and_says_whose_it_is() {
    let tags = RunTags {
        tenant: Some("acme".into()),
        ..RunTags::default()
    };
    let started = RunInput {
        tags: tags.clone(),
        ..input(agent())
    };
    let mut machine = AgentMachine::new(started, at(0));
    assert_eq!(machine.state().tags, tags);
    let events = machine.take_events();
    let [
        RunEvent::RunStarted {
            definition,
            tags: told,
            ..
        },
    ] = events.as_slice()
    else {
        panic!("{events:?}");
    };
    assert_eq!((definition, told), (&agent().fingerprint(), &tags));
}

#[test]
fn a_run_whose_caller_asks_for_too_much_ends_before_its_first_step() {
    let rejected = RunInput {
        rejected: Some(OverrideRejected::Model { model: "m".into() }),
        ..input(agent())
    };
    let machine = AgentMachine::new(rejected, at(0));
    assert_eq!(machine.next(), Action::Done);
    let output = machine.output(&RunId::new("r").unwrap(), "local");
    let error = output.error.unwrap();
    assert_eq!(error.kind, FailureKind::InvalidRequest);
    assert_eq!(
        error.message,
        "the run is not started as it was asked for: \"m\" names no provider: write provider/model"
    );
}

#[test]
fn a_run_whose_prompt_is_not_what_its_agent_is_given_ends_before_its_first_step() {
    let misfit = RunInput {
        mismatch: Some("it is no JSON".into()),
        ..input(agent())
    };
    let mut machine = AgentMachine::new(misfit, at(0));
    assert_eq!(machine.next(), Action::Done);
    assert_eq!(exit(&machine), ExitReason::Failed);
    let output = machine.output(&RunId::new("r").unwrap(), "local");
    let error = output.error.unwrap();
    assert_eq!(error.kind, FailureKind::InvalidRequest);
    assert_eq!(
        error.message,
        "the prompt is not the input that the agent default is given: it is no JSON"
    );
    assert_eq!((output.turns, output.usage.total()), (0, 0));
    let events = machine.take_events();
    assert!(
        matches!(
            events[..],
            [RunEvent::RunStarted { .. }, RunEvent::RunEnded { .. }]
        ),
        "{events:?}"
    );
}

#[test]
fn a_state_of_another_version_is_refused() {
    let machine = AgentMachine::new(input(agent()), at(0));
    let mut state = serde_json::to_value(&machine).unwrap();
    state["version"] = json!(99);
    let error = serde_json::from_value::<AgentMachine>(state).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the run was written by a newer version of neuron: state version 99, this one knows up to 4"
    );
}

#[test]
fn a_call_that_ends_the_run_has_the_others_left_first() {
    let three = calls(&[
        ("push", json!({})),
        ("push", json!({})),
        ("look", json!({})),
    ]);
    let mut machine = answered(agent(), three);
    authorize(&mut machine, vec![PermissionDecision::Allow; 3]);
    start(&mut machine, 2);
    let answer = |position, result| tool_ended(position, result);
    let failure = StepFailure::new(FailureKind::ToolInput, "never");
    machine.feed(answer(1, Err(failure)), at(3)).unwrap();
    assert_eq!(machine.next(), Action::LeaveCalls);
    // A write is waited for, and its result is kept.
    machine
        .feed(answer(2, Ok(tool_text("pushed"))), at(4))
        .unwrap();
    assert_eq!(machine.next(), Action::LeaveCalls);
    machine.feed(Observation::CallsLeft, at(5)).unwrap();
    assert_eq!(exit(&machine), ExitReason::Failed);
    let results = last_results(&machine);
    assert_eq!(results[1].content, [ContentItem::Text("pushed".into())]);
    let left = "not finished: the run ended while the call was in flight";
    assert_eq!(results[2].content, [ContentItem::Text(left.into())]);
}

#[test]
fn a_message_is_announced_at_once_and_read_before_the_next_model_call() {
    let mut machine = answered(agent(), one_call("look"));
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    let positions = start(&mut machine, 2);
    machine.take_events();
    let message = UserMessage {
        text: "hurry".into(),
    };
    machine
        .feed(Observation::MessageArrived(message), at(3))
        .unwrap();
    let events = machine.take_events();
    assert!(matches!(events[..], [RunEvent::MessageReceived { .. }]));
    let answered = tool_ended(positions[0], Ok(tool_text("x")));
    machine.feed(answered, at(4)).unwrap();
    to_model_call(&mut machine);
    assert_eq!(machine.messages().last().unwrap().text(), "hurry");
}

#[test]
fn a_call_is_answered_once_and_only_while_it_is_in_flight() {
    let mut machine = answered(agent(), calls(&[("look", json!({})), ("look", json!({}))]));
    authorize(&mut machine, vec![PermissionDecision::Allow; 2]);
    let answer = |position| tool_ended(position, Ok(tool_text("x")));
    let early = machine.feed(answer(1), at(2));
    assert_eq!(early, Err(MachineError::UnknownStep { position: 1 }));
    start(&mut machine, 2);
    machine.feed(answer(2), at(3)).unwrap();
    let twice = machine.feed(answer(2), at(3));
    assert_eq!(twice, Err(MachineError::UnknownStep { position: 2 }));
}

#[test]
fn a_model_call_in_flight_is_awaited_and_made_again_where_the_run_is_taken_up() {
    let mut machine = AgentMachine::new(input(agent()), at(0));
    to_model_call(&mut machine);
    let before = machine.clone();
    machine.feed(Observation::Started, at(1)).unwrap();
    let mut machine = reread(&machine);
    assert_eq!(machine.next(), Action::Wait { until: None });
    assert!(machine.wants(0));
    assert!(machine.inject_message(Message::user("wait")).is_err());
    let again = machine.feed(Observation::Started, at(1));
    assert!(matches!(again, Err(MachineError::Unexpected { .. })));
    let of_a_tool = machine.feed(tool_ended(0, Ok(tool_text("x"))), at(1));
    assert!(matches!(of_a_tool, Err(MachineError::OtherKind { .. })));
    let of_no_step = machine.feed(tool_ended(1, Ok(tool_text("x"))), at(1));
    assert!(matches!(of_no_step, Err(MachineError::UnknownStep { .. })));

    let door = TestDoor::new(vec![says("done")]);
    let state = machine.state().clone();
    let mut run = AgentLoop::resume(door.clone(), Keep, state);
    assert_eq!(run.machine().next(), before.next());
    block_on(run.run()).unwrap();
    assert_eq!(door.requests().len(), 1);
    assert_eq!(door.requests()[0].1.step, StepId::new(1, 0));

    machine.feed(model_answer(Ok(says("done"))), at(2)).unwrap();
    assert!(!machine.wants(0));
    assert_eq!(machine.next(), Action::TakeMessages);
}
