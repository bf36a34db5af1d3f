//! The strategy of an agent: several rules in order.

use neuron_types::{
    ContextError, ContextPolicy, ContextRule, ContextStrategy, DurableError, Message, ModelHandle,
    Reminder, RunState,
};

use crate::{
    TokenCounter,
    strategies::fit::Fit,
    strategies::no_compaction::no_rules,
    strategies::sliding_window::slide,
    strategies::summarization::{Wanted, summarize},
    strategies::tool_result_clearing::clear,
};

/// What can be done where every rule was used.
const MORE: &str =
    "what the rules keep is too large: lower keep, add another context strategy or raise at_tokens";

/// What an agent's [`ContextPolicy`] says, ready to be used by the loop.
///
/// Rules are tried in order until the conversation is a tenth smaller than the threshold, and than it was.
/// The tenth keeps the next turn from compacting again, since every compaction costs the provider's prompt
/// cache. The comparison with the size before is for models that count more tokens than the estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct Strategy {
    rules: Vec<ContextRule>,
    at_tokens: u64,
    reminders: Vec<Reminder>,
    counter: TokenCounter,
}

impl Strategy {
    /// Takes the rules, the threshold and the reminders of a policy. The threshold is [`DEFAULT_AT_TOKENS`](crate::DEFAULT_AT_TOKENS) where the policy
    /// has none. Without rules everything is kept.
    #[must_use]
    pub fn from_policy(policy: &ContextPolicy) -> Self {
        Self {
            rules: policy.rules.clone(),
            at_tokens: policy.threshold(),
            reminders: policy.reminders.clone(),
            counter: TokenCounter::default(),
        }
    }

    /// Compacts nothing.
    #[must_use]
    pub fn keep_everything() -> Self {
        Self::from_policy(&ContextPolicy::default())
    }

    /// Sets what tokens are estimated with. Default is four characters a token.
    #[must_use]
    pub const fn with_counter(mut self, counter: TokenCounter) -> Self {
        self.counter = counter;
        self
    }

    /// Returns what tokens are estimated with.
    #[must_use]
    pub const fn counter(&self) -> TokenCounter {
        self.counter
    }

    async fn apply<M: ModelHandle>(
        &self,
        rule: &ContextRule,
        messages: &mut Vec<Message>,
        model: &M,
    ) -> Result<(), ContextError> {
        match rule {
            ContextRule::SlidingWindow { keep } => slide(messages, *keep),
            ContextRule::ClearToolResults { keep } => clear(messages, *keep, self.counter),
            ContextRule::Summarize {
                keep,
                model: name,
                summary_prompt,
            } => {
                let wanted = Wanted {
                    keep: *keep,
                    model: name.as_deref(),
                    prompt: summary_prompt.as_deref(),
                    counter: self.counter,
                };
                summarize(messages, &wanted, model).await
            }
            other => Err(ContextError::CompactionFailed(format!(
                "this build does not know the context strategy {other:?}"
            ))),
        }
    }
}

impl ContextStrategy for Strategy {
    fn should_compact(&self, _messages: &[Message], token_count: u64) -> bool {
        !self.rules.is_empty() && token_count >= self.at_tokens
    }

    /// A rule that fails is passed over.
    ///
    /// # Errors
    ///
    /// If no rule made the conversation smaller: the errors of the rules, or [`ContextError::Model`] if a summary call
    /// was among them. Also [`ContextError::Model`], at once and whatever was saved, where the door said that the run
    /// cannot continue. [`ContextError::StillTooLarge`] if the conversation is not under the threshold after the last
    /// rule.
    async fn compact<M: ModelHandle>(
        &self,
        mut messages: Vec<Message>,
        model: &M,
    ) -> Result<Vec<Message>, ContextError> {
        let mut estimate = self.token_estimate(&messages);
        let fit = Fit::new(estimate, self.at_tokens, model);
        let bound = self.at_tokens.min(fit.before());
        let target = bound - bound / 10;
        let mut smaller = false;
        let mut model_failure = None;
        let mut reasons = Vec::new();
        for rule in &self.rules {
            match self.apply(rule, &mut messages, model).await {
                Ok(()) => {
                    smaller = true;
                    estimate = self.token_estimate(&messages);
                    if fit.with(estimate) <= target {
                        break;
                    }
                }
                Err(ContextError::Model(DurableError::Step(failure))) => {
                    model_failure = Some(failure);
                }
                Err(ContextError::CompactionFailed(reason)) => reasons.push(reason),
                Err(error) => return Err(error),
            }
        }
        if smaller {
            fit.judge(messages, estimate, || {
                reasons.extend(
                    model_failure.map(|failure| format!("the summary call failed: {failure}")),
                );
                reasons.push(MORE.to_owned());
                reasons.join("; ")
            })
        } else if let Some(failure) = model_failure {
            Err(ContextError::Model(DurableError::Step(failure)))
        } else if reasons.is_empty() {
            Err(no_rules())
        } else {
            Err(ContextError::CompactionFailed(reasons.join("; ")))
        }
    }

    fn token_estimate(&self, messages: &[Message]) -> u64 {
        self.counter.estimate_messages(messages)
    }

    fn adopt(&mut self, policy: &ContextPolicy) {
        let counter = self.counter;
        *self = Self::from_policy(policy).with_counter(counter);
    }

    fn remind(&self, state: &RunState) -> Vec<String> {
        let (before, now) = (state.context.reminded, state.milestone());
        let reminders = self.reminders.iter();
        let due = reminders.filter(|reminder| reminder.when.is_due(&before, &now));
        due.map(|reminder| reminder.text.clone()).collect()
    }
}
