use std::{error::Error as _, io};

use neuron_engine::{BadSignal, RunClientError};
use neuron_types::{Refusal, RunPhase};

use crate::fake::run_id;

fn no_worker(is_kept: bool) -> RunClientError {
    RunClientError::NoWorker {
        engine: "fake",
        run_id: run_id(),
        is_kept,
    }
}

#[test]
fn an_error_says_what_kind_it_is() {
    let over = Refusal::RunOver {
        run_id: run_id(),
        state: RunPhase::Failed,
    };
    let refused = RunClientError::from(over.clone());
    assert!(refused.is_rejected() && refused.is_run_over() && !refused.is_transient());
    assert_eq!(refused.refusal(), Some(&over));
    assert_eq!(refused.to_string(), over.to_string());
    let other = RunClientError::rejected("not so");
    assert!(other.is_rejected() && !other.is_run_over() && other.refusal().is_none());
    let misfit = RunClientError::from(BadSignal {
        name: "decision".to_owned(),
        source: serde_json::from_str::<bool>("1").unwrap_err(),
    });
    assert!(misfit.is_rejected() && misfit.source().is_some());
    // A caller does not send again what the engine keeps.
    assert!(no_worker(false).is_transient() && !no_worker(true).is_transient());
    assert!(no_worker(true).is_no_worker());
    let away = RunClientError::Unreachable {
        engine: "fake",
        address: "nowhere".to_owned(),
        source: io::Error::other("refused").into(),
    };
    assert!(away.is_transient() && !away.is_no_worker());
    assert_eq!(away.source().unwrap().to_string(), "refused");
}

#[test]
fn an_error_holds_facts_and_names_no_command() {
    for error in [
        RunClientError::UnknownRun { run_id: run_id() },
        RunClientError::RunExists { run_id: run_id() },
        no_worker(true),
        RunClientError::BadCursor,
    ] {
        assert!(!error.to_string().contains('`'), "{error}");
    }
}
