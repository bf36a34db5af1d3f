//! A description of what a run starts, which distinguishes it from anything else.

use neuron_types::{Effect, Started, Step, StepId, canonical_json};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::journal::tables::steps::{Kind, Operation};

/// Returns the operation by which the journal identifies what a run starts.
///
/// The fingerprint costs no more than what is new in the step: a conversation is identified by its length and
/// its last message. Its third word is the step, which readers of a transcript look for.
pub(crate) fn operation_of(op: i64, what: &Started) -> Operation {
    match what {
        Started::Step(step) => {
            let Step { effect, options } = &**step;
            Operation {
                op,
                kind: Kind::Effect(effect.kind()),
                label: label(effect, options.step),
                fingerprint: fingerprint(effect, options.step),
            }
        }
        Started::Deadline(time) => Operation {
            op,
            kind: Kind::Deadline,
            label: "deadline".to_owned(),
            fingerprint: format!("deadline in {} ms", time.as_millis()),
        },
    }
}

fn label(effect: &Effect, step: StepId) -> String {
    let StepId { turn, position, .. } = step;
    match effect {
        Effect::Model(_) => format!("turn {turn}, model call"),
        Effect::Tool(_) => format!("turn {turn}, tool call {position}"),
        other => format!("turn {turn}, {}", other.kind().as_str()),
    }
}

fn fingerprint(effect: &Effect, step: StepId) -> String {
    match effect {
        Effect::Model(request) | Effect::Summary(request) => {
            let provider = request.provider.as_deref().unwrap_or("the only provider");
            let (count, last) = (request.messages.len(), digest(&request.messages.last()));
            format!(
                "model call {step} to {provider}/{} with {count} messages, the last {last}",
                request.model
            )
        }
        Effect::Tool(call) => format!(
            "tool call {step} to {} with id {} and input {}",
            call.name,
            call.id,
            digest(&call.input)
        ),
        other => format!(
            "{} step {step} about {}, {}",
            other.kind().as_str(),
            other.name(),
            digest(other)
        ),
    }
}

/// Returns sixteen hexadecimal digits of the SHA-256 of the value's [canonical JSON](canonical_json), enough to
/// distinguish two requests.
fn digest(value: &impl Serialize) -> String {
    // What cannot be written as JSON cannot be journaled either, and that is reported then.
    let Ok(value) = serde_json::to_value(value) else {
        return "unwritable".to_owned();
    };
    let hash = Sha256::digest(canonical_json(&value));
    let start = hash.first_chunk().copied().unwrap_or_default();
    format!("{:016x}", u64::from_be_bytes(start))
}
