//! Whether a conversation fits now.

use neuron_types::{ContextError, Message, ModelHandle, RequestSize};

/// A request before its conversation shrinks, and the size that the new request has to stay below.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    before: RequestSize,
    /// The estimate of its messages.
    estimate: u64,
    at_tokens: u64,
}

impl Fit {
    /// A request with messages of this estimate. Where the model's handle does not know its size, that is
    /// the estimate.
    pub(crate) fn new(estimate: u64, at_tokens: u64, model: &impl ModelHandle) -> Self {
        let before = model.request_size().unwrap_or(RequestSize {
            tokens: estimate,
            calibration: neuron_types::TokenCalibration::default(),
        });
        Self {
            before,
            estimate,
            at_tokens,
        }
    }

    /// The size of the whole request.
    pub(crate) const fn before(&self) -> u64 {
        self.before.tokens
    }

    /// Its size with messages of this estimate instead.
    pub(crate) fn with(&self, estimate: u64) -> u64 {
        self.before
            .without(self.estimate.saturating_sub(estimate))
            .tokens
    }

    /// Hands out the messages, of this estimate, if the request is under the threshold with them.
    pub(crate) fn judge(
        &self,
        messages: Vec<Message>,
        estimate: u64,
        why: impl FnOnce() -> String,
    ) -> Result<Vec<Message>, ContextError> {
        let tokens = self.with(estimate);
        if tokens < self.at_tokens {
            return Ok(messages);
        }
        let beside = self.with(0);
        let reason = if beside >= self.at_tokens {
            format!(
                "the instructions and tools alone take about {beside} tokens: raise at_tokens or shorten them"
            )
        } else {
            why()
        };
        Err(ContextError::StillTooLarge {
            messages,
            tokens,
            at_tokens: self.at_tokens,
            reason,
        })
    }
}
