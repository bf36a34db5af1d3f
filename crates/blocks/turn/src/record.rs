//! What is known of a turn whose run goes through a door.

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, Utc};
use neuron_types::{
    ExitReason as RunExit, Handle, Message, Outcome, Role, RunEvent, RunOutput, Step, StepFailure,
    StopReason, ToolCall,
};

use crate::{
    Effect, ExitReason, LogLevel, ToolCallRecord, TurnError, TurnMetadata, TurnOutput,
    asked_effect::effect_of,
};

/// Where something stands in a turn: in which turn of the loop, at which position.
type Place = (u32, u32);

/// The position of what the loop says of an answer: before the calls that it asks for.
const OF_ANSWER: u32 = 0;

/// The position of what the loop says when the calls are made.
const AFTER_CALLS: u32 = u32::MAX;

/// What is known of a turn whose run goes through a [`Recording`](crate::Recording).
///
/// It is a function of what the run started, observed and emitted, so a replay leads to the same.
#[derive(Debug, Clone, Default)]
pub struct Record {
    started_at: DateTime<Utc>,
    /// The model and tool calls in flight.
    in_flight: BTreeMap<Handle, Flying>,
    calls: BTreeMap<Place, ToolCallRecord>,
    effects: BTreeMap<Place, Vec<Effect>>,
    /// The turn of the loop that is under way.
    turn: u32,
    /// The last answer of the model, as it came.
    answer: Option<(Message, StopReason)>,
    /// The last failure, and whether it is of a model call.
    failure: Option<(bool, StepFailure)>,
}

#[derive(Debug, Clone)]
enum Flying {
    Model,
    Tool {
        place: Place,
        call: Box<ToolCall>,
        since: DateTime<Utc>,
    },
}

impl Record {
    pub(crate) fn new(started_at: DateTime<Utc>) -> Self {
        Self {
            started_at,
            ..Self::default()
        }
    }

    pub(crate) fn started(&mut self, handle: Handle, step: &Step, now: DateTime<Utc>) {
        let id = step.options.step;
        let flying = match &step.effect {
            neuron_types::Effect::Model(_) => Flying::Model,
            neuron_types::Effect::Tool(call) => Flying::Tool {
                place: (id.turn, id.position),
                call: Box::new(call.clone()),
                since: now,
            },
            _ => return,
        };
        self.in_flight.insert(handle, flying);
    }

    pub(crate) fn left(&mut self, handle: Handle) {
        self.in_flight.remove(&handle);
    }

    pub(crate) fn ended(
        &mut self,
        handle: Handle,
        result: &Result<Outcome, StepFailure>,
        now: DateTime<Utc>,
    ) {
        let Some(flying) = self.in_flight.remove(&handle) else {
            return;
        };
        let is_model = matches!(flying, Flying::Model);
        if let Err(failure) = result {
            self.failure = Some((is_model, failure.clone()));
        }
        match (flying, result) {
            (Flying::Model, Ok(Outcome::Model(response))) => {
                let stop_reason = response.stop_reason.clone();
                self.answer = Some((response.message.clone(), stop_reason));
            }
            (Flying::Tool { place, call, since }, Ok(Outcome::Tool(output))) => {
                // A call that waits for something is made again, or is answered by others.
                if output.pending.is_some() {
                    return;
                }
                let effect = effect_of(&call, output);
                self.effects.insert(place, effect.into_iter().collect());
                self.record(place, *call, output.is_error, since, now);
            }
            // Where a person has to be asked, it is made later.
            (Flying::Tool { place, call, since }, Err(failure)) if failure.asking.is_none() => {
                self.record(place, *call, true, since, now);
            }
            _ => {}
        }
    }

    fn record(
        &mut self,
        place: Place,
        call: ToolCall,
        is_error: bool,
        since: DateTime<Utc>,
        now: DateTime<Utc>,
    ) {
        let record = ToolCallRecord {
            id: call.id,
            tool: call.name,
            input: call.input,
            is_error,
            duration: between(since, now),
        };
        self.calls.insert(place, record);
    }

    pub(crate) fn emitted(&mut self, event: &RunEvent) {
        match event {
            RunEvent::TurnStarted { turn } => self.turn = *turn,
            RunEvent::LeftOut { what, .. } => {
                for what in what {
                    self.log(OF_ANSWER, LogLevel::Warn, what.clone());
                }
            }
            RunEvent::AnswerRejected { reason, .. } => {
                let message = format!("an answer was rejected: {reason}");
                self.log(OF_ANSWER, LogLevel::Warn, message);
            }
            RunEvent::ContextCompacted {
                old_tokens,
                new_tokens,
                ..
            } => {
                let message =
                    format!("the conversation was compacted: {old_tokens} to {new_tokens} tokens");
                self.log(AFTER_CALLS, LogLevel::Info, message);
            }
            RunEvent::CompactionFailed { reason, .. } => {
                let message = format!("the conversation could not be compacted: {reason}");
                self.log(AFTER_CALLS, LogLevel::Warn, message);
            }
            _ => {}
        }
    }

    fn log(&mut self, position: u32, level: LogLevel, message: String) {
        let place = (self.turn, position);
        let log = Effect::Log { level, message };
        self.effects.entry(place).or_default().push(log);
    }

    /// Returns the output of the turn whose run ended like this at this time.
    ///
    /// # Errors
    ///
    /// As [`Turn::execute`](crate::Turn::execute), where the run failed, or waits for a person.
    pub fn into_output(self, run: RunOutput, now: DateTime<Utc>) -> Result<TurnOutput, TurnError> {
        let reason = run.error.as_ref().map(|error| error.message.clone());
        let stop_reason = self.answer.as_ref().map(|(_, reason)| reason);
        let exit_reason = match run.exit_reason {
            Some(RunExit::Complete) => ExitReason::Complete,
            Some(RunExit::MaxTurns) => ExitReason::MaxTurns,
            Some(RunExit::MaxToolCalls) => ExitReason::MaxToolCalls,
            Some(RunExit::MaxTokens) if stop_reason == Some(&StopReason::MaxTokens) => {
                return Err(TurnError::truncated());
            }
            Some(RunExit::MaxTokens) => ExitReason::MaxTokens,
            Some(RunExit::MaxCost) => ExitReason::MaxCost,
            Some(RunExit::MaxDuration | RunExit::Deadline) => ExitReason::MaxDuration,
            Some(RunExit::Cancelled) => ExitReason::Cancelled { reason },
            Some(RunExit::Guardrail | RunExit::Terminated) => ExitReason::ObserverHalt {
                reason: reason.unwrap_or_default(),
            },
            Some(RunExit::Refused) => {
                let message = reason.unwrap_or_else(|| "the model refused to answer".to_owned());
                let source = self.failure.filter(|(is_model, _)| *is_model);
                let source = source.map(|(_, failure)| failure);
                return Err(TurnError::Model { message, source });
            }
            Some(RunExit::Failed) => return Err(TurnError::of_run(run.error, self.failure)),
            None => {
                let asked = run.approvals.first().map(|ticket| ticket.ticket.clone());
                let asked = asked.unwrap_or_else(|| "what it does not say".to_owned());
                return Err(TurnError::NobodyToAsk { asked });
            }
        };
        Ok(TurnOutput {
            message: answer_of(run.output, self.answer.map(|(message, _)| message)),
            exit_reason,
            metadata: TurnMetadata {
                tokens_in: run.usage.input_tokens,
                tokens_out: run.usage.output_tokens,
                cost: run.cost_usd,
                duration: between(self.started_at, now),
                tools_called: self.calls.into_values().collect(),
            },
            effects: self.effects.into_values().flatten().collect(),
        })
    }
}

/// Returns the answer of a run whose last answer of the model was this one. Guards may have withheld or replaced what
/// that says, or the result of a tool is the answer: its other blocks do not belong to the answer then.
fn answer_of(run: Option<String>, last: Option<Message>) -> Message {
    let text = run.unwrap_or_default();
    match last.filter(|message| message.text() == text) {
        Some(message) => message,
        None if text.is_empty() => Message {
            role: Role::Assistant,
            content: Vec::new(),
        },
        None => Message::assistant(text),
    }
}

fn between(from: DateTime<Utc>, to: DateTime<Utc>) -> Duration {
    (to - from).to_std().unwrap_or_default()
}
