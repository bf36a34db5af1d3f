//! The bounds of one attempt: its timeout, its cancellation, and what a panic in it comes to.

use std::{any::Any, future::Future, panic::AssertUnwindSafe, time::Duration};

use futures::FutureExt;
use neuron_types::{FailureKind, StepFailure};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::StepScope;

/// What ended a part of an attempt before it had a result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    Timeout(Duration),
    Cancelled,
    Panicked(String),
}

impl Cut {
    /// The failure of the step, where nothing more is to be said of it.
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
    cancellation: &'a CancellationToken,
}

impl<'a> Attempt<'a> {
    pub(crate) fn start(scope: &'a StepScope) -> Self {
        Self {
            timeout: scope.timeout,
            // A timeout beyond the clock's range is none.
            deadline: Instant::now().checked_add(scope.timeout),
            cancellation: &scope.cancellation,
        }
    }

    /// Awaits a part of the attempt. The future is dropped when the attempt is cut short.
    pub(crate) async fn part<T>(&self, work: impl Future<Output = T>) -> Result<T, Cut> {
        let deadline = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        // The work is polled first: a result that is there counts, whatever else happens.
        tokio::select! {
            biased;
            result = AssertUnwindSafe(work).catch_unwind() => {
                result.map_err(|panic| Cut::Panicked(panic_text(panic.as_ref())))
            }
            () = self.cancellation.cancelled() => Err(Cut::Cancelled),
            () = deadline => Err(Cut::Timeout(self.timeout)),
        }
    }
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
