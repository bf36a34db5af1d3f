//! The loop through a door.

use futures::executor::block_on;
use neuron_loop::{AgentLoop, TurnResult};
use neuron_types::{
    AgentSpec, ApprovalRules, CompletionRequest, ContextError, ContextStrategy, DurableError,
    ExitReason, FailureKind, Message, ModelHandle, RequestHead, RunEvent, RunOutput, RunPhase,
    RunState, StepFailure, StepId, Ticket, ticket_digest,
};
use serde_json::json;
use uuid::Uuid;

use crate::times::MINUTE;
use crate::{
    door::TestDoor,
    support::{agent, calls, input, one_call, says},
};

/// Keeps everything.
pub(crate) struct Keep;

impl ContextStrategy for Keep {
    fn should_compact(&self, _messages: &[Message], _token_count: u64) -> bool {
        false
    }

    async fn compact<M: ModelHandle>(
        &self,
        _messages: Vec<Message>,
        _model: &M,
    ) -> Result<Vec<Message>, ContextError> {
        Err(ContextError::CompactionFailed("it keeps everything".into()))
    }

    fn token_estimate(&self, messages: &[Message]) -> u64 {
        messages.len() as u64
    }
}

/// Has a model shorten every conversation of more than one message.
struct Shorten;

impl ContextStrategy for Shorten {
    fn should_compact(&self, messages: &[Message], _token_count: u64) -> bool {
        messages.len() > 1
    }

    async fn compact<M: ModelHandle>(
        &self,
        _messages: Vec<Message>,
        model: &M,
    ) -> Result<Vec<Message>, ContextError> {
        let request =
            CompletionRequest::new(RequestHead::default(), vec![Message::user("shorten it")]);
        let summary = model.complete(request).await?;
        Ok(vec![summary.message])
    }

    fn token_estimate(&self, messages: &[Message]) -> u64 {
        messages.len() as u64
    }
}

fn run(door: &TestDoor, spec: AgentSpec) -> Result<RunOutput, DurableError> {
    block_on(AgentLoop::new(door.clone(), Keep, input(spec)).run())
}

fn asking() -> AgentSpec {
    let approvals = ApprovalRules {
        approve: vec!["push".into()],
        ..ApprovalRules::default()
    };
    AgentSpec {
        approvals,
        ..agent()
    }
}

/// The decision about the ticket of the push that `one_call` asks for.
fn decision(ticket: &str, verdict: &str) -> serde_json::Value {
    decision_about(ticket, verdict, json!({"path": "a"}))
}

fn decision_about(ticket: &str, verdict: &str, args: serde_json::Value) -> serde_json::Value {
    let opened = Ticket {
        ticket: ticket.to_owned(),
        run: Some("run".parse().unwrap()),
        tool: Some("push".to_owned()),
        args: Some(args),
        ..Ticket::default()
    };
    let digest = ticket_digest(&opened, Some(Uuid::nil()), None);
    json!({"ticket": ticket, "digest": digest, "verdict": verdict})
}

#[test]
fn runs_tools_until_the_model_is_done() {
    let door = TestDoor::new(vec![one_call("look"), says("done")]);
    let output = run(&door, agent()).unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(
        (output.engine.as_str(), output.run_id.as_str()),
        ("test", "run")
    );
    assert_eq!(output.output.as_deref(), Some("done"));
    assert_eq!(door.batches(), [["c1"]]);
    assert_eq!(door.requests()[1].0.messages.len(), 3);
    insta::assert_json_snapshot!(door.events());
}

#[test]
fn queued_messages_are_taken_up_in_order_at_the_next_turn() {
    let door = TestDoor::new(vec![one_call("look"), says("done")]);
    door.signal("user_message", json!({"text": "one"}));
    door.signal("user_message", json!({"wrong": true}));
    door.signal("user_message", json!({"text": "two"}));
    run(&door, agent()).unwrap();
    let first: Vec<String> = door.requests()[0]
        .0
        .messages
        .iter()
        .map(Message::text)
        .collect();
    assert_eq!(first, ["do it", "one", "two"]);
    let ignored = |event: &RunEvent| matches!(event, RunEvent::SignalIgnored { .. });
    assert_eq!(
        door.events().iter().filter(|event| ignored(event)).count(),
        1
    );
}

#[test]
fn a_call_starts_as_soon_as_its_own_decision_is_there() {
    let both = calls(&[
        ("push", json!({"path": "a"})),
        ("push", json!({"path": "a"})),
    ]);
    let door = TestDoor::new(vec![both, says("done")]);
    door.signal("decision", decision("t1-2", "approve"));
    door.signal("decision", decision("t1-1", "approve"));
    run(&door, asking()).unwrap();
    assert_eq!(door.batches(), [["c2"], ["c1"]]);
}

#[test]
fn a_run_that_waits_for_a_person_can_be_put_away() {
    let door = TestDoor::new(vec![one_call("push")]);
    let error = run(&door, asking()).unwrap_err();
    assert!(matches!(error, DurableError::Suspended));
    assert_eq!(
        door.batches(),
        Vec::<Vec<String>>::new(),
        "nothing was executed"
    );
    let waiting = RunEvent::Waiting {
        state: RunPhase::WaitingForApproval,
    };
    assert_eq!(door.events().last(), Some(&waiting));
}

#[test]
fn a_ticket_lapses_when_its_time_is_over() {
    let spec = AgentSpec {
        approval_timeout: Some(MINUTE),
        ..asking()
    };
    let door = TestDoor::new(vec![one_call("push"), says("well")]);
    let output = run(&door, spec).unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(door.waits(), [Some(MINUTE)]);
    assert_eq!(door.batches(), Vec::<Vec<String>>::new());
}

#[test]
fn a_cancelled_model_call_ends_the_run_and_says_so() {
    let door = TestDoor::new(vec![]);
    door.answer_with(Err(DurableError::Cancelled {
        reason: Some("too slow".into()),
    }));
    let output = run(&door, agent()).unwrap();
    assert_eq!(output.state, RunPhase::Cancelled);
    assert_eq!(output.error.unwrap().message, "too slow");
}

#[test]
fn a_cancelled_call_ends_the_run_with_the_other_results_kept() {
    let door = TestDoor::new(vec![calls(&[("look", json!({})), ("cancel", json!({}))])]);
    let output = run(&door, agent()).unwrap();
    assert_eq!(output.state, RunPhase::Cancelled);
    assert_eq!(output.error.unwrap().message, "enough");
}

#[test]
fn what_is_no_result_of_a_step_is_passed_on() {
    let door = TestDoor::new(vec![one_call("suspend")]);
    assert!(matches!(run(&door, agent()), Err(DurableError::Suspended)));
}

#[test]
fn a_failed_model_call_is_an_output_with_its_error() {
    let door = TestDoor::new(vec![]);
    let failure = StepFailure::new(FailureKind::Authentication, "bad key");
    door.answer_with(Err(failure.into()));
    let output = run(&door, agent()).unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Failed));
    assert_eq!(output.error.unwrap().kind, FailureKind::Authentication);
}

#[test]
fn a_summary_is_a_model_call_through_the_door_with_a_step_of_its_own() {
    let door = TestDoor::new(vec![one_call("look"), says("summary"), says("done")]);
    let mut agent_loop = AgentLoop::new(door.clone(), Shorten, input(agent()));
    let output = block_on(agent_loop.run()).unwrap();
    let requests = door.requests();
    assert_eq!(requests[1].0.model, "m");
    assert_eq!(requests[1].0.provider.as_deref(), Some("test"));
    assert_eq!(requests[1].1.step, StepId::new(2, StepId::SUMMARY));
    assert_eq!(requests[2].0.messages[0].text(), "summary");
    assert_eq!(output.turns, 2, "a summary is no turn");
    assert_eq!(output.usage.total(), 45, "but it counts");
}

/// Wants to compact every conversation of two messages or more, and cannot.
struct Fail;

impl ContextStrategy for Fail {
    fn should_compact(&self, messages: &[Message], _token_count: u64) -> bool {
        messages.len() > 1
    }

    async fn compact<M: ModelHandle>(
        &self,
        _messages: Vec<Message>,
        _model: &M,
    ) -> Result<Vec<Message>, ContextError> {
        Err(ContextError::CompactionFailed("nothing to spare".into()))
    }

    fn token_estimate(&self, _messages: &[Message]) -> u64 {
        0
    }
}

#[test]
fn a_failed_compaction_is_tried_again_only_when_the_conversation_has_grown() {
    let door = TestDoor::new(vec![
        one_call("look"),
        one_call("look"),
        one_call("look"),
        says("done"),
    ]);
    // Every answer reports the same size.
    block_on(AgentLoop::new(door.clone(), Fail, input(agent())).run()).unwrap();
    let failed = |event: &&RunEvent| matches!(event, RunEvent::CompactionFailed { .. });
    assert_eq!(door.events().iter().filter(failed).count(), 1);
}

#[test]
fn a_caller_can_go_turn_by_turn_and_add_to_the_conversation() {
    let door = TestDoor::new(vec![one_call("look"), says("done")]);
    let mut agent_loop = AgentLoop::new(door.clone(), Keep, input(agent()));
    let mut steps = agent_loop.run_step();
    let Some(Ok(TurnResult::ToolExecuted { call, result })) = block_on(steps.next()) else {
        panic!("no tool");
    };
    assert_eq!(call.id, result.tool_use_id);
    steps.inject_message(Message::user("be brief")).unwrap();
    steps.tools_mut().clear();
    let Some(Ok(TurnResult::Ended(output))) = block_on(steps.next()) else {
        panic!("no end");
    };
    assert_eq!(output.output.as_deref(), Some("done"));
    assert!(block_on(steps.next()).is_none());
    let last = &door.requests()[1].0;
    assert_eq!(last.messages.last().unwrap().text(), "be brief");
    assert!(last.tools.is_empty());
}

fn state_of(door: &TestDoor) -> RunState {
    let mut carried = door.carried();
    // As it is when it was written and read again.
    let json = serde_json::to_string(&carried.pop().unwrap()).unwrap();
    serde_json::from_str(&json).unwrap()
}

fn go_on(door: &TestDoor, state: RunState) -> Result<RunOutput, DurableError> {
    block_on(AgentLoop::resume(door.clone(), Keep, state).run())
}

#[test]
fn a_history_is_left_after_its_first_step_and_not_before() {
    let door = TestDoor::new(vec![one_call("look"), says("done")]);
    door.roll_over_with(Err(DurableError::ContinuedAsNew));
    let left = run(&door, agent());
    assert!(matches!(left, Err(DurableError::ContinuedAsNew)));
    assert_eq!(door.requests().len(), 1, "one step was made");

    let output = go_on(&door, state_of(&door)).unwrap();
    assert_eq!(output.output.as_deref(), Some("done"));
    assert_eq!(output.turns, 2);
    assert_eq!(door.batches(), [["c1"]]);
}

#[test]
fn a_run_that_rolls_over_after_every_step_tells_what_it_tells_in_one_history() {
    let answers = || {
        vec![
            calls(&[("look", json!({})), ("push", json!({"path": "a"}))]),
            one_call("look"),
            says("done"),
        ]
    };
    let whole = TestDoor::new(answers());
    whole.signal("decision", decision("t1-2", "approve"));
    let expected = run(&whole, asking()).unwrap();

    let door = TestDoor::new(answers());
    door.signal("decision", decision("t1-2", "approve"));
    door.roll_over_with(Err(DurableError::ContinuedAsNew));
    let mut result = run(&door, asking());
    let mut histories = 1;
    while let Err(DurableError::ContinuedAsNew) = result {
        histories += 1;
        door.roll_over_with(Err(DurableError::ContinuedAsNew));
        result = go_on(&door, state_of(&door));
    }
    assert_eq!(result.unwrap(), expected);
    assert!(histories >= 5, "{histories} histories");
    assert_eq!(door.events(), whole.events());
    assert_eq!(door.batches(), whole.batches());
    assert_eq!(door.requests(), whole.requests());
}

#[test]
fn a_run_goes_on_here_if_the_door_says_so() {
    let door = TestDoor::new(vec![one_call("look"), says("done")]);
    door.roll_over_with(Ok(()));
    let output = run(&door, agent()).unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(door.carried().len(), 1);
}

#[test]
fn a_run_that_can_neither_go_on_nor_be_carried_over_ends_with_the_doors_reason() {
    let door = TestDoor::new(vec![one_call("look"), says("never")]);
    let failure = StepFailure::new(FailureKind::ContextLength, "turn on compaction");
    door.roll_over_with(Err(failure.into()));
    let output = run(&door, agent()).unwrap();
    assert_eq!(output.state, RunPhase::Failed);
    assert_eq!(output.error.unwrap().message, "turn on compaction");
    let last = door.events().pop();
    assert!(matches!(last, Some(RunEvent::RunEnded { .. })), "{last:?}");
}

#[test]
fn a_decision_and_a_message_take_effect_before_the_calls_in_flight_end() {
    let both = calls(&[("hold", json!({})), ("push", json!({"path": "a"}))]);
    let door = TestDoor::new(vec![both, says("done")]);
    door.signal("decision", decision("t1-2", "approve"));
    run(&door, asking()).unwrap();
    assert_eq!(door.batches(), [["c1"], ["c2"]]);
    let finished: Vec<String> = door
        .events()
        .into_iter()
        .filter_map(|event| match event {
            RunEvent::ToolFinished { call_id, .. } => Some(call_id),
            _ => None,
        })
        .collect();
    assert_eq!(finished, ["c2", "c1"]);
}

#[test]
fn a_message_that_arrives_during_a_model_call_is_announced_before_its_answer() {
    let door = TestDoor::new(vec![one_call("look"), says("done")]);
    door.hold_model();
    let mut agent_loop = AgentLoop::new(door.clone(), Keep, input(agent()));
    // The poll at the run's start comes before it.
    let first = block_on(async {
        let mut steps = agent_loop.run_step();
        door.signal("user_message", json!({"wrong": true}));
        steps.next().await
    });
    assert!(matches!(first, Some(Ok(TurnResult::ToolExecuted { .. }))));
    door.signal("user_message", json!({"text": "hurry"}));
    block_on(agent_loop.run()).unwrap();
    let received = |event: &RunEvent| matches!(event, RunEvent::MessageReceived { .. });
    assert_eq!(
        door.events().iter().filter(|event| received(event)).count(),
        1
    );
}

#[test]
fn a_cancelled_run_drops_what_reads_and_waits_for_what_writes() {
    let three = calls(&[
        ("push", json!({"path": "a"})),
        ("cancel", json!({})),
        ("hold", json!({})),
    ]);
    let door = TestDoor::new(vec![three]);
    let mut agent_loop = AgentLoop::new(door.clone(), Keep, input(agent()));
    let output = block_on(agent_loop.run()).unwrap();
    assert_eq!(output.state, RunPhase::Cancelled);
    assert_eq!(output.error.unwrap().message, "enough");
    assert_eq!(door.left(), 2);
    let text = serde_json::to_string(agent_loop.machine().messages()).unwrap();
    assert!(text.contains("push c1"), "{text}");
}

#[test]
fn a_segment_that_is_due_holds_back_nothing_until_it_is_full() {
    let both = || calls(&[("hold", json!({})), ("push", json!({"path": "a"}))]);
    for (is_full, batches) in [
        (false, vec![vec!["c1"], vec!["c2"]]),
        (true, vec![vec!["c1"]]),
    ] {
        let door = TestDoor::new(vec![both(), says("done")]);
        door.signal("decision", decision("t1-2", "approve"));
        let mut agent_loop = AgentLoop::new(door.clone(), Keep, input(asking()));
        // The segment becomes too long while the first call is in flight.
        door.on_first_signal(if is_full {
            |door| {
                door.roll_over_with(Err(DurableError::ContinuedAsNew));
                door.is_full();
            }
        } else {
            |door| door.roll_over_with(Err(DurableError::ContinuedAsNew))
        });
        let left = block_on(agent_loop.run());
        assert!(matches!(left, Err(DurableError::ContinuedAsNew)));
        assert_eq!(door.batches(), batches);
        let output = go_on(&door, state_of(&door)).unwrap();
        assert_eq!(output.output.as_deref(), Some("done"));
        assert_eq!(door.batches(), [vec!["c1"], vec!["c2"]]);
    }
}

#[test]
fn a_model_call_that_an_interruption_drops_is_made_again_in_the_same_step() {
    let door = TestDoor::new(vec![]);
    door.answer_with(Err(DurableError::Suspended));
    door.answer_with(Ok(says("done")));
    let mut run = AgentLoop::new(door.clone(), Keep, input(agent()));
    let error = block_on(run.run()).unwrap_err();
    assert!(matches!(error, DurableError::Suspended));
    assert_eq!(run.machine().state().in_flight, None);
    block_on(run.run()).unwrap();
    let steps = door.requests().into_iter().map(|(_, made)| made.step);
    assert_eq!(steps.collect::<Vec<_>>(), [StepId::new(1, 0); 2]);
}
