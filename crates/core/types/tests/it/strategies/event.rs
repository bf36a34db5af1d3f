use neuron_types::{GuardPoint, HandedConversation, RecordedEvent, RunEvent, TicketKind};
use proptest::{collection::btree_map, option, prelude::*};
use uuid::Uuid;

use super::{
    approval::{decision, ticket, verdict},
    decimal, few, json, moment, one_of,
    response::{spent, stop_reason, token_usage},
    run::{amount, exit_reason, run_error, run_id, run_phase, run_tags, trace_context},
    step::{failure, failure_kind},
    text,
};

prop_compose! {
    fn run_started()(
        [agent, model, prompt, definition] in [text(), text(), text(), text()],
        tags in run_tags(),
        nonce in option::of(any::<u128>().prop_map(Uuid::from_u128)),
        trace in option::of(trace_context()),
        directory in option::of(text()),
        signed in any::<bool>(),
    ) -> RunEvent {
        RunEvent::RunStarted { agent, model, prompt, definition, tags, nonce, trace, directory, signed }
    }
}

prop_compose! {
    fn model_responded()(
        turn in any::<u32>(),
        stop_reason in stop_reason(),
        text in option::of(text()),
        usage in token_usage(),
        cost_usd in option::of(decimal()),
        model in option::of(text()),
        spent_before in option::of(spent()),
    ) -> RunEvent {
        RunEvent::ModelResponded { turn, stop_reason, text, usage, cost_usd, model, spent_before }
    }
}

prop_compose! {
    fn tool_called()(
        turn in any::<u32>(),
        call_id in text(),
        tool in text(),
        args in json(),
    ) -> RunEvent {
        RunEvent::ToolCalled { turn, call_id, tool, args }
    }
}

prop_compose! {
    fn child_started()(
        turn in any::<u32>(),
        [call_id, agent] in [text(), text()],
        run_id in run_id(),
        background in any::<bool>(),
    ) -> RunEvent {
        RunEvent::ChildStarted { turn, call_id, run_id, agent, background }
    }
}

prop_compose! {
    fn child_ended()(
        run_id in run_id(),
        exit_reason in exit_reason(),
        usage in token_usage(),
        cost_usd in option::of(decimal()),
        reserved in amount(),
    ) -> RunEvent {
        RunEvent::ChildEnded { run_id, exit_reason, usage, cost_usd, reserved }
    }
}

prop_compose! {
    fn call_charged()([turn, attempts] in any::<[u32; 2]>(), charged in amount()) -> RunEvent {
        RunEvent::CallCharged { turn, attempts, charged }
    }
}

prop_compose! {
    fn call_exceeded()(turn in any::<u32>(), held in amount(), used in amount()) -> RunEvent {
        RunEvent::CallExceeded { turn, held, used }
    }
}

prop_compose! {
    fn tool_finished()(
        turn in any::<u32>(),
        call_id in text(),
        tool in text(),
        is_error in any::<bool>(),
        failure in option::of(failure_kind()),
        reason in option::of(text()),
    ) -> RunEvent {
        RunEvent::ToolFinished { turn, call_id, tool, is_error, failure, reason }
    }
}

prop_compose! {
    fn approval_decided()(
        decision in decision(),
        kind in one_of(&TicketKind::ALL),
        verified in any::<bool>(),
        key in option::of(text()),
        id in option::of(text()),
    ) -> RunEvent {
        RunEvent::ApprovalDecided {
            ticket: decision.ticket,
            kind,
            verdict: decision.verdict,
            digest: decision.digest,
            approver: decision.approver,
            verified,
            key,
            decided_at: decision.at,
            comment: decision.comment,
            args: decision.args,
            text: decision.text,
            choice: decision.choice,
            output: decision.output,
            decision: id,
        }
    }
}

prop_compose! {
    fn approval_given()(
        decision in decision(),
        verified in any::<bool>(),
        key in option::of(text()),
        remaining in any::<u32>(),
        id in option::of(text()),
    ) -> RunEvent {
        RunEvent::ApprovalGiven {
            ticket: decision.ticket,
            digest: decision.digest,
            approver: decision.approver,
            verified,
            key,
            decided_at: decision.at,
            comment: decision.comment,
            args: decision.args,
            remaining,
            decision: id,
        }
    }
}

prop_compose! {
    fn judged()(
        turn in any::<u32>(),
        point in one_of(&GuardPoint::ALL),
        call_id in option::of(text()),
        usage in token_usage(),
        cost_usd in option::of(decimal()),
    ) -> RunEvent {
        RunEvent::Judged { turn, point, call_id, usage, cost_usd }
    }
}

prop_compose! {
    fn context_compacted()(
        old_tokens in any::<u64>(),
        new_tokens in any::<u64>(),
        usage in token_usage(),
        cost_usd in option::of(decimal()),
    ) -> RunEvent {
        RunEvent::ContextCompacted { old_tokens, new_tokens, usage, cost_usd }
    }
}

prop_compose! {
    fn compaction_failed()(
        reason in text(),
        usage in token_usage(),
        cost_usd in option::of(decimal()),
    ) -> RunEvent {
        RunEvent::CompactionFailed { reason, usage, cost_usd }
    }
}

prop_compose! {
    fn run_ended()(
        exit_reason in exit_reason(),
        output in option::of(text()),
        error in option::of(run_error()),
        pools in option::of(btree_map(text(), amount(), 0..3)),
    ) -> RunEvent {
        RunEvent::RunEnded { exit_reason, output, error, pools }
    }
}

pub(crate) fn run_event() -> BoxedStrategy<RunEvent> {
    prop_oneof![
        run_started(),
        (any::<u16>(), text(), text()).prop_map(|(scope, agent, prompt)| RunEvent::AgentAsked {
            scope,
            agent,
            prompt
        }),
        any::<u32>().prop_map(|turn| RunEvent::TurnStarted { turn }),
        model_responded(),
        (any::<u32>(), failure())
            .prop_map(|(turn, failure)| RunEvent::ModelFailed { turn, failure }),
        (any::<u32>(), text()).prop_map(|(turn, reason)| RunEvent::AnswerRejected { turn, reason }),
        (any::<u32>(), few(text())).prop_map(|(turn, what)| RunEvent::LeftOut { turn, what }),
        tool_called(),
        child_started(),
        child_ended(),
        call_charged(),
        call_exceeded(),
        tool_finished(),
        any::<u32>().prop_map(|turn| RunEvent::TurnEnded { turn }),
        (any::<u32>(), ticket().boxed())
            .prop_map(|(turn, ticket)| RunEvent::ApprovalRequested { turn, ticket }),
        approval_decided().boxed(),
        approval_given().boxed(),
        (text(), text(), option::of(moment())).prop_map(|(ticket, to, expires_at)| {
            RunEvent::ApprovalEscalated {
                ticket,
                to,
                expires_at,
            }
        }),
        (text(), text(), option::of(text())).prop_map(|(ticket, reason, decision)| {
            RunEvent::ApprovalRefused {
                ticket,
                reason,
                decision,
            }
        }),
        (any::<u32>(), text(), text(), verdict(), option::of(text())).prop_map(
            |(turn, call_id, tool, verdict, approver)| RunEvent::DecisionRepeated {
                turn,
                call_id,
                tool,
                verdict,
                approver,
            }
        ),
        text().prop_map(|ticket| RunEvent::ApprovalExpired { ticket }),
        text().prop_map(|text| RunEvent::MessageReceived { text }),
        (
            any::<u32>(),
            [text(), text()],
            few(text()),
            option::of(text()),
            any::<bool>()
        )
            .prop_map(
                |(turn, [from, to], changes, by, signed)| RunEvent::Upgraded {
                    turn,
                    from,
                    to,
                    changes,
                    by,
                    signed,
                }
            ),
        (
            any::<u32>(),
            [text(), text(), text(), text()],
            any::<bool>()
        )
            .prop_map(|(turn, [from, to, reason, definition], signed)| {
                RunEvent::HandedOver {
                    turn,
                    from,
                    to,
                    reason,
                    conversation: HandedConversation::Summary,
                    definition,
                    signed,
                }
            }),
        (
            any::<u32>(),
            one_of(&GuardPoint::ALL),
            [text(), text(), text()],
            option::of(text())
        )
            .prop_map(|(turn, point, [guard, verdict, reason], call_id)| {
                RunEvent::Guarded {
                    turn,
                    point,
                    guard,
                    verdict,
                    reason,
                    call_id,
                }
            }),
        judged(),
        (text(), text()).prop_map(|(name, reason)| RunEvent::SignalIgnored { name, reason }),
        context_compacted(),
        compaction_failed(),
        run_phase().prop_map(|state| RunEvent::Waiting { state }),
        run_ended(),
    ]
    .boxed()
}

prop_compose! {
    pub(crate) fn recorded_event()(
        seq in any::<u64>(),
        at in moment(),
        event in run_event(),
    ) -> RecordedEvent {
        RecordedEvent { seq, at, event }
    }
}
