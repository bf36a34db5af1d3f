use std::{cell::RefCell, collections::BTreeSet};

use chrono::DateTime;
use neuron_types::{
    AgentSpec, Amount, Asking, CallState, ChildEnd, CompletionResponse, ContentBlock, Decision,
    ExitReason, FailureKind, GuardEnd, GuardOutcome, GuardPoint, GuardSpec, Guarded, JudgeSpec,
    Message, OnUnknownOutcome, Outcome, Pending, PermissionDecision, RememberedCalls,
    RememberedDecision, RequestHead, ReturnedResult, RunError, RunEvent, RunInput, StepFailure,
    StopReason, SubAgent, TokenUsage, ToolAnnotations, ToolDefinition, ToolOutput, Verdict,
    Verification, VerifyOutcome,
};
use serde_json::{Value, json};

use super::*;
use crate::{AgentMachine, Observation};

/// A state and what happens to a call in it.
type Row = (&'static str, &'static str);

thread_local! {
    /// The rows that the machines of this thread have come by.
    static REACHED: RefCell<BTreeSet<Row>> = const { RefCell::new(BTreeSet::new()) };
}

pub(crate) fn note(was: &'static str, what: &'static str) {
    REACHED.with_borrow_mut(|rows| rows.insert((was, what)));
}

/// The state after this one in the list of all. A new one does not compile until it has its place.
fn next_state(state: &CallState) -> Option<CallState> {
    Some(match state {
        CallState::Unguarded => CallState::Guarding,
        CallState::Guarding => CallState::Unjudged,
        CallState::Unjudged => CallState::Ready,
        CallState::Ready => CallState::Running,
        CallState::Running => CallState::Delegated,
        CallState::Delegated => CallState::Unseen(Asking::new("why")),
        CallState::Unseen(asking) => CallState::Previewing(asking.clone()),
        CallState::Previewing(_) => CallState::Asked,
        CallState::Asked => CallState::Unknown("lost".into()),
        CallState::Unknown(message) => CallState::Inquiring(message.clone()),
        CallState::Inquiring(_) => CallState::Returned(Box::new(returned())),
        CallState::Returned(result) => CallState::Screening(result.clone()),
        CallState::Screening(_) => CallState::Done(result()),
        CallState::Done(_) => return None,
    })
}

/// The event after this one in the list of all.
fn next_event(event: &CallEvent) -> Option<CallEvent> {
    Some(match event {
        CallEvent::Guarded => CallEvent::Edited,
        CallEvent::Edited => CallEvent::Allowed,
        CallEvent::Allowed => CallEvent::Doubted(Asking::new("why")),
        CallEvent::Doubted(_) => CallEvent::TicketOpened,
        CallEvent::TicketOpened => CallEvent::Started,
        CallEvent::Started => CallEvent::Delegated,
        CallEvent::Delegated => CallEvent::Left,
        CallEvent::Left => CallEvent::Lost("lost".into()),
        CallEvent::Lost(_) => CallEvent::Returned(returned()),
        CallEvent::Returned(_) => CallEvent::Answered(result()),
        CallEvent::Answered(_) => CallEvent::Refused(result()),
        CallEvent::Refused(_) => return None,
    })
}

fn returned() -> ReturnedResult {
    ReturnedResult {
        output: ToolOutput::text("done"),
        inquired: false,
    }
}

fn result() -> ToolResultBlock {
    ToolResultBlock {
        tool_use_id: "c1".into(),
        name: "push".into(),
        content: Vec::new(),
        is_error: false,
    }
}

/// The rows of the table.
fn rows() -> BTreeSet<Row> {
    let mut rows = BTreeSet::new();
    let mut state = Some(CallState::Unguarded);
    while let Some(was) = state {
        let mut event = Some(CallEvent::Guarded);
        while let Some(what) = event {
            if on(&was, what.clone()).is_some() {
                rows.insert((name(&was), what.name()));
            }
            event = next_event(&what);
        }
        state = next_state(&was);
    }
    rows
}

/// An agent whose tool `push` has these traits, and whose operator approved `known`.
fn agent(previews: bool, outcomes: bool) -> AgentSpec {
    let push = ToolDefinition {
        name: "push".into(),
        previews,
        outcomes,
        ..ToolDefinition::default()
    };
    let mut agent = AgentSpec {
        head: RequestHead {
            model: "m".into(),
            tools: vec![push],
            ..RequestHead::default()
        }
        .into(),
        ..AgentSpec::default()
    };
    agent.approvals.remember(RememberedDecision {
        tool: "push".into(),
        reason: "known".into(),
        calls: RememberedCalls::default(),
        verdict: Verdict::Approve,
        comment: None,
        approver: None,
        approval: None,
    });
    agent
}

fn plain() -> AgentSpec {
    agent(false, false)
}

fn previewing() -> AgentSpec {
    agent(true, false)
}

fn knowing() -> AgentSpec {
    agent(false, true)
}

/// An agent whose tool starts another one.
fn delegating() -> AgentSpec {
    let pusher = SubAgent::new("push");
    let mut agent = plain();
    agent.head_mut().tools = vec![pusher.definition()];
    agent.subagents = vec![pusher];
    agent
}

/// A machine whose model has asked for one call.
struct Script(AgentMachine);

impl Script {
    fn new(agent: AgentSpec) -> Self {
        let input = RunInput::new(agent, Message::user("do it"));
        let machine = AgentMachine::new(input, DateTime::UNIX_EPOCH);
        let mut script = Self(machine.with_run("r".parse().unwrap()));
        script.feed(Observation::Messages(Vec::new()));
        script.feed(Observation::ContextKept {
            tokens: 1,
            estimated: 1,
        });
        let tool = script.0.state().agent.head.tools[0].name.clone();
        let call = ContentBlock::tool_use("c1", tool, json!({"prompt": "Push."}));
        let answer = CompletionResponse {
            left_out: Vec::new(),
            id: "r".into(),
            model: "m".into(),
            message: Message::answer(vec![call]),
            usage: TokenUsage::default(),
            stop_reason: StopReason::ToolUse,
            cost_usd: None,
            extra: None,
            mismatch: None,
            guarded: None,
            spent_before: None,
        };
        script.feed(Observation::Started);
        script.feed(Observation::Ended {
            position: 0,
            result: Ok(answer.into()),
        });
        script
    }

    fn feed(&mut self, observation: Observation) {
        self.0.feed(observation, DateTime::UNIX_EPOCH).unwrap();
    }

    /// The policy decides this about the call.
    fn judged(mut self, decision: PermissionDecision) -> Self {
        self.feed(Observation::Authorized(vec![decision]));
        self
    }

    fn allowed(self) -> Self {
        self.judged(PermissionDecision::Allow)
    }

    fn asked(self) -> Self {
        self.judged(PermissionDecision::Ask("why".into()))
    }

    fn started(mut self) -> Self {
        self.feed(Observation::Started);
        self
    }

    /// The step in flight for the call comes to this.
    fn ended(mut self, result: Result<Outcome, StepFailure>) -> Self {
        let position = self.0.state().calls[0].in_flight.unwrap();
        self.feed(Observation::Ended { position, result });
        self
    }

    fn lost(self) -> Self {
        let kind = FailureKind::OutcomeUnknown;
        self.started()
            .ended(Err(StepFailure::new(kind, "the worker was lost")))
    }

    /// The run that the call has started answers.
    fn answered(mut self) {
        let end = self.answer_of_child();
        self.feed(Observation::ChildEnded(end));
    }

    /// Returns what the run that the call has started reports when it has ended.
    fn answer_of_child(&self) -> ChildEnd {
        let tree = &self.0.state().tree;
        let run = tree.children[0].run.clone();
        ChildEnd {
            key: tree.key_of(&run),
            run,
            exit_reason: ExitReason::Complete,
            output: Some("Pushed.".into()),
            error: None,
            usage: TokenUsage::default(),
            cost_usd: None,
            reserved: Amount::ZERO,
            pools: None,
        }
    }

    fn cancelled(mut self) {
        self.feed(Observation::Cancelled { reason: None });
    }

    /// Another process continues with the run.
    fn taken_up(mut self) {
        self.0.take_up(DateTime::UNIX_EPOCH);
    }

    /// A decision about the only ticket is taken.
    fn decided(self, verdict: Verdict, output: Option<Value>) {
        let decision = Decision {
            output,
            ..Decision::of(&self.0.state().tickets[0].ticket, verdict)
        };
        self.decides(decision);
    }

    /// A person approves the call with other arguments.
    fn edited(self) -> Self {
        let ticket = &self.0.state().tickets[0].ticket;
        let decision = Decision {
            args: Some(json!({"prompt": "Pull."})),
            ..Decision::of(ticket, Verdict::Approve)
        };
        self.decides(decision)
    }

    fn decides(mut self, decision: Decision) -> Self {
        let taken = Verification {
            by_token: true,
            ..Verification::unverified(&decision)
        };
        self.feed(Observation::DecisionArrived(decision));
        self.feed(Observation::Started);
        let position = self.0.state().tickets[0].verifying.unwrap();
        let result = Ok(Outcome::Verify(VerifyOutcome::Taken(taken)));
        self.feed(Observation::Ended { position, result });
        self
    }
}

/// An agent with a guard of calls.
fn guarding() -> AgentSpec {
    AgentSpec {
        guards: vec![GuardSpec {
            name: "careful".into(),
            at: [GuardPoint::Call].into(),
            settings: String::new(),
            judge: None,
        }],
        ..plain()
    }
}

/// This agent, with a judge of results.
fn screening(agent: AgentSpec) -> AgentSpec {
    AgentSpec {
        guards: vec![GuardSpec {
            name: "judge".into(),
            at: [GuardPoint::Result].into(),
            settings: String::new(),
            judge: Some(Box::new(JudgeSpec {
                model: "judges/small".into(),
                max_tokens: 10,
                frame: 20,
                tools: BTreeSet::new(),
            })),
        }],
        ..agent
    }
}

fn screened(end: GuardEnd) -> Result<Outcome, StepFailure> {
    let guarded = Guarded {
        end,
        ..Guarded::default()
    };
    Ok(Outcome::Guard(GuardOutcome::Result(vec![guarded])))
}

fn guarded(end: GuardEnd) -> Result<Outcome, StepFailure> {
    let guarded = Guarded {
        end,
        ..Guarded::default()
    };
    Ok(Outcome::Guard(GuardOutcome::Call(guarded)))
}

fn not_approved(reason: &str) -> Result<Outcome, StepFailure> {
    Err(StepFailure::not_approved(Asking::new(reason)))
}

fn comes_later() -> Result<Outcome, StepFailure> {
    Ok(ToolOutput::pending(Pending::External {
        token_sha256: "9f86".into(),
        text: None,
        schema: None,
    })
    .into())
}

#[test]
fn every_row_of_the_table_is_reached_and_no_other() {
    let say = || Ok(ToolOutput::text("done").into());
    let unsaid = || Ok(Outcome::AskOutcome(None));

    Script::new(plain()).cancelled();
    Script::new(plain()).judged(PermissionDecision::Deny("no".into()));
    Script::new(plain()).allowed().cancelled();
    Script::new(plain()).allowed().started().cancelled();
    Script::new(plain()).allowed().started().ended(say());
    let known = not_approved("known");
    Script::new(plain()).allowed().started().ended(known);

    let delegated = || {
        Script::new(delegating())
            .allowed()
            .started()
            .ended(Ok(Outcome::Agent))
    };
    delegated().cancelled();
    delegated().answered();
    // Another process continues with a run whose child has ended meanwhile.
    let mut again = Script::new(delegating()).allowed().started();
    again.0.take_up(DateTime::UNIX_EPOCH);
    again.answered();

    let later = || {
        Script::new(plain())
            .allowed()
            .started()
            .ended(comes_later())
    };
    later().decided(Verdict::Complete, Some(json!(7)));
    Script::new(plain()).asked().decided(Verdict::Approve, None);
    Script::new(plain()).asked().decided(Verdict::Deny, None);

    let unseen = || Script::new(previewing()).asked();
    unseen().cancelled();
    unseen().started().cancelled();
    unseen().started().taken_up();
    let preview = Ok(Outcome::Preview(None));
    unseen().started().ended(preview);
    let doubt = not_approved("why");
    Script::new(previewing()).allowed().started().ended(doubt);

    let unknown = || Script::new(knowing()).allowed().lost();
    unknown().cancelled();
    unknown().started().taken_up();
    unknown().started().ended(unsaid());
    let asks = AgentSpec {
        on_unknown_outcome: OnUnknownOutcome::AskPerson,
        ..knowing()
    };
    Script::new(asks).allowed().lost().started().ended(unsaid());

    let mut reading = plain();
    for tool in &mut reading.head_mut().tools {
        tool.annotations = Some(ToolAnnotations {
            read_only_hint: Some(true),
            ..ToolAnnotations::default()
        });
    }
    Script::new(reading).allowed().started().taken_up();

    let looked_at = || Script::new(guarding()).started();
    Script::new(guarding()).cancelled();
    looked_at().taken_up();
    looked_at().ended(guarded(GuardEnd::Block("no".into())));
    let passed = || looked_at().ended(guarded(GuardEnd::Pass));
    passed().asked().edited().cancelled();
    let edited = passed().asked().edited();
    edited.started().ended(guarded(GuardEnd::Pass));

    let returned = || {
        Script::new(screening(plain()))
            .allowed()
            .started()
            .ended(say())
    };
    returned().cancelled();
    returned().started().taken_up();
    returned().started().ended(screened(GuardEnd::Pass));
    returned()
        .started()
        .ended(screened(GuardEnd::Ask("sure?".into())));
    let named = Ok(Outcome::AskOutcome(Some(ToolOutput::text("done"))));
    let unknown = Script::new(screening(knowing())).allowed().lost();
    unknown.started().ended(named);

    let reached = REACHED.with_borrow(BTreeSet::clone);
    assert_eq!(reached, rows());
}

#[test]
fn an_end_that_comes_once_more_counts_once_and_is_not_mentioned() {
    let mut script = Script::new(delegating());
    script.0.state.tree.secret = Some(uuid::Uuid::from_u128(9));
    let mut script = script.allowed().started().ended(Ok(Outcome::Agent));
    let end = script.answer_of_child();
    let forged = ChildEnd {
        key: uuid::Uuid::from_u128(1),
        ..end.clone()
    };
    for end in [end.clone(), end, forged] {
        script.feed(Observation::ChildEnded(end));
    }
    let events = script.0.take_events();
    let count = |is: fn(&RunEvent) -> bool| events.iter().filter(|event| is(event)).count();
    assert_eq!(
        count(|event| matches!(event, RunEvent::ChildEnded { .. })),
        1
    );
    let ignored = |event: &RunEvent| matches!(event, RunEvent::SignalIgnored { .. });
    assert_eq!(count(ignored), 1, "that of a stranger alone: {events:#?}");
}

#[test]
fn a_step_is_in_flight_in_the_states_that_say_so_and_in_no_other() {
    let unseen = Script::new(previewing()).asked();
    assert_eq!(unseen.0.state().calls[0].in_flight, None);
    let previewing = unseen.started();
    let call = &previewing.0.state().calls[0];
    assert!(is_in_flight(&call.state));
    assert!(previewing.0.wants(call.in_flight.unwrap()));
    let asked = previewing.ended(Ok(Outcome::Preview(None)));
    let call = &asked.0.state().calls[0];
    assert_eq!((&call.state, call.in_flight), (&CallState::Asked, None));
}

#[test]
fn what_does_not_happen_to_a_call_leaves_it_as_it_is_and_ends_the_run() {
    let Script(mut machine) = Script::new(plain()).allowed();
    machine.take_events();
    let error = RunError {
        kind: FailureKind::Internal,
        message: "call 1 is ready: it cannot be left".into(),
    };
    assert!(!machine.call(0, CallEvent::Left));
    assert_eq!(machine.state().calls[0].state, CallState::Ready);
    assert_eq!(machine.state().ending, Some(error.clone()));
    machine
        .feed(Observation::CallsLeft, DateTime::UNIX_EPOCH)
        .unwrap();
    let run = "r".parse().unwrap();
    assert_eq!(machine.output(&run, "local").error, Some(error));
}
