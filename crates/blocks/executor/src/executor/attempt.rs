//! The bounds of one attempt: its timeout, its cancellation, and the failure that a panic in it becomes.

use std::{any::Any, future::Future, panic::AssertUnwindSafe, pin::pin, time::Duration};

use futures::FutureExt;
use neuron_types::{FailureKind, StepFailure};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{StepScope, longest_answer};

/// How long a tool that is cut short has to end by itself. Longer than `bash` gives its command.
const NOTICE: Duration = Duration::from_secs(3);

/// What ended a part of an attempt before it had a result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    Timeout(Duration),
    Cancelled,
    Panicked(String),
}

impl Cut {
    /// Returns the failure of the step, where there is nothing to add to it.
    pub(crate) fn into_failure(self, what: &str) -> StepFailure {
        match self {
            Self::Timeout(limit) => StepFailure::new(FailureKind::Timeout, no_result(what, limit)),
            Self::Cancelled => {
                StepFailure::new(FailureKind::Cancelled, format!("{what} was cancelled"))
            }
            Self::Panicked(text) => {
                StepFailure::new(FailureKind::Internal, format!("{what} panicked: {text}"))
            }
        }
    }
}

pub(crate) fn no_result(what: &str, limit: Duration) -> String {
    format!("{what} had no result within {limit:?}")
}

/// One attempt under way.
pub(crate) struct Attempt<'a> {
    timeout: Duration,
    deadline: Option<Instant>,
    /// When the attempt ends at the latest, however often it shows progress.
    latest: Option<Instant>,
    cancellation: &'a CancellationToken,
}

impl<'a> Attempt<'a> {
    /// Begins an attempt that may take as long as its scope says, and no longer than `longest`.
    pub(crate) fn start(scope: &'a StepScope, longest: Duration) -> Self {
        let timeout = scope.timeout.min(longest);
        let now = Instant::now();
        Self {
            timeout,
            // A timeout beyond the clock's range never ends the attempt.
            deadline: now.checked_add(timeout),
            latest: now.checked_add(longest_answer(timeout)),
            cancellation: &scope.cancellation,
        }
    }

    /// Awaits a part of the attempt. The future is dropped when the attempt is cut short.
    pub(crate) async fn part<T>(&self, work: impl Future<Output = T>) -> Result<T, Cut> {
        // The work is polled first: a result that is there counts, whatever else happens.
        tokio::select! {
            biased;
            result = caught(work) => result,
            cut = self.cut() => Err(cut),
        }
    }

    /// As [`part`](Self::part), for work that few attempts have. It is boxed: the future of each attempt, and those around
    /// it, would be moved with the room for it.
    pub(crate) async fn rare_part<T>(&self, work: impl Future<Output = T>) -> Result<T, Cut> {
        self.part(Box::pin(work)).await
    }

    /// Awaits a preliminary that does not count: the attempt's clock is paused.
    pub(crate) async fn beside<T>(&mut self, waiting: impl Future<Output = T>) -> Result<T, Cut> {
        let since = Instant::now();
        let result = tokio::select! {
            biased;
            () = self.cancellation.cancelled() => Err(Cut::Cancelled),
            result = waiting => Ok(result),
        };
        let waited = since.elapsed();
        let later = |at: Option<Instant>| at.and_then(|at| at.checked_add(waited));
        self.deadline = later(self.deadline);
        self.latest = later(self.latest);
        result
    }

    /// Notes that a part shows progress: the attempt has its time anew.
    pub(crate) fn goes_on(&mut self) {
        let anew = Instant::now().checked_add(self.timeout);
        self.deadline = match (anew, self.latest) {
            (Some(anew), Some(latest)) => Some(anew.min(latest)),
            (anew, latest) => anew.or(latest),
        };
    }

    /// Returns why an answer that had begun was cut off.
    pub(crate) fn cut_off(&self) -> String {
        if self.deadline == self.latest {
            let longest = longest_answer(self.timeout);
            format!("the model's answer was not whole within {longest:?}")
        } else {
            format!(
                "nothing more came of the model's answer within {:?}",
                self.timeout
            )
        }
    }

    /// Returns how long it may take.
    pub(crate) const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// As [`part`](Self::part), but the work is notified through its token first and has a moment to end by itself: to
    /// stop what it started, or to report after all that it is done.
    pub(crate) async fn part_with_notice<T, E>(
        &self,
        token: &CancellationToken,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<Result<T, E>, Cut> {
        let mut work = pin!(caught(work));
        let cut = tokio::select! {
            biased;
            result = &mut work => return result,
            cut = self.cut() => cut,
        };
        token.cancel();
        match tokio::time::timeout(NOTICE, work).await {
            Ok(Ok(Ok(result))) => Ok(Ok(result)),
            _ => Err(cut),
        }
    }

    /// Waits for what cuts the attempt short.
    async fn cut(&self) -> Cut {
        let deadline = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.cancellation.cancelled() => Cut::Cancelled,
            () = deadline => Cut::Timeout(self.timeout),
        }
    }
}

async fn caught<T>(work: impl Future<Output = T>) -> Result<T, Cut> {
    AssertUnwindSafe(work)
        .catch_unwind()
        .await
        .map_err(|panic| Cut::Panicked(panic_text(panic.as_ref())))
}

/// Returns the message of a panic, as [`catch_unwind`](std::panic::catch_unwind) returns it; `"no message"` if it is no
/// text.
#[must_use]
pub fn panic_text(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
