use std::collections::BTreeMap;

use neuron_types::{
    AgentOrigin, AgentSpec, Allowance, Amount, Asking, Blocked, BlockedKind, Bounds, Budget,
    CallState, Child, ChildStatus, ContextRecord, ExitReason, FailureKind, Halt, HaltReason,
    HandedConversation, HandedOver, Handover, Held, JudgedAnswer, Lease, LeaseRequest, Leased,
    LimitOverrides, Limits, Lineage, LoadedTools, Milestone, Parent, PendingCall, Pooled,
    RawSignals, RepeatedCalls, Reported, ReturnedResult, RunError, RunId, RunOutcome, RunOutput,
    RunPhase, RunSignal, RunState, RunStatus, RunTags, Stage, StateVersion, StepId,
    TokenCalibration, TokenUsage, ToolDefinition, ToolSearch, TraceContext, Tree, UpgradeRequest,
    UserMessage,
};

use uuid::Uuid;

use crate::times::HOUR;

use super::{approval, event, message, moment, price, response, tool};

pub(crate) const PHASES: [RunPhase; 9] = [
    RunPhase::Running,
    RunPhase::WaitingForApproval,
    RunPhase::WaitingForInput,
    RunPhase::Sleeping,
    RunPhase::Interrupted,
    RunPhase::Completed,
    RunPhase::Failed,
    RunPhase::Cancelled,
    RunPhase::LimitReached,
];

pub(crate) const EXIT_REASONS: [ExitReason; 12] = [
    ExitReason::Complete,
    ExitReason::MaxTurns,
    ExitReason::MaxToolCalls,
    ExitReason::MaxTokens,
    ExitReason::MaxCost,
    ExitReason::MaxDuration,
    ExitReason::Deadline,
    ExitReason::Cancelled,
    ExitReason::Guardrail,
    ExitReason::Terminated,
    ExitReason::Refused,
    ExitReason::Failed,
];

pub(crate) fn run_id() -> RunId {
    RunId::new("nightly-2026.01").unwrap()
}

/// A part of another party's trace.
pub(crate) fn trace() -> TraceContext {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    TraceContext::from_headers(parent, Some("vendor=1")).unwrap()
}

pub(crate) fn tags() -> RunTags {
    RunTags {
        tenant: Some("acme".into()),
        owner: Some("ada".into()),
        labels: BTreeMap::from([("report".into(), "q3".into())]),
    }
}

pub(crate) fn error() -> RunError {
    RunError {
        kind: FailureKind::Quota,
        message: "the account has no money left".into(),
    }
}

pub(crate) fn user_message() -> UserMessage {
    UserMessage {
        text: "And the tests.".into(),
    }
}

pub(crate) fn outputs() -> Vec<RunOutput> {
    let completed = RunOutput {
        run_id: run_id(),
        engine: "local".into(),
        agent: "default".into(),
        state: RunPhase::Completed,
        exit_reason: Some(ExitReason::Complete),
        output: Some("Done.".into()),
        turns: 3,
        usage: TokenUsage::default(),
        cost_usd: Some(price()),
        tree: None,
        reserved: amount(),
        pools: Some(pools()),
        error: None,
        approvals: vec![],
    };
    vec![
        RunOutput {
            state: RunPhase::WaitingForApproval,
            exit_reason: None,
            output: None,
            approvals: approval::tickets(),
            ..completed.clone()
        },
        RunOutput {
            state: RunPhase::Failed,
            exit_reason: Some(ExitReason::Failed),
            cost_usd: None,
            error: Some(error()),
            ..completed.clone()
        },
        completed,
    ]
}

pub(crate) fn statuses() -> Vec<RunStatus> {
    let started = RunStatus::new(run_id(), "temporal", "default", moment(0));
    vec![
        RunStatus {
            state: RunPhase::WaitingForApproval,
            turn: 2,
            usage: response::usage(),
            approvals: approval::tickets(),
            last_message: Some("I will look.".into()),
            children: vec![ChildStatus::new(
                RunId::new("nightly-2026.01-1").unwrap(),
                "explorer",
            )],
            updated_at: moment(5),
            definition: Some("sha256:0a1b".into()),
            tenant: tags().tenant,
            owner: tags().owner,
            labels: tags().labels,
            nonce: Some(Uuid::from_u128(7)),
            directory: Some("/srv/site".into()),
            ..started.clone()
        },
        RunStatus {
            blocked: Some(Blocked::new(
                BlockedKind::NoWorker,
                moment(1),
                "no agent of this name here".into(),
            )),
            ..started.clone()
        },
        RunStatus {
            blocked: Some(Blocked {
                attempt: Some(7),
                next_at: Some(moment(3)),
                ..Blocked::new(BlockedKind::StepFailing, moment(2), "overloaded".into())
            }),
            ..started.clone()
        },
        RunStatus {
            state: RunPhase::Failed,
            cost_usd: None,
            error: Some(error()),
            ..started.clone()
        },
        started,
    ]
}

pub(crate) fn outcomes() -> Vec<RunOutcome> {
    vec![
        RunOutcome {
            exit_reason: ExitReason::Complete,
            error: None,
        },
        RunOutcome {
            exit_reason: ExitReason::Failed,
            error: Some(error()),
        },
    ]
}

pub(crate) fn stages() -> Vec<Stage> {
    let mut stages = vec![
        Stage::TakeInput { closing: false },
        Stage::TakeInput { closing: true },
        Stage::GuardInput,
        Stage::ReviewContext,
        Stage::CallModel,
        Stage::GuardAnswer(Box::new(judged_answer(Some(100)))),
        Stage::GuardAnswer(Box::new(judged_answer(None))),
        Stage::JudgeCalls,
        Stage::Tools,
        Stage::Upgrade,
    ];
    stages.extend(outcomes().into_iter().map(Stage::Ended));
    stages
}

fn judged_answer(lowered: Option<u64>) -> JudgedAnswer {
    JudgedAnswer {
        response: response::responses().swap_remove(0),
        lowered,
    }
}

fn returned(inquired: bool) -> ReturnedResult {
    ReturnedResult {
        output: tool::outputs().swap_remove(0),
        inquired,
    }
}

pub(crate) fn call_states() -> Vec<CallState> {
    vec![
        CallState::Unguarded,
        CallState::Guarding,
        CallState::Unjudged,
        CallState::Ready,
        CallState::Running,
        CallState::Delegated,
        CallState::Asked,
        CallState::Unseen(Asking::new("the agent asks")),
        CallState::Previewing(Asking::new("the agent asks")),
        CallState::Unknown("the worker was lost".into()),
        CallState::Inquiring("the worker was lost".into()),
        CallState::Returned(Box::new(returned(false))),
        CallState::Screening(Box::new(returned(true))),
        CallState::Done(message::tool_results().swap_remove(0)),
    ]
}

/// A turn whose calls stand in every state.
pub(crate) fn pending_calls() -> Vec<PendingCall> {
    call_states()
        .into_iter()
        .zip(1..)
        .map(|(state, position)| PendingCall {
            call: tool::call(),
            position,
            edited: position == 2,
            replaced: position == 5,
            doubt: (position == 6).then(|| Asking::new("a guard asks")),
            tickets: u32::from(position == 3),
            rounds: u32::from(position == 4),
            in_flight: match state {
                CallState::Running => Some(position),
                CallState::Guarding
                | CallState::Previewing(_)
                | CallState::Inquiring(_)
                | CallState::Screening(_) => Some(StepId::OWN_CALLS + position),
                _ => None,
            },
            held: matches!(state, CallState::Guarding | CallState::Screening(_)).then(held),
            state,
        })
        .collect()
}

fn repeated() -> RepeatedCalls {
    let mut repeated = RepeatedCalls::default();
    repeated.note(&tool::call(), &message::tool_results().swap_remove(0));
    repeated
}

fn loaded() -> LoadedTools {
    let names = (0..60).map(|number| format!("github__tool_{number}"));
    let tools = names.map(|name| ToolDefinition {
        name,
        ..ToolDefinition::default()
    });
    let mut agent = AgentSpec {
        tool_search: Some(ToolSearch::default()),
        ..AgentSpec::default()
    };
    agent.head_mut().tools = tools.collect();
    let mut loaded = LoadedTools::default();
    loaded.load(&agent, ["github__tool_7"]);
    loaded
}

/// A run in the middle of a turn.
pub(crate) fn state() -> RunState {
    RunState {
        doubt: None,
        left_out: Vec::new(),
        unguarded: 1,
        repeated: repeated(),
        loaded: loaded(),
        looped: Some("the call of bash has had the same result 6 times".into()),
        version: StateVersion,
        agent: AgentSpec::default(),
        conversation: message::messages().into(),
        tags: tags(),
        run: Some(run_id()),
        directory: Some("/srv/site".into()),
        definition: "sha256:0a1b".into(),
        origin: Some(AgentOrigin {
            overrides: super::agent::overrides(),
            ..AgentOrigin::default()
        }),
        raised: LimitOverrides {
            turns: Some(60),
            ..LimitOverrides::default()
        },
        upgrade: Some(UpgradeRequest {
            by: Some("ada".into()),
        }),
        handover: Some(Handover {
            to: "billing".into(),
            reason: "It is about an invoice.".into(),
            conversation: HandedConversation::Last,
            found: None,
        }),
        handed: Some(Box::new(HandedOver {
            began_as: "support".into(),
            limits: Limits::default(),
        })),
        lineage: Lineage {
            epoch: 1,
            ..Lineage::of(Uuid::from_u128(7))
        },
        tree: Tree {
            parent: Some(Box::new(parent())),
            secret: Some(Uuid::from_u128(8)),
            children: vec![Child {
                run: RunId::new("helper").unwrap(),
                agent: "helper".into(),
                position: Some(1),
                leased: pooled(),
                answered: 1,
                heard_at: Some(moment(40)),
                looked_at: Some(moment(45)),
            }],
            reserved: amount(),
            started: 2,
            is_waiting: true,
            ..Tree::default()
        },
        budget: budget(),
        observations: 9,
        scope: 1,
        stage: Stage::Tools,
        turn: 2,
        tool_calls: 3,
        calls: pending_calls(),
        tickets: vec![approval::open_ticket()],
        stray: RawSignals {
            looked_at: 2,
            dropped_at: Some(moment(50)),
        },
        own_calls: 1,
        in_flight: Some(0),
        usage: response::usage(),
        cost_usd: Some(price()),
        context: ContextRecord {
            tokens: 5120,
            counted_messages: 3,
            reported: Reported {
                tokens: 5_040,
                messages: 2,
                tools_since: 1,
            },
            estimated: 80,
            uncounted_tools: 1,
            calibration: TokenCalibration {
                estimated: 1_200,
                reported: 1_500,
            },
            compact_from: 0,
            overflowed: true,
            continuations: 1,
            reminded: Milestone {
                turns: 1,
                tool_calls: 2,
                tokens: 4_000,
            },
        },
        started_at: moment(0),
        waiting_since: Some(moment(60)),
        waited_ms: 1500,
        last_text: Some("I will look.".into()),
        limit: Some(ExitReason::MaxToolCalls),
        mismatches: 1,
        queued: vec![user_message()],
        ending: None,
        overdue: None,
        halt: Some(Halt {
            ticket: "failure-1".into(),
            reason: HaltReason::Failure(error()),
        }),
        halts: 1,
        turns_again: 1,
        outbox: event::events().into_iter().take(2).collect(),
    }
}

pub(crate) fn parent() -> Parent {
    Parent {
        run: RunId::new("lead").unwrap(),
        root: RunId::new("top").unwrap(),
        key: Uuid::from_u128(9),
        levels: 1,
        bounds: vec![Bounds::default()],
        signed: true,
        lease: Some(lease()),
    }
}

/// A part of a budget.
pub(crate) fn amount() -> Amount {
    Amount {
        tokens: 1_500,
        cost_usd: price(),
    }
}

fn pooled() -> Pooled<Amount> {
    Pooled {
        own: amount(),
        pools: pools(),
    }
}

pub(crate) fn pools() -> BTreeMap<String, Amount> {
    BTreeMap::from([("research".into(), amount())])
}

pub(crate) fn held() -> Held {
    Held {
        output: 500,
        amount: amount(),
        attempts: 2,
    }
}

fn lease() -> Lease {
    Lease {
        granted: Pooled {
            own: Allowance {
                tokens: Some(40_000),
                cost_usd: Some(price()),
            },
            pools: BTreeMap::from([("research".into(), Allowance::default())]),
        },
        within: HOUR,
    }
}

fn budget() -> Budget {
    let leased = Leased {
        requests: 2,
        asked_at: Some(moment(30)),
        asked_for: Some(RunId::new("helper").unwrap()),
        is_pending: true,
        is_waiting: true,
        is_over: true,
        ..Leased::new(lease(), moment(20))
    };
    Budget {
        held: Some(held()),
        again: 1,
        reserved: amount(),
        pools: pools(),
        lease: Some(Box::new(leased)),
        requests: vec![LeaseRequest {
            run: RunId::new("helper").unwrap(),
            key: Uuid::from_u128(10),
            number: 1,
            need: pooled(),
            want: pooled(),
        }],
        asks_person: true,
        to_tell: vec![RunSignal::cancel(RunId::new("helper").unwrap(), "enough")],
    }
}
