//! The error of a start that was written by hand and cannot be read: no run began.

use neuron_types::{FailureKind, RunError};

const KIND: FailureKind = FailureKind::InvalidRequest;

/// Returns the failure that the invocation ends with.
pub(crate) fn said(reason: &str) -> String {
    format!("{KIND}: {reason}")
}

/// Returns the run's error, if its invocation ended with that failure: in the form that its caller gets, or in the form
/// in which the server lists it, behind the code.
pub(crate) fn read(how: &str) -> Option<RunError> {
    let behind_code = how
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "))
        .map_or(how, |(_, message)| message);
    let reason = behind_code
        .strip_prefix(KIND.as_str())?
        .strip_prefix(": ")?;
    Some(RunError {
        kind: KIND,
        message: reason.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_is_said_and_nothing_else_is() {
        let reason = "unknown field \"[a] b: c\": did you mean \"agent\"?";
        let said = said(reason);
        for how in [
            said.clone(),
            format!("[400] {said}"),
            format!("[400 Bad Request] {said}"),
        ] {
            let error = read(&how).unwrap();
            assert_eq!((error.kind, &*error.message), (KIND, reason), "{how}");
        }
        for other in [
            "killed",
            "[409] cancelled",
            "[500] it was invalid_request: no",
        ] {
            assert!(read(other).is_none(), "{other}");
        }
    }
}
