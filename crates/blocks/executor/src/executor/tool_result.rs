//! What a tool call's outcome looks like to the model, and what ends the step instead.

use neuron_types::{ContentItem, FailureKind, StepFailure, ToolEffects, ToolError, ToolOutput};

/// Sorts a tool's error: what the model can react to is a result, the rest fails the step.
pub(crate) fn settle(error: ToolError, effects: ToolEffects) -> Result<ToolOutput, StepFailure> {
    match error {
        ToolError::ModelRetry(hint) => Ok(ToolOutput::error(hint)),
        ToolError::NotFound(_) | ToolError::PermissionDenied(_) | ToolError::ExecutionFailed(_) => {
            Ok(ToolOutput::error(StepFailure::from(error).message))
        }
        ToolError::Timeout(_) | ToolError::AnswerLost(_) if effects == ToolEffects::Write => {
            Err(unknown_outcome(&StepFailure::from(error).message))
        }
        other => Err(StepFailure::from(other)),
    }
}

/// Returns the failure of a write that was started and has no result.
pub(crate) fn unknown_outcome(why: &str) -> StepFailure {
    StepFailure::new(
        FailureKind::OutcomeUnknown,
        format!("{why}: it may or may not have taken effect"),
    )
}

/// Cuts the texts of a result so that they hold at most `limit` bytes together, and puts a note in the place of what
/// was cut.
pub(crate) fn bound(output: &mut ToolOutput, limit: usize) {
    let size = text_bytes(output);
    if size <= limit {
        return;
    }
    let mut room = limit;
    for item in &mut output.content {
        if let ContentItem::Text(text) = item {
            let end = text.floor_char_boundary(room);
            // What comes after a cut would read as if it followed.
            room = if end < text.len() { 0 } else { room - end };
            text.truncate(end);
        }
    }
    output
        .content
        .retain(|item| !matches!(item, ContentItem::Text(text) if text.is_empty()));
    let kept = text_bytes(output);
    output.content.push(ContentItem::Text(format!(
        "[the result was cut: {kept} of {size} bytes are shown]"
    )));
    output.structured_content = None;
}

fn text_bytes(output: &ToolOutput) -> usize {
    output
        .content
        .iter()
        .map(|item| match item {
            ContentItem::Text(text) => text.len(),
            _ => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(output: &ToolOutput) -> Vec<&str> {
        output
            .content
            .iter()
            .map(|item| match item {
                ContentItem::Text(text) => text.as_str(),
                _ => "picture",
            })
            .collect()
    }

    #[test]
    fn a_lost_answer_is_tried_again_unless_the_tool_writes() {
        let lost = || ToolError::AnswerLost("the server went away".into());
        let failure = settle(lost(), ToolEffects::Idempotent).unwrap_err();
        assert_eq!(
            (failure.kind, failure.retryable),
            (FailureKind::Network, true)
        );
        let failure = settle(lost(), ToolEffects::Write).unwrap_err();
        assert_eq!(failure.kind, FailureKind::OutcomeUnknown);
        assert_eq!(
            failure.message,
            "the answer is lost: the server went away: it may or may not have taken effect"
        );
    }

    #[test]
    fn leaves_a_result_within_the_bound_alone() {
        let mut output = ToolOutput::from_value(json!({"a": 1}));
        let before = output.clone();
        bound(&mut output, 7);
        assert_eq!(output, before);
    }

    #[test]
    fn cuts_between_characters_and_says_how_much_is_shown() {
        let mut output = ToolOutput {
            content: vec![
                ContentItem::Text("abcd".into()),
                ContentItem::Text("ééé".into()),
                ContentItem::Text("tail".into()),
            ],
            structured_content: Some(json!({"whole": true})),
            is_error: false,
            pending: None,
            guarded: None,
            loaded: Box::default(),
        };
        bound(&mut output, 7);
        assert_eq!(
            texts(&output),
            ["abcd", "é", "[the result was cut: 6 of 14 bytes are shown]"]
        );
        assert_eq!(output.structured_content, None);
    }
}
