//! What servers call the end of an answer.

use neuron_types::{FailureKind, StopReason};

use crate::ApiFailure;

/// Returns what a server's name for an end says, whichever wire it came over: compatible servers mix the names. The
/// names of good ends are a closed set: behind any other the answer may lack anything.
///
/// # Errors
///
/// A failure that names the end: of the server, where the name says that, else a [malformed
/// answer](FailureKind::MalformedAnswer).
pub fn end_named(name: &str) -> Result<StopReason, ApiFailure> {
    let lower = name.trim().to_ascii_lowercase();
    Ok(match lower.as_str() {
        "stop" | "end_turn" | "eos" | "eos_token" | "end" | "complete" | "completed" => {
            StopReason::EndTurn
        }
        "tool_calls" | "tool_call" | "tool_use" | "function_call" | "function_calls" => {
            StopReason::ToolUse
        }
        "length" | "max_tokens" | "max_output_tokens" | "max_length" | "model_length" => {
            StopReason::MaxTokens
        }
        "stop_sequence" => StopReason::StopSequence,
        "content_filter" | "safety" | "sensitive" | "prohibited_content" | "recitation"
        | "blocklist" => StopReason::ContentFilter,
        "refusal" => StopReason::Refusal,
        "pause_turn" => StopReason::PauseTurn,
        "compaction" => StopReason::Compaction,
        "model_context_window_exceeded" => StopReason::ContextWindowExceeded,
        _ => return Err(bad_end(name, kind(&lower))),
    })
}

/// As [`end_named`], of an answer with `calls` or without: servers disagree on the name of an end with calls, so the
/// calls themselves decide, and an end for calls that are not there has lost them.
///
/// # Errors
///
/// As [`end_named`], and a malformed answer where calls are missing.
pub fn end_of(name: &str, calls: bool) -> Result<StopReason, ApiFailure> {
    match end_named(name)? {
        StopReason::ToolUse if !calls => Err(ApiFailure {
            message: Some(format!("the answer ended with {name:?} and holds no call")),
            code: Some(name.to_owned()),
            ..ApiFailure::new(FailureKind::MalformedAnswer)
        }),
        StopReason::EndTurn | StopReason::StopSequence if calls => Ok(StopReason::ToolUse),
        end => Ok(end),
    }
}

/// Returns the failure of an answer whose server named no end at all. `hint` says what can be done.
#[must_use]
pub fn no_end_named(hint: &str) -> ApiFailure {
    ApiFailure {
        message: Some("the answer does not say why it ended".to_owned()),
        hint: Some(hint.to_owned()),
        ..ApiFailure::new(FailureKind::MalformedAnswer)
    }
}

fn bad_end(name: &str, kind: FailureKind) -> ApiFailure {
    ApiFailure {
        message: Some(format!("the answer ended with {name:?}")),
        code: Some(name.to_owned()),
        ..ApiFailure::new(kind)
    }
}

/// Returns the kind of an end that is no good end: DeepSeek, GLM and OpenRouter name it like this when they give an
/// answer up, vLLM when an answer was aborted, and Ollama when a request only loads a model.
fn kind(name: &str) -> FailureKind {
    match name {
        "insufficient_system_resource" | "overloaded" => FailureKind::Overloaded,
        "error" | "network_error" | "server_error" | "abort" | "aborted" | "cancelled"
        | "failed" | "queued" | "in_progress" | "load" | "unload" => FailureKind::Unavailable,
        _ => FailureKind::MalformedAnswer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_ends_are_known_by_all_their_names() {
        for (name, end) in [
            ("stop", StopReason::EndTurn),
            ("STOP", StopReason::EndTurn),
            ("end_turn", StopReason::EndTurn),
            ("tool_use", StopReason::ToolUse),
            ("function_call", StopReason::ToolUse),
            ("model_length", StopReason::MaxTokens),
            ("sensitive", StopReason::ContentFilter),
        ] {
            assert_eq!(end_named(name), Ok(end), "{name}");
        }
    }

    #[test]
    fn any_other_end_is_a_failure_that_names_it() {
        for (name, kind) in [
            ("insufficient_system_resource", FailureKind::Overloaded),
            ("network_error", FailureKind::Unavailable),
            ("error", FailureKind::Unavailable),
            ("from_the_future", FailureKind::MalformedAnswer),
            ("", FailureKind::MalformedAnswer),
        ] {
            let failure = end_named(name).unwrap_err();
            assert_eq!(failure.kind, kind, "{name}");
            assert!(failure.message.unwrap().contains(name));
        }
    }
}
