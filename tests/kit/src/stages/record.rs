//! The record of a run, and the checks that apply to every run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    time::Duration,
};

use neuron_types::{
    ContentBlock, Message, RecordedEvent, RunEvent, RunOutput, ToolEffects, Verdict,
};
use serde_json::{Map, Value};

use crate::{Attempt, Ending};

/// Engines count whole milliseconds.
const GRAIN: Duration = Duration::from_millis(2); // Only compared, never waited for.

/// The record of a run.
#[derive(Debug, Clone)]
pub struct Record {
    /// The run's name in the scenario.
    pub name: String,
    /// Its events.
    pub events: Vec<RunEvent>,
    /// Its output.
    pub output: RunOutput,
    /// The attempts at its steps, in the order in which they began.
    pub attempts: Vec<Attempt>,
    /// The messages in the model's newest call.
    pub conversation: Vec<Message>,
}

impl Record {
    pub(crate) fn new(
        name: &str,
        recorded: Vec<RecordedEvent>,
        output: RunOutput,
        attempts: Vec<Attempt>,
        conversation: Vec<Message>,
    ) -> Self {
        let numbers = recorded.iter().map(|event| event.seq);
        assert!(
            numbers.eq(1..=recorded.len() as u64),
            "the events of run {name} are numbered from 1: {recorded:#?}"
        );
        Self {
            name: name.to_owned(),
            events: recorded.into_iter().map(|event| event.event).collect(),
            output,
            attempts,
            conversation,
        }
    }

    /// Checks what is true of every run: its events end once and with its output, every call is answered, no step is
    /// made again after a later one, and an idempotency key belongs to one step.
    pub(crate) fn check(&self) {
        self.check_end();
        self.check_answers();
        self.check_order();
        self.check_keys();
    }

    fn check_end(&self) {
        let Some((
            RunEvent::RunEnded {
                exit_reason,
                output,
                error,
                pools,
            },
            before,
        )) = self.events.split_last()
        else {
            panic!("the last event is the run's end: {:#?}", self.events);
        };
        let told = (Some(*exit_reason), output, error, pools);
        let given = (
            self.output.exit_reason,
            &self.output.output,
            &self.output.error,
            &self.output.pools,
        );
        assert_eq!(told, given, "the output is that of the events");
        assert_eq!(self.output.state, exit_reason.phase());
        let ends = |event: &RunEvent| matches!(event, RunEvent::RunEnded { .. });
        assert!(!before.iter().any(ends), "{:#?}", self.events);
    }

    fn check_answers(&self) {
        let mut open = Vec::new();
        for message in &self.conversation {
            for block in &message.content {
                match block {
                    ContentBlock::ToolUse { id, .. } => open.push(id),
                    ContentBlock::ToolResult(result) => {
                        assert!(!open.is_empty(), "an answer without a call: {result:?}");
                        assert_eq!(open.remove(0), &result.tool_use_id, "answered in order");
                    }
                    _ => {}
                }
            }
        }
        assert!(open.is_empty(), "calls without an answer: {open:?}");
    }

    fn check_order(&self) {
        let stage = |attempt: &Attempt| (attempt.step.turn, attempt.step.position > 0);
        let in_order = self.attempts.is_sorted_by_key(stage);
        assert!(
            in_order,
            "a step was made again after a later one: {:#?}",
            self.attempts
        );
    }

    fn check_keys(&self) {
        let mut calls: BTreeMap<_, Vec<&Attempt>> = BTreeMap::new();
        for attempt in self.attempts.iter().filter(|attempt| attempt.key.is_some()) {
            calls.entry(attempt.step).or_default().push(attempt);
        }
        let keys: BTreeSet<_> = calls.values().map(|attempts| &attempts[0].key).collect();
        assert_eq!(keys.len(), calls.len(), "each call has a key of its own");
        for (step, attempts) in &calls {
            let first = attempts[0];
            assert!(
                attempts.iter().all(|attempt| attempt.key == first.key),
                "the attempts at a step have the same key: {attempts:#?}"
            );
            if first.effects == ToolEffects::Write {
                let asked = format!("t{}-{}", step.turn, step.position);
                assert!(
                    attempts.len() <= 1 + self.approvals(&asked),
                    "a write was made again: {attempts:#?}"
                );
            }
        }
    }

    /// Returns how often a person decided about a ticket of this call so that it may be made.
    fn approvals(&self, call: &str) -> usize {
        let approves = |event: &&RunEvent| {
            matches!(event, RunEvent::ApprovalDecided {
                ticket,
                verdict: Verdict::Approve | Verdict::Answer | Verdict::Choose,
                ..
            }
                if ticket.strip_prefix(call).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')))
        };
        self.events.iter().filter(approves).count()
    }

    /// Leaves out rejections of wrong decisions: some hosts reject them before they reach the run.
    #[must_use]
    pub fn without_refusals(mut self) -> Self {
        let refuses = |event: &RunEvent| matches!(event, RunEvent::ApprovalRefused { .. });
        self.events.retain(|event| !refuses(event));
        self
    }

    /// Returns the attempts at one step.
    #[must_use]
    pub fn attempts_at(&self, turn: u32, position: u32) -> Vec<&Attempt> {
        let attempts = self.attempts.iter();
        attempts
            .filter(|attempt| attempt.is_at(&self.name, turn, position))
            .collect()
    }

    /// Returns output, events and conversation as text, a line each, without what differs between hosts and runs.
    #[must_use]
    pub fn course(&self) -> String {
        let mut text = String::new();
        let lines = [("output", serde_json::to_value(&self.output).unwrap())]
            .into_iter()
            .chain(settled(&self.events).map(|event| ("event", json(event))))
            .chain(self.conversation.iter().map(|said| ("message", json(said))));
        for (what, value) in lines {
            let value = without_place(&value, &self.name);
            match value["type"].as_str() {
                Some(kind) => writeln!(text, "{what} {kind} {}", without_type(&value)).unwrap(),
                None => writeln!(text, "{what} {value}").unwrap(),
            }
        }
        text.replace(self.output.run_id.as_str(), "RUN")
    }

    /// Returns the attempts as text, a line each, ordered by step.
    #[must_use]
    pub fn effects(&self) -> String {
        let mut attempts: Vec<_> = self.attempts.iter().collect();
        // The sort is stable: attempts at one step stay in their order.
        attempts.sort_by_key(|attempt| attempt.step);
        let mut text = String::new();
        for attempt in attempts {
            let Attempt { step, what, .. } = attempt;
            let ending = match attempt.ended {
                Some((_, Ending::Answered)) => "answered",
                Some((_, Ending::Failed)) => "failed",
                Some((_, Ending::Dropped)) => "dropped",
                None => "under way",
            };
            writeln!(
                text,
                "attempt {}:{} {what} {ending}",
                step.turn, step.position
            )
            .unwrap();
        }
        text
    }
}

/// Returns the events, with those of calls that ended one right after the other in the order of the calls: their order
/// depends on the host.
pub(crate) fn settled(events: &[RunEvent]) -> impl Iterator<Item = &RunEvent> {
    let mut called = Vec::new();
    let mut settled = Vec::new();
    for event in events {
        if let RunEvent::ToolCalled { turn, call_id, .. } = event {
            called.push((turn, call_id));
        }
    }
    let place = |event: &RunEvent| match event {
        RunEvent::ToolFinished { turn, call_id, .. } => {
            called.iter().position(|call| *call == (turn, call_id))
        }
        _ => None,
    };
    for batch in events.chunk_by(|one, other| place(one).is_some() && place(other).is_some()) {
        let mut batch: Vec<&RunEvent> = batch.iter().collect();
        batch.sort_by_key(|event| place(event));
        settled.extend(batch);
    }
    settled.into_iter()
}

fn without_type(value: &Value) -> Value {
    let fields = value.as_object().into_iter().flatten();
    let rest = fields.filter(|(key, _)| *key != "type");
    let rest = rest.map(|(key, value)| (key.clone(), value.clone()));
    Value::Object(rest.collect())
}

fn json<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap()
}

/// Returns the value without what differs between hosts, runs and definitions, and without unknown fields. Keys are
/// sorted, however `serde_json` was built.
pub(crate) fn without_place(value: &Value, run: &str) -> Value {
    const PLACES: [&str; 14] = [
        "run_id",
        "engine",
        "started_at",
        "updated_at",
        "definition",
        "run",
        "nonce",
        "trace",
        "directory",
        "digest",
        "decision",
        "token_sha256",
        "opened_at",
        "since",
    ];
    match value {
        Value::Object(fields) => {
            let mut kept: Vec<_> = fields
                .iter()
                .filter(|(key, value)| !value.is_null() && !PLACES.contains(&key.as_str()))
                .collect();
            kept.sort_by_key(|(key, _)| *key);
            let kept = kept.into_iter().map(|(key, value)| {
                let value = match key.as_str() {
                    "expires_at" => Value::from("LATER"),
                    "model" if *value == format!("world/{run}") => Value::from("world/RUN"),
                    _ => without_place(value, run),
                };
                (key.clone(), value)
            });
            Value::Object(kept.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(|item| without_place(item, run)).collect(),
        scalar => scalar.clone(),
    }
}

/// Compares the records of runs to the file `expected/<scenario>.snap`.
///
/// # Panics
///
/// If they differ; the difference is printed.
pub fn expect(scenario: &str, records: &[Record]) {
    let mut text = String::new();
    for record in records {
        let (course, effects) = (record.course(), record.effects());
        write!(text, "== {}\n{course}{effects}", record.name).unwrap();
    }
    expect_text(scenario, &text);
}

pub(crate) fn expect_text(scenario: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/expected"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(scenario, text));
}

fn delays_of(attempts: &[&Attempt]) -> Vec<Duration> {
    let pairs = attempts.windows(2);
    pairs.map(|pair| pair[1].started - pair[0].end()).collect()
}

/// Returns how long the attempts at one step waited for each other.
#[must_use]
pub fn waits(attempts: &[&Attempt]) -> Duration {
    delays_of(attempts).iter().sum()
}

/// Checks the delays between the attempts at one step: none is shorter than expected.
///
/// # Panics
///
/// If one is shorter, or there are more or fewer attempts.
pub fn check_delays(attempts: &[&Attempt], delays: &[Duration]) {
    let found = delays_of(attempts);
    assert_eq!(found.len(), delays.len(), "{found:?} and {delays:?}");
    for (found, delay) in found.iter().zip(delays) {
        assert!(*found + GRAIN >= *delay, "{found:?} for {delay:?}");
    }
}
