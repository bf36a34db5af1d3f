//! Waiting: for a time, and for a signal.

use std::time::Duration;

use neuron_types::DurableError;
use serde_json::Value;
use tokio::time::Instant;

use super::{
    JournaledContext, ParkPolicy,
    column::{later, remaining, wall_clock},
    effects::{left_out, matching},
    steps::{self, Asked, Progress},
    supervise::supervise,
};

/// How often a waiting run looks for its signal.
const BETWEEN_POLLS: Duration = Duration::from_millis(50);

/// The result of a sleep, and of a wait that ended without a signal.
const NOTHING: &str = "null";

impl JournaledContext {
    /// Its end is journaled before it begins, so that a restart waits for what is left of it.
    pub(crate) async fn sleep_durably(&self, duration: Duration) -> Result<(), DurableError> {
        let core = &self.core;
        let op = core.next_ops(1).start;
        let asked = Asked {
            op,
            kind: "sleep",
            label: "sleep".to_owned(),
            fingerprint: format!("sleep for {} ms", duration.as_millis()),
        };
        let progress = self.recall(&asked).await?;
        if let Some(Progress::Done { at, .. }) = progress {
            core.consumed(at);
            return Ok(());
        }
        if op < core.last_recorded {
            return Err(left_out(&asked));
        }
        core.stop.check()?;
        let due_at = match progress {
            Some(Progress::Due {
                due_at: Some(due_at),
                ..
            }) => due_at,
            _ => {
                let due_at = later(wall_clock(), duration);
                let begun = asked.clone();
                core.commit(move |transaction, run| {
                    steps::begin(transaction, run, &begun, Some(due_at))
                })
                .await?;
                due_at
            }
        };
        let stopped = core.stop.token().cancelled();
        let waiting = tokio::time::timeout(remaining(due_at), stopped);
        if supervise(core, waiting).await.is_ok() {
            return core.stop.check();
        }
        core.record(asked, NOTHING.to_owned(), Some(due_at)).await?;
        Ok(())
    }

    /// The payload of the next signal of this name, or `None` when the time is over.
    pub(crate) async fn next_signal(
        &self,
        name: &str,
        timeout: Option<Duration>,
    ) -> Result<Option<Value>, DurableError> {
        let core = &self.core;
        let op = core.next_ops(1).start;
        let asked = Asked {
            op,
            kind: "wait",
            label: "wait".to_owned(),
            fingerprint: format!("wait for signal {name}"),
        };
        if let Some(Progress::Done { result, at }) = self.recall(&asked).await? {
            core.consumed(at);
            let taken: Option<i64> = serde_json::from_str(&result).map_err(DurableError::engine)?;
            return match taken {
                Some(id) => Ok(Some(core.taken_signal(id).await?)),
                None => Ok(None),
            };
        }
        let is_poll = timeout == Some(Duration::ZERO);
        if is_poll && core.is_behind(op) {
            // It found nothing then, so it finds nothing now.
            return Ok(None);
        }
        if op < core.last_recorded {
            return Err(left_out(&asked));
        }
        core.stop.check()?;
        if is_poll {
            let signal = core.take_signal(asked, name.to_owned()).await?;
            core.stop.check()?;
            return Ok(signal);
        }
        self.wait_live(asked, name, timeout).await
    }

    async fn wait_live(
        &self,
        asked: Asked,
        name: &str,
        timeout: Option<Duration>,
    ) -> Result<Option<Value>, DurableError> {
        let core = &self.core;
        core.flush().await?;
        // Counted from the newest result, which is the same however often the process is restarted.
        let deadline = timeout.map(|timeout| later(core.now(), timeout));
        let wake_at = deadline.and_then(|at| Instant::now().checked_add(remaining(at)));
        loop {
            if let Some(signal) = core.take_signal(asked.clone(), name.to_owned()).await? {
                return Ok(Some(signal));
            }
            core.stop.check()?;
            // The monotonic clock may stand still while the machine sleeps.
            let is_over = deadline.is_some_and(|at| at <= wall_clock())
                || wake_at.is_some_and(|at| at <= Instant::now());
            if is_over {
                core.record(asked, NOTHING.to_owned(), deadline).await?;
                return Ok(None);
            }
            if self.park == ParkPolicy::Suspend {
                return Err(DurableError::Suspended);
            }
            let next_poll = Instant::now() + BETWEEN_POLLS;
            let next_look = wake_at.map_or(next_poll, |at| at.min(next_poll));
            tokio::select! {
                () = core.stop.token().cancelled() => {}
                () = tokio::time::sleep_until(next_look) => {}
            }
        }
    }

    async fn recall(&self, asked: &Asked) -> Result<Option<Progress>, DurableError> {
        let recorded = self.core.recall(asked.op..asked.op + 1).await?;
        matching(asked, recorded.into_iter().next().flatten())
    }
}
