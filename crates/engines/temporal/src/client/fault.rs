//! Failures of the server, as errors that every engine has.

use std::{future::Future, time::Duration};

use neuron_engine::{Cause, RunClientError};
use neuron_types::{RunId, json_bytes};
use serde::Serialize;
use temporalio_client::tonic::{Code, Status};

use crate::wire::names::ENGINE;

/// How long a worker may take to answer: longer than a killed worker keeps a run.
const PATIENCE: Duration = Duration::from_secs(12);

pub(super) fn settings(source: impl Into<Cause>) -> RunClientError {
    RunClientError::Settings {
        engine: ENGINE,
        source: source.into(),
    }
}

pub(super) fn unreachable(address: &str, source: impl Into<Cause>) -> RunClientError {
    RunClientError::Unreachable {
        engine: ENGINE,
        address: address.to_owned(),
        source: source.into(),
    }
}

pub(super) fn failed(source: impl Into<Cause>) -> RunClientError {
    RunClientError::Failed {
        engine: ENGINE,
        source: source.into(),
    }
}

pub(super) fn unknown(run_id: &RunId) -> RunClientError {
    RunClientError::UnknownRun {
        run_id: run_id.clone(),
    }
}

pub(super) fn no_worker(run_id: &RunId) -> RunClientError {
    RunClientError::NoWorker {
        engine: ENGINE,
        run_id: run_id.clone(),
        is_kept: false,
    }
}

/// Returns whether the server waited for a worker in vain, or knows that there is no worker.
pub(super) fn says_no_worker(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::DeadlineExceeded | Code::FailedPrecondition
    )
}

/// Waits for a worker's answer for as long as a person would. After that, the error is that no worker answers.
pub(super) async fn answered<T>(
    run_id: &RunId,
    asked: impl Future<Output = T>,
) -> Result<T, RunClientError> {
    tokio::time::timeout(PATIENCE, asked)
        .await
        .map_err(|_| no_worker(run_id))
}

/// Rejects what is too large for Temporal.
pub(super) fn fits(
    what: &'static str,
    payload: &impl Serialize,
    most: usize,
) -> Result<(), RunClientError> {
    let bytes = json_bytes(payload).map_err(failed)?;
    if bytes > most {
        return Err(RunClientError::TooLarge {
            engine: ENGINE,
            what,
            bytes,
            most,
        });
    }
    Ok(())
}
