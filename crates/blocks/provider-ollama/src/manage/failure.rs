use neuron_provider_http::ApiFailure;
use neuron_types::FailureKind;

/// Returns the failure with what to do if the model is not there.
pub(crate) fn hinted(mut failure: ApiFailure, hint: &str) -> ApiFailure {
    if failure.kind == FailureKind::ModelNotFound {
        failure.hint = Some(hint.to_owned());
    }
    failure
}

/// Returns the failure of a pull with what to do about it, which only the server's words show.
pub(crate) fn of_pull(mut failure: ApiFailure) -> ApiFailure {
    let message = failure.message.clone().unwrap_or_default();
    let message = message.to_ascii_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    let known = if says(&["file does not exist", "not found"]) {
        let hint = "check the model's name and tag in the library that it comes from";
        Some((FailureKind::ModelNotFound, hint))
    } else if says(&["newer version of ollama"]) {
        Some((FailureKind::InvalidRequest, "update Ollama on the server"))
    } else if says(&["no space left"]) {
        let hint = "make room on the server's disk, with `Ollama::delete` for one";
        Some((FailureKind::InvalidRequest, hint))
    } else {
        None
    };
    if let Some((kind, hint)) = known {
        failure.kind = kind;
        failure.hint = Some(hint.to_owned());
    }
    failure
}
