//! The limits of payloads: Temporal takes 2 MiB.

use neuron_types::{
    AgentSpec, Bounds, CompletionResponse, ContentItem, CurrentDefinition, Effect, FailureKind,
    Outcome, StepFailure, ToolOutput, json_bytes,
};
use serde::Serialize;

/// The largest payload that is given to Temporal, in bytes of JSON.
pub(crate) const LARGEST_PAYLOAD: usize = 1_900_000;

/// The largest result of a tool: a conversation is sent in chunks, and a result has to fit into one.
const LARGEST_RESULT: usize = 1_000_000;

/// The largest result of a call in the worker that has the run: it is written together with those of other calls.
pub(crate) const LARGEST_LOCAL_RESULT: usize = 400_000;

/// The most bytes of such calls that are written at once: the server ends a run that would write 4 MiB.
const LOCAL_RESULTS: usize = 2_800_000;

/// The largest answer of a model. The calls that it asks for have separate payloads.
pub(crate) const LARGEST_ANSWER: usize = 1_250_000;

/// The largest message from outside.
pub(crate) const LARGEST_MESSAGE: usize = 1_250_000;

/// Reduces a tool's result to the limit, with a text in place of what is missing. Data that is only for programs is
/// removed first, then pictures, then the end of the texts.
fn fit(mut output: ToolOutput, is_local: bool) -> ToolOutput {
    let most = if is_local {
        LARGEST_LOCAL_RESULT
    } else {
        LARGEST_RESULT
    };
    if length(&output) <= most {
        return output;
    }
    output.structured_content = None;
    if length(&output) <= most {
        return output;
    }
    for item in &mut output.content {
        if !matches!(item, ContentItem::Text(_)) {
            *item = ContentItem::Text(format!(
                "[{} bytes that are no text were left out: Temporal takes no more]",
                length(item)
            ));
        }
    }
    let whole = text_bytes(&output);
    let mut room = most;
    for item in &mut output.content {
        if let ContentItem::Text(text) = item {
            let end = fitting(text, room);
            // A text behind a cut would read as if it continued the text before the cut.
            room = if end < text.len() {
                0
            } else {
                room.saturating_sub(length(text))
            };
            text.truncate(end);
        }
    }
    output
        .content
        .retain(|item| !matches!(item, ContentItem::Text(text) if text.is_empty()));
    let kept = text_bytes(&output);
    if kept < whole {
        output.content.push(ContentItem::Text(format!(
            "[the result was cut: {kept} of {whole} bytes are shown, Temporal takes no more]"
        )));
    }
    output
}

/// The size of the marker of a call in the worker that has the run, without its payload.
pub(crate) const MARKER: usize = 600;

/// Returns whether so many bytes may be written in addition to those that are to be written already.
pub(crate) fn fit_together(bytes: usize, written: usize) -> bool {
    bytes.saturating_add(written) <= LOCAL_RESULTS
}

/// Returns how many bytes of the text fit, written as JSON.
fn fitting(text: &str, room: usize) -> usize {
    let mut end = text.floor_char_boundary(room);
    // Escapes make the text longer; each round is closer, and most texts need no second round.
    while end > 0 {
        let written = text.get(..end).map_or(0, |part| length(&part));
        if written <= room {
            break;
        }
        end = text.floor_char_boundary(end.saturating_sub((written - room).max(64) / 6 + 1));
    }
    end
}

/// Checks that something is within its limit.
pub(crate) fn check_size(what: &str, bytes: usize, most: usize) -> Result<(), StepFailure> {
    if bytes <= most {
        return Ok(());
    }
    let message = format!("{what} has {bytes} bytes as JSON: Temporal takes {most}");
    Err(StepFailure::new(FailureKind::InvalidRequest, message))
}

fn text_bytes(output: &ToolOutput) -> usize {
    let texts = output.content.iter().map(|item| match item {
        ContentItem::Text(text) => text.len(),
        _ => 0,
    });
    texts.sum()
}

fn length(value: &impl Serialize) -> usize {
    json_bytes(value).unwrap_or(usize::MAX)
}

/// Checks that an agent's definition can be handed to the run.
pub(crate) fn check_definition(agent: &AgentSpec) -> Result<(), StepFailure> {
    let (name, bytes) = (&agent.name, length(agent));
    if bytes <= LARGEST_PAYLOAD {
        return Ok(());
    }
    Err(too_large(
        FailureKind::InvalidRequest,
        format!(
            "the definition of the agent {name:?} has {bytes} bytes and Temporal takes {LARGEST_PAYLOAD}: shorten its \
             instructions, or list fewer tools"
        ),
    ))
}

/// Checks that the model's answer can be handed to the run.
pub(crate) fn check_answer(answer: CompletionResponse) -> Result<CompletionResponse, StepFailure> {
    let bytes = length(&answer);
    if bytes <= LARGEST_ANSWER {
        return Ok(answer);
    }
    let failure = too_large(
        FailureKind::InvalidRequest,
        format!(
            "the model's answer has {bytes} bytes and Temporal takes {LARGEST_ANSWER}: have it write less, or set \
             max_tokens"
        ),
    );
    Err(failure.with_spent(answer.spent()))
}

/// Checks that a chunk of a conversation can be sent.
pub(crate) fn check_conversation(bytes: usize) -> Result<(), StepFailure> {
    if bytes <= LARGEST_PAYLOAD {
        return Ok(());
    }
    Err(too_large(
        FailureKind::ContextLength,
        format!(
            "a model call has {bytes} bytes in one piece and Temporal takes {LARGEST_PAYLOAD}: keep the conversation \
             small with rules for the agent's context, and its messages and tools short"
        ),
    ))
}

/// Checks that an effect that calls no model can be requested, in a run with these bounds.
pub(crate) fn check_effect(effect: &Effect, bounds: &[Bounds]) -> Result<(), StepFailure> {
    let of_bounds = match bounds {
        [] => 0,
        bounds => length(&bounds),
    };
    let bytes = length(effect).saturating_add(of_bounds);
    if bytes <= LARGEST_PAYLOAD {
        return Ok(());
    }
    let what = match effect {
        Effect::Tool(_) => "tool call",
        other => other.kind().as_str(),
    };
    if of_bounds > LARGEST_PAYLOAD / 2 {
        return Err(too_large(
            FailureKind::InvalidRequest,
            format!(
                "the {what} has {bytes} bytes with the rules of the runs above it and Temporal takes {LARGEST_PAYLOAD}: \
                 have these agents' rules list fewer calls of its tool"
            ),
        ));
    }
    Err(too_large(
        FailureKind::InvalidRequest,
        format!(
            "the {what} has {bytes} bytes and Temporal takes {LARGEST_PAYLOAD}: shorten its arguments"
        ),
    ))
}

/// Returns the result of an effect in a form that can be handed to the run.
pub(crate) fn fitting_outcome(outcome: Outcome, is_local: bool) -> Result<Outcome, StepFailure> {
    Ok(match outcome {
        Outcome::Tool(output) => Outcome::Tool(fit(output, is_local)),
        Outcome::AskOutcome(output) => {
            Outcome::AskOutcome(output.map(|output| fit(output, is_local)))
        }
        Outcome::Definition(CurrentDefinition::Here(agent)) => {
            check_definition(&agent)?;
            Outcome::Definition(CurrentDefinition::Here(agent))
        }
        Outcome::Begin(begun) => {
            begun
                .definition
                .iter()
                .try_for_each(|agent| check_definition(agent))?;
            Outcome::Begin(begun)
        }
        other => other,
    })
}

fn too_large(kind: FailureKind, message: String) -> StepFailure {
    StepFailure {
        retryable: false,
        ..StepFailure::new(kind, message)
    }
}

#[cfg(test)]
mod tests {
    use neuron_types::{ApprovalRules, ToolCall};
    use serde_json::json;

    use super::*;

    #[test]
    fn leaves_a_result_that_fits_alone() {
        let output = ToolOutput::from_value(json!({"a": "x".repeat(100_000)}));
        assert_eq!(fit(output.clone(), false), output);
    }

    #[test]
    fn drops_what_is_for_programs_before_it_cuts() {
        let output = ToolOutput::from_value(json!({"a": "x".repeat(700_000)}));
        let fitted = fit(output.clone(), false);
        assert_eq!(fitted.structured_content, None);
        assert_eq!(fitted.content, output.content);
    }

    #[test]
    fn cuts_texts_by_the_length_of_their_json() {
        for text in ["x".repeat(2_200_000), "\u{1}é\"".repeat(800_000)] {
            let whole = text.len();
            let output = ToolOutput {
                content: vec![ContentItem::Text(text), ContentItem::Text("tail".into())],
                ..ToolOutput::default()
            };
            let fitted = fit(output, false);
            let bytes = length(&fitted);
            assert!(bytes <= LARGEST_RESULT + 200, "{bytes}");
            assert!(bytes > LARGEST_RESULT - 1_000, "{bytes}");
            let [ContentItem::Text(kept), ContentItem::Text(note)] = fitted.content.as_slice()
            else {
                panic!("{} items", fitted.content.len());
            };
            let expected = format!("{} of {} bytes are shown", kept.len(), whole + 4);
            assert!(note.contains(&expected), "{note}");
        }
    }

    #[test]
    fn a_call_counts_with_the_rules_that_it_is_held_to() {
        let call = ToolCall::new("call-1", "read_file", json!({"path": "x".repeat(950_000)}));
        let effect = Effect::Tool(call);
        let bounds = Bounds {
            approvals: ApprovalRules {
                deny: vec!["read_file(path=secret/*)".repeat(40_000)],
                ..ApprovalRules::default()
            },
            ..Bounds::default()
        };
        assert!(check_effect(&effect, &[]).is_ok());
        let failure = check_effect(&effect, &[bounds]).unwrap_err();
        assert!(
            failure.message.contains("rules of the runs above"),
            "{failure}"
        );
    }
}
