//! Causes why runs are blocked, from the server's tables: invocations that the server cannot deliver to their worker.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use neuron_engine::hold_up;
use neuron_types::{Blocked, BlockedKind, RunId, RunStatus};
use serde::Deserialize;

use super::{RestateClient, fault::HttpFault, tables::of_runs};

/// How long nothing happens in a run before the server is asked for the cause.
const QUIET: TimeDelta = TimeDelta::seconds(3);

/// The server's code for a worker that cannot be reached.
const UNREACHABLE: &str = "RT0010";

/// An invocation that waits for its next attempt, or until a person resumes it.
#[derive(Debug, Deserialize)]
struct Stuck {
    #[serde(rename = "target_service_key")]
    run: String,
    status: String,
    /// When its journal last grew.
    modified_at: DateTime<Utc>,
    #[serde(default)]
    retry_count: Option<u32>,
    #[serde(default)]
    next_retry_at: Option<DateTime<Utc>>,
    #[serde(default)]
    last_failure: Option<String>,
    #[serde(default)]
    last_failure_error_code: Option<String>,
}

impl RestateClient {
    /// Fills in why these runs are blocked, if the runs do not show it themselves and the server knows it. Nothing is
    /// filled in if the server does not allow queries.
    pub(super) async fn fill_in_hold_ups(&self, mut runs: Vec<&mut RunStatus>) {
        let now = Utc::now();
        runs.retain(|status| {
            let is_quiet = now - status.updated_at > QUIET;
            is_quiet && status.blocked.is_none() && !status.state.is_final()
        });
        let run_ids: Vec<RunId> = runs.iter().map(|status| status.run_id.clone()).collect();
        match self.hold_ups(&run_ids).await {
            Ok(mut hold_ups) => {
                for status in runs {
                    status.blocked = hold_ups.remove(status.run_id.as_str());
                }
            }
            Err(error) => {
                tracing::debug!(%error, "the server does not say what holds runs up");
            }
        }
    }

    /// Returns why these runs are blocked, as far as the server knows it.
    async fn hold_ups(&self, run_ids: &[RunId]) -> Result<BTreeMap<String, Blocked>, HttpFault> {
        if run_ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        // Run ids were checked when they were made: they have no quote.
        let of_runs = of_runs(&self.names);
        let keys: Vec<String> = run_ids.iter().map(|run_id| format!("'{run_id}'")).collect();
        let keys = keys.join(", ");
        let query = format!(
            "SELECT target_service_key, status, modified_at, retry_count, next_retry_at, last_failure, \
             last_failure_error_code FROM sys_invocation \
             WHERE {of_runs} AND status IN ('backing-off', 'paused') AND target_service_key IN ({keys})"
        );
        let stuck = self.query::<Stuck>(&query).await?.into_iter();
        Ok(stuck.map(Stuck::hold_up).collect())
    }
}

impl Stuck {
    /// Returns the run, and why it is blocked.
    fn hold_up(self) -> (String, Blocked) {
        let is_unreachable = self.last_failure_error_code.as_deref() == Some(UNREACHABLE);
        let failure = self.last_failure.unwrap_or_default();
        let failure: Vec<&str> = failure.split_whitespace().collect();
        let failure = failure.join(" ");
        let (kind, what) = if is_unreachable {
            let what = format!("the run's worker cannot be reached: {failure}");
            (BlockedKind::WorkerUnreachable, what)
        } else {
            hold_up(&failure)
        };
        let paused = match self.status.as_str() {
            "paused" => "; Restate makes no further attempt until the invocation is resumed",
            _ => "",
        };
        let blocked = Blocked {
            attempt: self.retry_count,
            next_at: self.next_retry_at,
            ..Blocked::new(kind, self.modified_at, format!("{what}{paused}"))
        };
        (self.run, blocked)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_worker_that_is_gone_is_named_with_its_last_failure() {
        let failure = "[500 Internal] error when calling 'http://127.0.0.1:9080/': unable to reach the remote \
                       endpoint.\nReason: Connection refused";
        let stuck: Stuck = serde_json::from_value(json!({
            "target_service_key": "r1", "status": "backing-off", "modified_at": "2026-11-23T20:43:09.825Z",
            "retry_count": 4, "next_retry_at": "2026-11-23T20:43:18.507Z", "last_failure": failure,
            "last_failure_error_code": "RT0010",
        }))
        .unwrap();
        let (run, blocked) = stuck.hold_up();
        assert_eq!((run.as_str(), blocked.attempt), ("r1", Some(4)));
        assert_eq!(blocked.kind, BlockedKind::WorkerUnreachable);
        assert!(blocked.next_at > Some(blocked.since));
        assert!(blocked.detail.contains("'http://127.0.0.1:9080/': unable"));
        assert!(
            blocked
                .detail
                .ends_with("endpoint. Reason: Connection refused")
        );
    }

    #[test]
    fn a_worker_that_leaves_the_run_to_another_says_why() {
        let failure = "[500] Error returned by the user code: this worker cannot go on with the run: the run was \
                       written by a newer version of neuron: state version 5, this one knows up to 4";
        let stuck: Stuck = serde_json::from_value(json!({
            "target_service_key": "r1", "status": "backing-off", "modified_at": "2026-11-23T20:43:09.825Z",
            "last_failure": failure,
        }))
        .unwrap();
        let (_, blocked) = stuck.hold_up();
        assert_eq!(blocked.kind, BlockedKind::NoWorker);
        assert!(blocked.detail.starts_with("this worker cannot go on"));
        assert!(blocked.detail.ends_with("knows up to 4"));
    }

    #[test]
    fn a_worker_that_fails_is_there() {
        let stuck: Stuck = serde_json::from_value(json!({
            "target_service_key": "r1", "status": "paused", "modified_at": "2026-11-23T20:43:09.825Z",
            "last_failure": "journal mismatch", "last_failure_error_code": "RT0016",
        }))
        .unwrap();
        let (_, blocked) = stuck.hold_up();
        assert_eq!(
            (blocked.kind, blocked.attempt),
            (BlockedKind::StepFailing, None)
        );
        assert!(
            blocked
                .detail
                .starts_with("the run's worker fails: journal mismatch;")
        );
    }
}
