use futures::executor::block_on;
use neuron_loop::{AgentLoop, AgentMachine, Observation};
use neuron_types::{
    ContextError, ContextStrategy, Message, ModelHandle, RunEvent, RunState, TokenCalibration,
    TokenUsage,
};

use crate::{
    door::TestDoor,
    support::{agent, at, input, model_ended, one_call, says},
};

/// Reminds of the turn before each model call but the first, and keeps one message where the script asks for it.
struct Remind {
    compacts: bool,
}

impl ContextStrategy for Remind {
    fn should_compact(&self, messages: &[Message], _token_count: u64) -> bool {
        self.compacts && messages.len() > 1
    }

    async fn compact<M: ModelHandle>(
        &self,
        mut messages: Vec<Message>,
        _model: &M,
    ) -> Result<Vec<Message>, ContextError> {
        messages.truncate(1);
        Err(ContextError::StillTooLarge {
            messages,
            tokens: 1_000,
            at_tokens: 10,
            reason: "it stays large".into(),
        })
    }

    fn token_estimate(&self, messages: &[Message]) -> u64 {
        messages.len() as u64
    }

    fn remind(&self, state: &RunState) -> Vec<String> {
        let before = state.context.reminded.turns;
        let now = state.milestone().turns;
        (now > before)
            .then(|| format!("{now} turns"))
            .into_iter()
            .collect()
    }
}

#[test]
fn the_model_is_reminded_before_its_next_call_and_the_reminder_stays() {
    let door = TestDoor::new(vec![one_call("look"), one_call("look"), says("done")]);
    let mut run = AgentLoop::new(door, Remind { compacts: false }, input(agent()));
    block_on(run.run()).unwrap();
    let texts: Vec<String> = run.machine().messages().iter().map(Message::text).collect();
    assert_eq!(
        texts,
        [
            "do it",
            "",
            "",
            "<system-reminder>\n1 turns\n</system-reminder>",
            "",
            "",
            "<system-reminder>\n2 turns\n</system-reminder>",
            "done",
        ]
    );
    assert_eq!(run.machine().state().context.reminded.turns, 2);
}

#[test]
fn what_was_saved_is_taken_although_it_is_not_enough_and_is_not_tried_again_at_once() {
    let door = TestDoor::new(vec![one_call("look"), one_call("look"), says("done")]);
    let mut run = AgentLoop::new(door.clone(), Remind { compacts: true }, input(agent()));
    block_on(run.run()).unwrap();
    let events = door.events();
    let compacted = |event: &&RunEvent| matches!(event, RunEvent::ContextCompacted { .. });
    assert_eq!(events.iter().filter(compacted).count(), 1);
    let failed: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::CompactionFailed { reason, .. } => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(failed.len(), 1);
    assert!(failed[0].contains("it stays large"), "{failed:?}");
}

#[test]
fn a_reminder_after_a_compaction_says_nothing_of_how_the_model_counts() {
    let door = TestDoor::new(vec![one_call("look"), one_call("look"), says("done")]);
    let mut run = AgentLoop::new(door, Remind { compacts: true }, input(agent()));
    block_on(run.run()).unwrap();
    let calibration = run.machine().state().context.calibration;
    assert_eq!(calibration, TokenCalibration::default());
}

/// A machine that is about to read an answer, with this much estimated since the last report.
fn review(machine: &mut AgentMachine, estimated: u64) {
    let tokens = machine.tokens_with(estimated);
    machine
        .feed(Observation::ContextKept { tokens, estimated }, at(1))
        .unwrap();
}

fn answer(machine: &mut AgentMachine, input_tokens: u64) {
    let mut response = says("go on");
    response.stop_reason = neuron_types::StopReason::PauseTurn;
    response.usage = TokenUsage {
        input_tokens,
        output_tokens: 10,
        ..TokenUsage::default()
    };
    model_ended(machine, Ok(response), 2);
}

#[test]
fn estimates_are_corrected_by_what_the_provider_reports_of_the_same_messages() {
    let mut machine = AgentMachine::new(input(agent()), at(0));
    machine.feed(Observation::Messages(vec![]), at(0)).unwrap();
    review(&mut machine, 100);
    // Instructions and tools are in the first report, so it says nothing of the estimate.
    answer(&mut machine, 5_000);
    assert_eq!(machine.tokens_with(1_000), 6_010);
    review(&mut machine, 2_000);
    answer(&mut machine, 5_010 + 3_000);
    assert_eq!(machine.tokens_with(1_000), 8_020 + 1_500);

    let state = serde_json::to_string(&machine).unwrap();
    let resumed: AgentMachine = serde_json::from_str(&state).unwrap();
    assert_eq!(resumed.tokens_with(1_000), 8_020 + 1_500);

    // A compacted conversation has another size, which shows nothing either.
    review(&mut machine, 10);
    answer(&mut machine, 400);
    assert_eq!(machine.tokens_with(1_000), 410 + 1_500);
}
