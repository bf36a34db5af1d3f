//! How large the conversation is, and what the model is reminded of.

use neuron_types::{Message, Reported, Role, TokenUsage};

use crate::AgentMachine;

impl AgentMachine {
    /// The size of the request with messages of this estimate after the counted ones.
    #[must_use]
    pub fn tokens_with(&self, estimate: u64) -> u64 {
        let calibrated = self.state.context.calibration.apply(estimate);
        self.state.context.tokens.saturating_add(calibrated)
    }

    /// Sets the size of the conversation to a count that is known.
    pub(crate) fn count_context(&mut self, tokens: u64) {
        self.state.context.estimated = 0;
        self.state.context.uncounted_tools = 0;
        self.state.context.tokens = tokens;
        self.state.context.counted_messages = self.messages().len();
    }

    /// The conversation is as large as it is known to be and estimated from there on.
    pub(crate) fn estimate_context(&mut self, tokens: u64, estimated: u64) {
        let before = self.state.context.estimated;
        self.count_context(tokens);
        self.state.context.estimated = before.saturating_add(estimated);
    }

    /// Takes up what the provider says of the conversation's size, and how far off the estimate was.
    ///
    /// Only growth from one report to the next shows that: before the first report the size of the instructions and
    /// tools is not known, and after a compaction no size is.
    pub(crate) fn count_reported(&mut self, usage: &TokenUsage) {
        let estimated = self.state.context.estimated;
        let calibrated = self.state.context.calibration.apply(estimated);
        let known = self.state.context.tokens.saturating_sub(calibrated);
        let grown = usage.input_tokens.saturating_sub(known);
        if known > 0 && estimated > 0 && grown > 0 {
            self.state.context.calibration.observe(estimated, grown);
        }
        self.count_context(usage.total());
        self.state.context.reported = Reported {
            tokens: usage.total(),
            messages: self.messages().len(),
            tools_since: 0,
        };
    }

    /// Returns whether a message may be added for the model: the last word of the model is not an answer that it
    /// continues.
    pub(crate) fn takes_reminders(&self) -> bool {
        let last = self.messages().last();
        last.is_some_and(|message| message.role != Role::Assistant)
    }

    /// Says this to the model.
    pub(crate) fn remind(&mut self, messages: Vec<Message>, estimate: u64) {
        self.state.context.reminded = self.state.milestone();
        if messages.is_empty() {
            return;
        }
        for message in messages {
            self.push(message);
        }
        self.hold_again();
        let tokens = self.tokens_with(estimate);
        if self.state.context.estimated == 0 {
            // The conversation was just compacted: its growth until the next report is unknown.
            self.count_context(tokens);
        } else {
            self.estimate_context(tokens, estimate);
        }
    }
}
