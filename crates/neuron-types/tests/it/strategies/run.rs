use neuron_types::{
    CallState, ContextRecord, ExitReason, Milestone, PendingCall, RunError, RunId, RunOutcome,
    RunOutput, RunPhase, RunState, RunStatus, Stage, TokenCalibration, UserMessage,
};
use proptest::{option, prelude::*};

use super::{
    agent::agent_spec, approval::ticket, decimal, event::run_event, few, message::tool_result,
    moment, one_of, response::token_usage, step::failure_kind, text, tool::call,
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
            error,
            approvals,
        }
    }
}

prop_compose! {
    pub(crate) fn run_status()(
        output in run_output(),
        last_message in option::of(text()),
        children in few(run_id()),
        started_at in moment(),
        updated_at in moment(),
    ) -> RunStatus {
        RunStatus {
            run_id: output.run_id,
            engine: output.engine,
            agent: output.agent,
            state: output.state,
            turn: output.turns,
            usage: output.usage,
            cost_usd: output.cost_usd,
            approvals: output.approvals,
            last_message,
            children,
            started_at,
            updated_at,
            error: output.error,
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

pub(crate) fn stage() -> impl Strategy<Value = Stage> {
    prop_oneof![
        any::<bool>().prop_map(|closing| Stage::TakeInput { closing }),
        Just(Stage::ReviewContext),
        Just(Stage::CallModel),
        Just(Stage::JudgeCalls),
        Just(Stage::Tools),
        run_outcome().prop_map(Stage::Ended),
    ]
}

pub(crate) fn call_state() -> impl Strategy<Value = CallState> {
    prop_oneof![
        Just(CallState::Unjudged),
        Just(CallState::Ready),
        ticket().prop_map(CallState::Asked),
        tool_result().prop_map(CallState::Done),
    ]
}

prop_compose! {
    pub(crate) fn pending_call()(
        call in call(),
        position in any::<u32>(),
        edited in any::<bool>(),
        tickets in any::<u32>(),
        state in call_state(),
    ) -> PendingCall {
        PendingCall { call, position, edited, tickets, state }
    }
}

prop_compose! {
    fn context_record()(
        [estimated, reported, unreported, tokens] in any::<[u64; 4]>(),
        [turns, tool_calls] in any::<[u32; 2]>(),
    ) -> ContextRecord {
        ContextRecord {
            calibration: TokenCalibration { estimated, reported },
            estimated: unreported,
            reminded: Milestone { turns, tool_calls, tokens },
        }
    }
}

prop_compose! {
    pub(crate) fn run_state()(
        [version, turn, tool_calls, continuations] in any::<[u32; 4]>(),
        agent in agent_spec(),
        stage in stage(),
        calls in few(pending_call()),
        usage in token_usage(),
        cost_usd in option::of(decimal()),
        [context_tokens, compact_from, waited_ms] in any::<[u64; 3]>(),
        (counted_messages, context) in (any::<usize>(), context_record()),
        overflowed in any::<bool>(),
        (started_at, waiting_since) in (moment(), option::of(moment())),
        (last_text, limit) in (option::of(text()), option::of(exit_reason())),
        outbox in few(run_event()),
    ) -> RunState {
        RunState {
            version,
            agent,
            stage,
            turn,
            tool_calls,
            calls,
            usage,
            cost_usd,
            context_tokens,
            counted_messages,
            context,
            continuations,
            compact_from,
            overflowed,
            started_at,
            waiting_since,
            waited_ms,
            last_text,
            limit,
            outbox,
        }
    }
}
