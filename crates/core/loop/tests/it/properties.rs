//! What holds for every run, whatever is observed.

use std::{collections::BTreeSet, time::Duration};

use neuron_loop::{Action, AgentMachine, Observation, Spent};
use neuron_types::{
    AgentSpec, Always, CallState, ContentBlock, Decision, FailureKind, FormRequest, GuardEnd,
    GuardOutcome, GuardPoint, GuardSpec, Guarded, JudgeSpec, Limits, Message, OnExpiry, OnHalt,
    OnUnknownOutcome, Outcome, Pending, PermissionDecision, Preview, RunPhase, RunStatus,
    StepFailure, StopReason, Ticket, TicketKind, ToolOutput, UserMessage, Verification,
    VerifyOutcome,
};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{
    agent, at, calls, input, model_answer, outcome_told, preview_ended, previewing_agent, reread,
    response, tool_ended, verified,
};
use crate::times::SECOND;

/// One choice of the world; what it means depends on what the machine asks for.
#[derive(Debug, Clone)]
struct Choice {
    kind: u8,
    many: usize,
    detail: u8,
}

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    let choice = (any::<u8>(), 0_usize..4, any::<u8>());
    let choice = choice.prop_map(|(kind, many, detail)| Choice { kind, many, detail });
    prop::collection::vec(choice, 0..80)
}

fn halting() -> impl Strategy<Value = OnHalt> {
    prop_oneof![Just(OnHalt::End), Just(OnHalt::Ask)]
}

fn agents() -> impl Strategy<Value = AgentSpec> {
    (
        prop::option::of(1_u32..6),
        prop::option::of(0_u32..5),
        prop::option::of(1_u64..2_000),
        prop::option::of(1_u64..40),
        prop::option::of(1_u64..60),
        any::<[bool; 7]>(),
        [halting(), halting()],
    )
        .prop_map(
            |(turns, tool_calls, tokens, seconds, deadline, flags, [on_failure, on_limit])| {
                let [parallel, fails, asks, previews, is_ordered, knows, judges] = flags;
                let mut spec = AgentSpec {
                    on_failure,
                    on_limit,
                    limits: Limits {
                        turns,
                        tool_calls,
                        tokens,
                        cost_usd: None,
                        duration: seconds.map(Duration::from_secs), // The test says what time it is.
                        deadline: deadline.map(Duration::from_secs), // The test says what time it is.
                    },
                    parallel_tools: parallel,
                    parallel_writes: !is_ordered,
                    calls_per_turn: Some(2),
                    approval_timeout: Some(5 * SECOND),
                    on_expiry: if fails {
                        OnExpiry::Fail
                    } else {
                        OnExpiry::Deny
                    },
                    on_unknown_outcome: if asks {
                        OnUnknownOutcome::AskPerson
                    } else {
                        OnUnknownOutcome::TellModel
                    },
                    ..if previews {
                        previewing_agent()
                    } else {
                        agent()
                    }
                };
                for tool in &mut spec.head_mut().tools {
                    tool.outcomes = knows;
                }
                if judges {
                    spec.guards.push(judge());
                }
                spec
            },
        )
}

fn observation(machine: &AgentMachine, choice: &Choice) -> Observation {
    if choice.kind.is_multiple_of(41) {
        return Observation::Cancelled { reason: None };
    }
    if choice.kind.is_multiple_of(29) && machine.clock().is_some() {
        return Observation::TimeOver {
            spent: Spent::default(),
        };
    }
    match machine.next() {
        Action::TakeMessages => {
            let count = if choice.kind.is_multiple_of(4) {
                choice.many
            } else {
                0
            };
            let message = UserMessage {
                text: "more".into(),
            };
            Observation::Messages(vec![message; count])
        }
        Action::Compact { required } => match choice.kind % 5 {
            0 => Observation::CompactionFailed {
                reason: "no".into(),
                tokens: 9,
                estimated: 4,
                spent: Spent::default(),
            },
            1 => compacted(machine),
            _ if required => compacted(machine),
            _ => Observation::ContextKept {
                tokens: 7,
                estimated: 3,
            },
        },
        Action::Authorize(unjudged) => {
            let decide = |n: usize| match (usize::from(choice.detail) + n) % 4 {
                0 => PermissionDecision::Deny("no".into()),
                1 => PermissionDecision::Ask("sure?".into()),
                _ => PermissionDecision::Allow,
            };
            Observation::Authorized((0..unjudged.len()).map(decide).collect())
        }
        // A decision may come before the steps that are due are started.
        Action::Start(_) if choice.kind % 6 == 5 && machine.has_open_tickets() => {
            decision(machine, choice)
        }
        Action::Start(_) => Observation::Started,
        _ if choice.kind.is_multiple_of(5) && inquiring(machine).is_some() => outcome_told(
            inquiring(machine).unwrap(),
            match choice.many {
                0 => Err(StepFailure::new(FailureKind::Terminated, "enough")),
                n => Ok((n > 1).then(|| ToolOutput::text("done"))),
            },
        ),
        _ if choice.kind.is_multiple_of(5) && screening(machine).is_some() => {
            screened(machine, choice)
        }
        _ if choice.kind.is_multiple_of(5) && previewing(machine).is_some() => {
            previewed(machine, choice)
        }
        _ if choice.kind.is_multiple_of(3) && verifying(machine).is_some() => {
            decided(machine, choice)
        }
        _ if choice.kind.is_multiple_of(17) => Observation::MessageArrived(UserMessage {
            text: "more".into(),
        }),
        _ if judging_answer(machine).is_some() => Observation::Ended {
            position: judging_answer(machine).unwrap(),
            result: verdict(choice).map(|said| Outcome::Guard(GuardOutcome::Output(said))),
        },
        // It is all that is in flight.
        _ if machine.state().in_flight.is_some() => model(choice),
        Action::LeaveCalls if choice.kind.is_multiple_of(2) => Observation::CallsLeft,
        Action::LeaveCalls | Action::Wait { .. } if is_any_running(machine) && choice.many > 0 => {
            let running: Vec<u32> = running(machine);
            let position = running[usize::from(choice.detail) % running.len()];
            let kinds = [
                FailureKind::ToolFailed,
                FailureKind::OutcomeUnknown,
                FailureKind::ToolInput,
                FailureKind::Timeout,
            ];
            let result = match choice.kind {
                n if n.is_multiple_of(5) => Err(StepFailure::new(
                    kinds[usize::from(choice.detail) % kinds.len()],
                    "bad",
                )),
                n if n.is_multiple_of(7) => Ok(ToolOutput::pending(pending(choice))),
                n => Ok(ToolOutput::text(n.to_string())),
            };
            tool_ended(position, result)
        }
        Action::LeaveCalls => Observation::CallsLeft,
        _ => decision(machine, choice),
    }
}

fn running(machine: &AgentMachine) -> Vec<u32> {
    let slots = machine.state().calls.iter();
    let running = slots.filter(|slot| matches!(slot.state, CallState::Running));
    running.map(|slot| slot.position).collect()
}

fn is_any_running(machine: &AgentMachine) -> bool {
    !running(machine).is_empty()
}

fn compacted(machine: &AgentMachine) -> Observation {
    let kept: Vec<Message> = machine.messages().iter().take(1).cloned().collect();
    Observation::Compacted {
        messages: kept,
        old_tokens: 9,
        new_tokens: 1,
        shortfall: None,
        spent: Spent::default(),
    }
}

fn model(choice: &Choice) -> Observation {
    let stops = [
        StopReason::ToolUse,
        StopReason::ToolUse,
        StopReason::EndTurn,
        StopReason::MaxTokens,
        StopReason::PauseTurn,
        StopReason::Refusal,
        StopReason::ContextWindowExceeded,
        StopReason::Other("new".into()),
    ];
    match choice.kind % 16 {
        0 => model_answer(Err(StepFailure::new(FailureKind::ContextLength, "long"))),
        1 => model_answer(Err(StepFailure::new(FailureKind::Unavailable, "gone"))),
        2 => model_answer(Ok(response(StopReason::EndTurn, vec![]))),
        _ => {
            let wanted: Vec<(&str, _)> = (0..choice.many)
                .map(|n| ("push", json!({ "n": n })))
                .collect();
            let mut answer = calls(&wanted);
            answer.message.content.push(ContentBlock::Text("so".into()));
            answer.stop_reason = stops[usize::from(choice.detail) % stops.len()].clone();
            model_answer(Ok(answer))
        }
    }
}

fn pending(choice: &Choice) -> Pending {
    if choice.detail.is_multiple_of(2) {
        return Pending::External {
            token_sha256: "9f86".into(),
            text: None,
            schema: None,
        };
    }
    Pending::Form {
        requests: vec![FormRequest {
            key: "name".into(),
            message: "Who?".into(),
            schema: Some(json!({"type": "string"})),
            url: None,
        }],
        state: Some(json!(choice.many)),
    }
}

/// The position of a verification in flight.
fn verifying(machine: &AgentMachine) -> Option<u32> {
    let mut tickets = machine.state().tickets.iter();
    tickets.find_map(|open| open.verifying)
}

/// The position of a preview in flight.
fn previewing(machine: &AgentMachine) -> Option<u32> {
    let mut slots = machine.state().calls.iter();
    let slot = slots.find(|slot| matches!(slot.state, CallState::Previewing(_)));
    slot.and_then(|slot| slot.in_flight)
}

/// The position of a call in flight that asks for an outcome.
fn inquiring(machine: &AgentMachine) -> Option<u32> {
    let mut slots = machine.state().calls.iter();
    let slot = slots.find(|slot| matches!(slot.state, CallState::Inquiring(_)));
    slot.and_then(|slot| slot.in_flight)
}

fn judge() -> GuardSpec {
    GuardSpec {
        name: "judge".into(),
        at: [GuardPoint::Result, GuardPoint::Output].into(),
        settings: String::new(),
        judge: Some(Box::new(JudgeSpec {
            model: "judges/small".into(),
            max_tokens: 10,
            frame: 20,
            tools: BTreeSet::new(),
        })),
    }
}

/// The position of a step in flight in which judges look at a result.
fn screening(machine: &AgentMachine) -> Option<u32> {
    let mut slots = machine.state().calls.iter();
    let slot = slots.find(|slot| matches!(slot.state, CallState::Screening(_)));
    slot.and_then(|slot| slot.in_flight)
}

/// The position of a step in flight in which judges look at an answer.
fn judging_answer(machine: &AgentMachine) -> Option<u32> {
    let state = machine.state();
    let is_judged = matches!(state.stage, neuron_types::Stage::GuardAnswer(_));
    state.in_flight.filter(|_| is_judged)
}

fn screened(machine: &AgentMachine, choice: &Choice) -> Observation {
    let said = verdict(choice).map(|said| Outcome::Guard(GuardOutcome::Result(vec![said])));
    Observation::Ended {
        position: screening(machine).unwrap(),
        result: said,
    }
}

fn verdict(choice: &Choice) -> Result<Guarded, StepFailure> {
    let ends = [
        GuardEnd::Pass,
        GuardEnd::Ask("sure?".into()),
        GuardEnd::Block("no".into()),
        GuardEnd::Trip("enough".into()),
    ];
    let said = Guarded {
        end: ends[usize::from(choice.detail) % ends.len()].clone(),
        ..Guarded::default()
    };
    match choice.many {
        0 => Err(StepFailure::new(FailureKind::Unavailable, "gone")),
        _ => Ok(said),
    }
}

fn previewed(machine: &AgentMachine, choice: &Choice) -> Observation {
    let preview = Preview {
        diff: (choice.detail.is_multiple_of(2)).then(|| "+a\n".into()),
        text: (choice.many == 1).then(|| "so".into()),
        fingerprint: (choice.many > 1).then(|| "f".into()),
    };
    preview_ended(
        previewing(machine).unwrap(),
        Some(preview).filter(|_| choice.many > 0),
    )
}

fn decided(machine: &AgentMachine, choice: &Choice) -> Observation {
    let verification = match choice.detail % 4 {
        0 => VerifyOutcome::rejected("no such key"),
        n => VerifyOutcome::Taken(Verification {
            verified: n == 1,
            approver: ["ada", "bob"].get(choice.many).map(|name| (*name).into()),
            by_token: n == 2,
            ..Verification::default()
        }),
    };
    verified(verifying(machine).unwrap(), verification)
}

fn decision(machine: &AgentMachine, choice: &Choice) -> Observation {
    let tickets = machine.output(&"r".parse().unwrap(), "local").approvals;
    let ticket = tickets.get(choice.many % tickets.len().max(1));
    let may_lapse = matches!(machine.next(), Action::Wait { .. });
    match (choice.kind % 6, ticket) {
        (0, _) | (_, None) if may_lapse => Observation::TicketsLapsed,
        (_, None) => Observation::MessageArrived(UserMessage::new("more")),
        (kind, Some(ticket)) => {
            let decision = match (ticket.kind, choice.detail % 5) {
                (TicketKind::Failure | TicketKind::Budget, 0) => Decision::choose(ticket, "end"),
                (_, 0) => Decision::deny(ticket),
                (TicketKind::Call, _) => Decision::approve(ticket),
                (TicketKind::UnknownOutcome, 1) => Decision::choose(ticket, "end"),
                (TicketKind::UnknownOutcome, 2) => Decision::choose(ticket, "happened:7"),
                (TicketKind::UnknownOutcome, 3) => Decision::choose(ticket, "retry"),
                (TicketKind::Failure, 1..4) => Decision::choose(ticket, "retry"),
                (TicketKind::Budget, 1) => Decision::choose(ticket, "extend:turns=2"),
                (TicketKind::Budget, 2) => Decision::choose(ticket, "extend:tool_calls=2"),
                (TicketKind::Budget, 3) => Decision::choose(ticket, "extend:deadline=1m"),
                (TicketKind::Failure | TicketKind::Budget, _) => Decision::choose(ticket, "end"),
                (TicketKind::Form, 1 | 2) => Decision::fill(ticket, json!({"name": "Ada"})),
                (TicketKind::Form, _) => Decision::fill(ticket, json!({})),
                (TicketKind::External, 1..4) => Decision::complete(ticket, json!([1])),
                _ => Decision::choose(ticket, "nothing"),
            };
            Observation::DecisionArrived(Decision {
                digest: if kind == 1 {
                    "wrong".into()
                } else {
                    ticket.digest.clone()
                },
                args: (kind == 4 && ticket.kind == TicketKind::Call)
                    .then(|| json!({"edited": true}))
                    .or(decision.args),
                always: [Always::Call, Always::Tool]
                    .into_iter()
                    .nth(choice.many % 3)
                    .filter(|_| ticket.kind == TicketKind::Call),
                ..decision
            })
        }
    }
}

/// Every call in the conversation is answered once, in order, by the very next message; only the calls of
/// the turn under way may still be open.
fn assert_calls_are_answered(machine: &AgentMachine) {
    let messages = machine.messages();
    for (index, message) in messages.iter().enumerate() {
        let asked: Vec<&str> = message.content.iter().filter_map(call_id).collect();
        let under_way = index + 1 == messages.len() && !machine.state().calls.is_empty();
        if asked.is_empty() || under_way {
            continue;
        }
        let answers: Vec<&str> = messages[index + 1]
            .content
            .iter()
            .filter_map(answered_id)
            .collect();
        assert_eq!(asked, answers);
    }
    let asked = messages
        .iter()
        .flat_map(|m| &m.content)
        .filter_map(call_id)
        .count();
    let answers = messages
        .iter()
        .flat_map(|m| &m.content)
        .filter_map(answered_id)
        .count();
    assert_eq!(asked, answers + machine.state().calls.len());
}

fn call_id(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::ToolUse { id, .. } => Some(id),
        _ => None,
    }
}

fn answered_id(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::ToolResult(result) => Some(&result.tool_use_id),
        _ => None,
    }
}

/// A step is in flight for a call in the states that have one and in no other, at a position of its own, and nothing
/// happened to a call that has no step.
fn assert_steps_fit(machine: &AgentMachine) {
    let state = machine.state();
    for slot in &state.calls {
        let is_in_flight = matches!(
            slot.state,
            CallState::Running
                | CallState::Previewing(_)
                | CallState::Inquiring(_)
                | CallState::Screening(_)
        );
        assert_eq!(slot.in_flight.is_some(), is_in_flight, "{slot:?}");
    }
    let verifying = state.tickets.iter().filter_map(|open| open.verifying);
    let calls = state.calls.iter().filter_map(|slot| slot.in_flight);
    let positions: Vec<u32> = calls.chain(verifying).collect();
    let distinct: BTreeSet<&u32> = positions.iter().collect();
    assert_eq!(distinct.len(), positions.len(), "{positions:?}");
    let error = state.ending.as_ref();
    assert!(
        error.is_none_or(|error| error.kind != FailureKind::Internal),
        "{error:?}"
    );
}

fn assert_limits_hold(machine: &AgentMachine) {
    let (state, limits) = (machine.state(), &machine.agent().limits);
    if let Some(most) = limits.turns {
        let counted = state.turn - state.turns_again;
        assert!(counted <= most, "turn {counted} of {most}");
    }
    if let Some(most) = limits.tokens {
        let used = state.usage.total() + state.budget.reserved.tokens;
        assert!(used <= most, "{used} tokens of {most}");
    }
    let again = matches!(
        machine.agent().on_unknown_outcome,
        OnUnknownOutcome::AskPerson
    );
    if let (Some(most), false) = (limits.tool_calls, again) {
        assert!(
            state.tool_calls <= most,
            "{} calls of {most}",
            state.tool_calls
        );
    }
}

/// What is shown of a run follows from how the machine is, whatever happened last: it waits while a ticket is open and nothing of
/// it is under way.
fn assert_status_follows(machine: &AgentMachine, status: &RunStatus) {
    let output = machine.output(&status.run_id, "local");
    assert_eq!(status.state, output.state);
    let blocked = status.blocked.as_ref().map(|blocked| blocked.since);
    let waits = output.state == RunPhase::WaitingForApproval;
    let ids = |tickets: &[Ticket]| -> Vec<String> {
        let ids = tickets.iter().map(|open| open.ticket.clone());
        ids.filter(|_| waits).collect()
    };
    assert_eq!(ids(&status.approvals), ids(&output.approvals));
    let oldest = output.approvals.first().map(|ticket| ticket.opened_at);
    assert_eq!(blocked, oldest.filter(|_| waits));
    let is_parked = matches!(machine.next(), Action::Wait { .. })
        && machine.state().in_flight.is_none()
        && !is_any_running(machine)
        && verifying(machine).is_none()
        && previewing(machine).is_none()
        && inquiring(machine).is_none()
        && screening(machine).is_none();
    assert!(waits || !is_parked, "{:?}", machine.next());
}

proptest! {
    #[test]
    fn the_status_says_how_the_run_is_and_not_what_happened_last(
        spec in agents(),
        choices in choices(),
    ) {
        let mut machine = AgentMachine::new(input(spec), at(0));
        let mut status = RunStatus::new("r".parse().unwrap(), "local", "default", at(0));
        for (seconds, choice) in choices.iter().enumerate() {
            let now = at(i64::try_from(seconds).unwrap());
            if machine.next() == Action::Done {
                break;
            }
            let observation = observation(&machine, choice);
            // As a viewer of a run does: after the events of one observation.
            machine.feed(observation, now).unwrap();
            for event in machine.take_events() {
                status.apply(&event, now);
            }
            assert_status_follows(&machine, &status);
        }
    }

    #[test]
    fn any_run_is_valid_at_every_step(spec in agents(), choices in choices()) {
        let mut machine = AgentMachine::new(input(spec), at(0));
        for (seconds, choice) in choices.iter().enumerate() {
            let action = machine.next();
            prop_assert_eq!(&machine.next(), &action, "next is pure");
            if action == Action::Done {
                break;
            }
            let observation = observation(&machine, choice);
            machine.feed(observation, at(i64::try_from(seconds).unwrap())).unwrap();
            assert_calls_are_answered(&machine);
            assert_limits_hold(&machine);
            assert_steps_fit(&machine);
        }
    }

    #[test]
    fn serialising_at_any_step_changes_nothing_that_follows(
        spec in agents(),
        choices in choices(),
    ) {
        let mut machine = AgentMachine::new(input(spec), at(0));
        let mut moved = reread(&machine);
        for (seconds, choice) in choices.iter().enumerate() {
            if machine.next() == Action::Done {
                break;
            }
            let now = at(i64::try_from(seconds).unwrap());
            machine.feed(observation(&machine, choice), now).unwrap();
            let text = serde_json::to_string(&observation(&moved, choice)).unwrap();
            moved.feed(serde_json::from_str(&text).unwrap(), now).unwrap();
            moved = reread(&moved);
            prop_assert_eq!(&machine, &moved);
            prop_assert_eq!(machine.take_events(), moved.take_events());
        }
    }

    #[test]
    fn an_observation_that_does_not_fit_changes_nothing(
        spec in agents(),
        choices in choices(),
        wrong in any::<u8>(),
    ) {
        let mut machine = AgentMachine::new(input(spec), at(0));
        for choice in &choices {
            let before = machine.clone();
            let misfits = [
                Observation::Messages(vec![]),
                model_answer(Err(StepFailure::new(FailureKind::Network, "x"))),
                Observation::Authorized(vec![PermissionDecision::Allow; 9]),
                tool_ended(9, Ok(ToolOutput::text("x"))),
                Observation::Started,
                Observation::CallsLeft,
                verified(9, VerifyOutcome::rejected("no")),
                preview_ended(9, None),
                outcome_told(9, Ok(None)),
                Observation::ContextKept { tokens: 1, estimated: 1 },
            ];
            let misfit = misfits[usize::from(wrong) % misfits.len()].clone();
            if machine.feed(misfit, at(0)).is_err() {
                prop_assert_eq!(&machine, &before);
            } else {
                machine = before;
            }
            if machine.next() == Action::Done {
                break;
            }
            machine.feed(observation(&machine, choice), at(0)).unwrap();
        }
    }

    #[test]
    fn an_ended_run_takes_no_further_observation(spec in agents(), choices in choices()) {
        let mut machine = AgentMachine::new(input(spec), at(0));
        machine.feed(Observation::Cancelled { reason: None }, at(0)).unwrap();
        let ended = machine.clone();
        for choice in &choices {
            prop_assert!(machine.feed(observation(&machine, choice), at(1)).is_err());
            prop_assert_eq!(&machine, &ended);
        }
    }
}
