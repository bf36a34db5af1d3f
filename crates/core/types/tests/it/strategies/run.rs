use std::time::Duration;

use neuron_types::{
    Allowance, Amount, Asking, Blocked, BlockedKind, Budget, CallState, Child, ChildStatus,
    ContextRecord, Doubted, ExitReason, Halt, HaltReason, HandedOver, Handover, Held, JudgedAnswer,
    Lease, LeaseRequest, Leased, Lineage, LoadedTools, Milestone, PendingCall, Pooled, RawSignals,
    RepeatedCalls, Reported, ReturnedResult, RunError, RunId, RunOutcome, RunOutput, RunPhase,
    RunSignal, RunState, RunStatus, RunTags, Spent, Stage, StateVersion, TokenCalibration,
    TraceContext, Tree, UpgradeRequest, UserMessage,
};
use proptest::{
    collection::{btree_map, btree_set},
    option,
    prelude::*,
};
use uuid::Uuid;

use super::{
    agent::{agent_origin, agent_spec, handed_conversation, limit_overrides, limits, parent},
    approval::{open_ticket, ticket},
    decimal,
    event::run_event,
    few,
    message::{message, tool_result},
    moment, one_of,
    response::token_usage,
    step::failure_kind,
    text,
    tool::{call, output},
};
use crate::samples::run::{EXIT_REASONS, PHASES};

pub(crate) fn run_id() -> impl Strategy<Value = RunId> {
    "[A-Za-z0-9][A-Za-z0-9._-]{0,127}".prop_map(|id| RunId::new(id).unwrap())
}

pub(crate) fn run_phase() -> impl Strategy<Value = RunPhase> {
    one_of(&PHASES)
}

pub(crate) fn exit_reason() -> impl Strategy<Value = ExitReason> {
    one_of(&EXIT_REASONS)
}

pub(crate) fn user_message() -> impl Strategy<Value = UserMessage> {
    text().prop_map(|text| UserMessage { text })
}

prop_compose! {
    pub(crate) fn run_error()(kind in failure_kind(), message in text()) -> RunError {
        RunError { kind, message }
    }
}

prop_compose! {
    pub(crate) fn run_output()(
        run_id in run_id(),
        engine in text(),
        agent in text(),
        state in run_phase(),
        exit_reason in option::of(exit_reason()),
        output in option::of(text()),
        turns in any::<u32>(),
        usage in token_usage(),
        cost_usd in option::of(decimal()),
        tree in option::of((token_usage(), option::of(decimal()))),
        (reserved, pools) in (amount(), option::of(btree_map(text(), amount(), 0..3))),
        error in option::of(run_error()),
        approvals in few(ticket()),
    ) -> RunOutput {
        RunOutput {
            run_id,
            engine,
            agent,
            state,
            exit_reason,
            output,
            turns,
            usage,
            cost_usd,
            tree: tree.map(|(usage, cost_usd)| Box::new(Spent::new(usage, cost_usd))),
            reserved,
            pools,
            error,
            approvals,
        }
    }
}

prop_compose! {
    pub(crate) fn run_tags()(
        tenant in option::of(text()),
        owner in option::of(text()),
        labels in btree_map(text(), text(), 0..3),
    ) -> RunTags {
        RunTags { tenant, owner, labels }
    }
}

prop_compose! {
    pub(crate) fn run_status()(
        output in run_output(),
        (last_message, began_as) in (option::of(text()), option::of(text())),
        children in few(child_status()),
        (tree_usage, tree_cost_usd) in (token_usage(), option::of(decimal())),
        started_at in moment(),
        updated_at in moment(),
        definition in option::of(text()),
        blocked in option::of((moment(), text())),
        RunTags { tenant, owner, labels } in run_tags(),
        (nonce, trace) in (option::of(any::<u128>().prop_map(Uuid::from_u128)), option::of(trace_context())),
        directory in option::of(text()),
        signed in any::<bool>(),
    ) -> RunStatus {
        RunStatus {
            run_id: output.run_id,
            engine: output.engine,
            agent: output.agent,
            began_as,
            state: output.state,
            turn: output.turns,
            usage: output.usage,
            cost_usd: output.cost_usd,
            approvals: output.approvals,
            last_message,
            children,
            tree_usage,
            tree_cost_usd,
            reserved: output.reserved,
            pools: output.pools,
            started_at,
            updated_at,
            error: output.error,
            definition,
            tenant,
            owner,
            labels,
            nonce,
            trace,
            directory,
            signed,
            blocked: blocked.map(|(since, detail)| Blocked::new(BlockedKind::NoWorker, since, detail)),
        }
    }
}

prop_compose! {
    pub(crate) fn run_outcome()(
        exit_reason in exit_reason(),
        error in option::of(run_error()),
    ) -> RunOutcome {
        RunOutcome { exit_reason, error }
    }
}

fn halt() -> impl Strategy<Value = Halt> {
    let reason = prop_oneof![
        run_error().prop_map(HaltReason::Failure),
        exit_reason().prop_map(HaltReason::Limit),
        few((any::<usize>(), text())).prop_map(|doubted| {
            let doubted = doubted.into_iter();
            HaltReason::Input(
                doubted
                    .map(|(message, reason)| Doubted { message, reason })
                    .collect(),
            )
        }),
        text().prop_map(HaltReason::Output),
        text().prop_map(HaltReason::Loop),
    ];
    (text(), reason).prop_map(|(ticket, reason)| Halt { ticket, reason })
}

pub(crate) fn stage() -> impl Strategy<Value = Stage> {
    prop_oneof![
        any::<bool>().prop_map(|closing| Stage::TakeInput { closing }),
        Just(Stage::GuardInput),
        Just(Stage::ReviewContext),
        Just(Stage::CallModel),
        (
            super::response::completion_response().boxed(),
            proptest::option::of(0..1_000_000_u64)
        )
            .prop_map(
                |(response, lowered)| Stage::GuardAnswer(Box::new(JudgedAnswer {
                    response,
                    lowered
                }))
            ),
        Just(Stage::JudgeCalls),
        Just(Stage::Tools),
        Just(Stage::Upgrade),
        run_outcome().prop_map(Stage::Ended),
    ]
}

/// In a box, since outputs are large and states have many of them.
fn returned() -> BoxedStrategy<Box<ReturnedResult>> {
    let parts = (output(), any::<bool>());
    let result = |(output, inquired)| Box::new(ReturnedResult { output, inquired });
    parts.prop_map(result).boxed()
}

pub(crate) fn call_state() -> impl Strategy<Value = CallState> {
    prop_oneof![
        Just(CallState::Unguarded),
        Just(CallState::Guarding),
        Just(CallState::Unjudged),
        Just(CallState::Ready),
        Just(CallState::Running),
        Just(CallState::Delegated),
        Just(CallState::Asked),
        text().prop_map(|reason| CallState::Unseen(Asking::new(reason))),
        text().prop_map(|reason| CallState::Previewing(Asking::new(reason))),
        text().prop_map(CallState::Unknown),
        text().prop_map(CallState::Inquiring),
        returned().prop_map(CallState::Returned),
        returned().prop_map(CallState::Screening),
        tool_result().prop_map(CallState::Done),
    ]
}

prop_compose! {
    pub(crate) fn pending_call()(
        call in call(),
        position in any::<u32>(),
        [edited, replaced] in any::<[bool; 2]>(),
        doubt in option::of(text()),
        [tickets, rounds] in any::<[u32; 2]>(),
        state in call_state(),
        (in_flight, held) in (option::of(any::<u32>()), option::of(held())),
    ) -> PendingCall {
        PendingCall {
            call, position, edited, replaced, tickets, rounds, state, in_flight, held,
            doubt: doubt.map(Asking::new),
        }
    }
}

prop_compose! {
    fn context_record()(
        [estimated, reported, unreported, known, compact_from, tokens] in any::<[u64; 6]>(),
        [turns, tool_calls, continuations] in any::<[u32; 3]>(),
        (counted_messages, overflowed) in any::<(usize, bool)>(),
        (said, messages, [uncounted_tools, tools_since]) in any::<(u64, usize, [u32; 2])>(),
    ) -> ContextRecord {
        ContextRecord {
            tokens: known,
            counted_messages,
            reported: Reported { tokens: said, messages, tools_since },
            uncounted_tools,
            estimated: unreported,
            calibration: TokenCalibration { estimated, reported },
            compact_from,
            overflowed,
            continuations,
            reminded: Milestone { turns, tool_calls, tokens },
        }
    }
}

prop_compose! {
    pub(crate) fn amount()(tokens in any::<u64>(), cost_usd in decimal()) -> Amount {
        Amount { tokens, cost_usd }
    }
}

prop_compose! {
    pub(crate) fn allowance()(tokens in option::of(any::<u64>()), cost_usd in option::of(decimal())) -> Allowance {
        Allowance { tokens, cost_usd }
    }
}

fn pooled<T: std::fmt::Debug + Clone + 'static>(
    of: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Pooled<T>> {
    let of = of.boxed();
    let pools = btree_map(text(), of.clone(), 0..3);
    (of, pools).prop_map(|(own, pools)| Pooled { own, pools })
}

prop_compose! {
    pub(crate) fn held()(output in any::<u64>(), amount in amount(), attempts in any::<u32>()) -> Held {
        Held { output, amount, attempts }
    }
}

prop_compose! {
    pub(crate) fn lease()(
        pooled in pooled(allowance()),
        within in any::<u32>(),
    ) -> Lease {
        Lease {
            granted: pooled,
            within: Duration::from_millis(within.into()), // Only compared, never waited for.
        }
    }
}

prop_compose! {
    fn leased()(
        lease in lease(),
        heard_at in moment(),
        requests in any::<u32>(),
        (asked_at, asked_for) in (option::of(moment()), option::of(run_id())),
        [is_pending, is_waiting, is_over] in any::<[bool; 3]>(),
    ) -> Leased {
        Leased { lease, heard_at, requests, asked_at, asked_for, is_pending, is_waiting, is_over }
    }
}

prop_compose! {
    fn lease_request()(
        run in run_id(),
        key in any::<u128>(),
        number in any::<u32>(),
        (need, want) in (pooled(amount()), pooled(amount())),
    ) -> LeaseRequest {
        LeaseRequest { run, key: Uuid::from_u128(key), number, need, want }
    }
}

prop_compose! {
    fn budget()(
        (held, again) in (option::of(held()), any::<u32>()),
        reserved in amount(),
        pools in btree_map(text(), amount(), 0..3),
        lease in option::of(leased()),
        requests in few(lease_request()),
        (asks_person, to_tell) in (any::<bool>(), few((run_id(), text(), text()))),
    ) -> Budget {
        let to_tell = to_tell.into_iter().map(|(run, name, said)| RunSignal { run, name, payload: said.into() });
        Budget {
            held,
            again,
            reserved,
            pools,
            lease: lease.map(Box::new),
            requests,
            asks_person,
            to_tell: to_tell.collect(),
        }
    }
}

prop_compose! {
    fn child()(
        run in run_id(),
        agent in text(),
        position in any::<Option<u32>>(),
        leased in pooled(amount()),
        answered in any::<u32>(),
        [heard_at, looked_at] in [option::of(moment()), option::of(moment())],
    ) -> Child {
        Child { run, agent, position, leased, answered, heard_at, looked_at }
    }
}

prop_compose! {
    fn tree()(
        parent in option::of(parent().boxed()),
        secret in option::of(any::<u128>().prop_map(Uuid::from_u128)),
        children in few(child()),
        reserved in amount(),
        started in any::<u32>(),
        usage in token_usage(),
        cost_usd in option::of(decimal()),
        is_waiting in any::<bool>(),
    ) -> Tree {
        Tree {
            parent: parent.map(Box::new),
            secret,
            children,
            started,
            usage,
            cost_usd,
            reserved,
            is_waiting,
        }
    }
}

prop_compose! {
    fn child_status()(
        run_id in run_id(),
        agent in text(),
        state in run_phase(),
        usage in token_usage(),
        cost_usd in option::of(decimal()),
    ) -> ChildStatus {
        ChildStatus { run_id, agent, state, usage, cost_usd }
    }
}

/// One with a decision about whether it is recorded, and one without.
pub(crate) fn trace_context() -> impl Strategy<Value = TraceContext> {
    let text = "00-[1-9a-f][0-9a-f]{31}-[1-9a-f][0-9a-f]{15}(-0[01])?( [a-z]=[0-9]{1,5})?";
    text.prop_map(|text: String| text.parse().unwrap())
}

prop_compose! {
    fn lineage()(
        nonce in option::of(any::<u128>().prop_map(Uuid::from_u128)),
        origin in option::of(run_id()),
        epoch in any::<u32>(),
        patches in btree_set(text(), 0..3),
        signed in any::<bool>(),
        trace in option::of(trace_context()),
    ) -> Lineage {
        Lineage { nonce, origin, epoch, patches, signed, trace }
    }
}

prop_compose! {
    fn raw_signals()(looked_at in any::<u32>(), dropped_at in option::of(moment())) -> RawSignals {
        RawSignals { looked_at, dropped_at }
    }
}

prop_compose! {
    fn handover()(
        [to, reason] in [text(), text()],
        conversation in handed_conversation(),
    ) -> Handover {
        Handover { to, reason, conversation, found: None }
    }
}

prop_compose! {
    fn handed_over()(began_as in text(), limits in limits()) -> HandedOver {
        HandedOver { began_as, limits }
    }
}

prop_compose! {
    pub(crate) fn run_state()(
        [turn, tool_calls, mismatches, own_calls] in any::<[u32; 4]>(),
        agent in agent_spec().boxed(),
        conversation in few(message()),
        (tags, lineage, run) in (run_tags(), lineage(), option::of(run_id())),
        (directory, definition) in (option::of(text()), text()),
        (origin, raised, upgrade, handover, handed) in (
            option::of(agent_origin()),
            limit_overrides(),
            option::of(option::of(text()).prop_map(|by| UpgradeRequest { by })),
            option::of(handover()),
            option::of(handed_over()),
        ).boxed(),
        (observations, scope) in any::<(u64, u16)>(),
        stage in stage().boxed(),
        (calls, tickets, stray) in (few(pending_call().boxed()), few(open_ticket().boxed()), raw_signals()).boxed(),
        (usage, cost_usd) in (token_usage(), option::of(decimal())),
        context in context_record(),
        waited_ms in any::<u64>(),
        (started_at, waiting_since) in (moment(), option::of(moment())),
        [last_text, looped] in [option::of(text()), option::of(text())],
        limit in option::of(exit_reason()),
        (queued, ending, left_out, doubt) in (few(user_message()), option::of(run_error()), few(text()), option::of(run_error())).boxed(),
        (overdue, halt) in (option::of(exit_reason()), option::of(halt())).boxed(),
        ([halts, turns_again, unguarded], in_flight) in any::<([u32; 3], Option<u32>)>(),
        outbox in few(run_event().boxed()),
        (tree, budget) in (tree().boxed(), budget().boxed()),
    ) -> RunState {
        RunState { doubt, left_out, unguarded, looped,
            repeated: RepeatedCalls::default(),
            loaded: LoadedTools::default(),
            version: StateVersion,
            agent,
            conversation: conversation.into(),
            tags,
            run,
            directory,
            definition,
            origin,
            raised,
            upgrade,
            handover,
            handed: handed.map(Box::new),
            lineage,
            tree,
            budget,
            observations,
            scope,
            stage,
            turn,
            tool_calls,
            calls,
            tickets,
            stray,
            own_calls,
            in_flight,
            usage,
            cost_usd,
            context,
            started_at,
            waiting_since,
            waited_ms,
            last_text,
            limit,
            mismatches,
            queued,
            ending,
            overdue,
            halt,
            halts,
            turns_again,
            outbox,
        }
    }
}
