use neuron_types::FailureKind;

use crate::ApiFailure;

/// How many calls one answer may have.
pub const MAX_CALLS: usize = 1000;

/// How much of arguments is kept, in characters: more than is quoted, so that a key in it is blanked whole before it is cut.
const MAX_KEPT: usize = 10_000;

/// Returns the failure of an answer that has more calls than any caller asks for.
pub(crate) fn too_many_calls() -> ApiFailure {
    malformed(format!(
        "the answer holds more than {MAX_CALLS} calls of tools"
    ))
}

/// Returns the failure of an answer with arguments that it assigns to no call.
#[must_use]
pub fn stray_arguments(arguments: &str) -> ApiFailure {
    let kept: String = arguments.chars().take(MAX_KEPT).collect();
    malformed(format!(
        "the answer does not say of which call these arguments are: {kept}"
    ))
}

fn malformed(message: String) -> ApiFailure {
    ApiFailure {
        message: Some(message),
        ..ApiFailure::new(FailureKind::MalformedAnswer)
    }
}
