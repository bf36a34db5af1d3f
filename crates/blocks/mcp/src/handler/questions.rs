//! When a server may ask this side: while it works on something for us, and not for ever.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::ClientRequest;
use tokio_util::sync::CancellationToken;

use crate::McpError;

/// How many questions a server may ask for each piece of work.
const MAX_QUESTIONS: u32 = 20;

/// The work that one connection's server does for us, and what it may ask meanwhile. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Questions(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    under_way: u32,
    left: u32,
    /// Cancelled when nothing is under way any more.
    idle: CancellationToken,
}

/// A piece of work. It is over when this is dropped.
#[derive(Debug)]
pub(crate) struct Work(Questions);

impl Questions {
    /// Returns the work that this request is, if it is any: a server that lists its tools has nothing to ask.
    pub(crate) fn work(&self, request: &ClientRequest) -> Option<Work> {
        let is_work = matches!(
            request,
            ClientRequest::CallToolRequest(_)
                | ClientRequest::GetPromptRequest(_)
                | ClientRequest::ReadResourceRequest(_)
        );
        is_work.then(|| self.begin())
    }

    fn begin(&self) -> Work {
        let mut inner = self.lock();
        inner.under_way += 1;
        inner.left = inner.left.saturating_add(MAX_QUESTIONS);
        Work(self.clone())
    }

    /// Counts a question of the server. The answer is no longer needed when the token is cancelled.
    pub(crate) fn ask(&self) -> Result<CancellationToken, McpError> {
        let mut inner = self.lock();
        if inner.under_way == 0 {
            let reason = "a server may ask only while it works on a request";
            return Err(McpError::Handler(reason.to_owned()));
        }
        let Some(left) = inner.left.checked_sub(1) else {
            let reason = format!("a server may ask {MAX_QUESTIONS} times for a request");
            return Err(McpError::Handler(reason));
        };
        inner.left = left;
        Ok(inner.idle.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let mut inner = self.0.lock();
        inner.under_way = inner.under_way.saturating_sub(1);
        if inner.under_way == 0 {
            inner.left = 0;
            std::mem::take(&mut inner.idle).cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_may_ask_while_it_works_and_a_bounded_number_of_times() {
        let questions = Questions::default();
        assert!(questions.ask().is_err());
        let work = questions.begin();
        for _ in 0..MAX_QUESTIONS {
            questions.ask().unwrap();
        }
        let refused = questions.ask().unwrap_err();
        assert_eq!(
            refused.to_string(),
            "a server may ask 20 times for a request"
        );
        let more = questions.begin();
        let answer = questions.ask().unwrap();
        drop(work);
        assert!(!answer.is_cancelled(), "other work goes on");
        drop(more);
        assert!(answer.is_cancelled());
        assert!(questions.ask().is_err());
        let _work = questions.begin();
        assert!(!questions.ask().unwrap().is_cancelled());
    }
}
