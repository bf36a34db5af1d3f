//! Calls that a person or another system answers, and not the executor.

use chrono::{DateTime, Utc};
use neuron_types::{
    AskPerson, Asking, ContentItem, FormRequest, Pending, PendingCall, TicketKind, ToolOutput,
};
use serde_json::{Map, Value, json};

use crate::{
    AgentMachine,
    machine::{call::CallEvent, tickets::Opening},
};

/// How often a call may ask a form before it has to have a result.
const MOST_ROUNDS: u32 = 20;

impl AgentMachine {
    /// The model asks a person.
    pub(crate) fn ask_person(&mut self, index: usize, now: DateTime<Utc>) {
        let Some(slot) = self.state.calls.get(index) else {
            return;
        };
        // The person who is asked reads what a guard has found in the question.
        let why = match &slot.doubt {
            Some(doubt) => format!("the model asks; a guard: {}", doubt.reason),
            None => "the model asks".to_owned(),
        };
        match serde_json::from_value::<AskPerson>(slot.call.input.clone()) {
            Ok(AskPerson { question, choices }) => {
                let opening = Opening {
                    text: Some(question),
                    choices,
                    ..Opening::new(TicketKind::Question, Asking::new(why))
                };
                self.open_ticket(index, opening, now);
            }
            Err(error) => {
                let reason = format!("the arguments do not fit the schema: {error}");
                self.refuse_call(index, &reason);
            }
        }
    }

    /// It is unknown whether a write took effect: a person is asked.
    pub(crate) fn ask_about_outcome(&mut self, index: usize, message: &str, now: DateTime<Utc>) {
        let kind = TicketKind::UnknownOutcome;
        let reason = "nobody knows whether the call took effect";
        let opening = Opening {
            text: Some(message.to_owned()),
            choices: neuron_types::Choice::listed(kind),
            ..Opening::new(kind, Asking::new(reason))
        };
        self.open_ticket(index, opening, now);
    }

    /// A call was made and has no result yet.
    pub(crate) fn await_result(&mut self, index: usize, pending: Pending, now: DateTime<Utc>) {
        let Some(slot) = self.state.calls.get_mut(index) else {
            return;
        };
        let opening = match &pending {
            Pending::External { text, schema, .. } => {
                let reason = format!("the result of {} comes later", slot.call.name);
                Opening {
                    text: text.clone(),
                    schema: schema.clone(),
                    ..Opening::new(TicketKind::External, Asking::new(reason))
                }
            }
            Pending::Withheld { .. } => {
                // It was made, whatever becomes of its result.
                self.state.tool_calls = self.state.tool_calls.saturating_add(1);
                return self.withhold_result(index, pending, now);
            }
            Pending::Form { requests, .. } => {
                if is_round_too_many(slot) {
                    let reason =
                        format!("not finished: the tool asked a person {MOST_ROUNDS} times");
                    self.refuse_call(index, &reason);
                    return;
                }
                let reason = format!("{} asks before it goes on", slot.call.name);
                Opening {
                    text: Some(text_of(requests)),
                    schema: Some(schema_of(requests)),
                    ..Opening::new(TicketKind::Form, Asking::new(reason))
                }
            }
        };
        let opening = Opening {
            pending: Some(pending),
            ..opening
        };
        self.open_ticket(index, opening, now);
    }

    /// Answers a call with what came of it elsewhere.
    pub(crate) fn answer_call(&mut self, index: usize, output: ToolOutput) {
        // No step holds what the model reads.
        let reason = match output.content.as_slice() {
            [ContentItem::Text(text)] => Some(text.clone()),
            _ => None,
        };
        self.finish_call(index, CallEvent::Answered, output, None, reason);
    }
}

fn is_round_too_many(slot: &mut PendingCall) -> bool {
    slot.rounds = slot.rounds.saturating_add(1);
    slot.rounds > MOST_ROUNDS
}

/// Returns what a person reads.
fn text_of(requests: &[FormRequest]) -> String {
    let lines = requests.iter().map(|request| match &request.url {
        Some(url) => format!("{}: {} ({url})", request.key, request.message),
        None => format!("{}: {}", request.key, request.message),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The schema of the answers, by their names.
fn schema_of(requests: &[FormRequest]) -> Value {
    let properties: Map<String, Value> = requests
        .iter()
        .map(|request| {
            let schema = request.schema.clone();
            (request.key.clone(), schema.unwrap_or_else(|| json!({})))
        })
        .collect();
    let required: Vec<&str> = requests
        .iter()
        .map(|request| request.key.as_str())
        .collect();
    json!({"type": "object", "properties": properties, "required": required})
}
