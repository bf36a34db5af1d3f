//! Keeping a conversation small: token counting and compaction.
//!
//! A [`ContextStrategy`](neuron_types::ContextStrategy) decides when a conversation has to shrink and what
//! stays. Everything here runs in the loop room: it is pure, and the one thing that reaches out, the model
//! call of [`Summarization`], goes through the handle that the loop passes in.
//!
//! ```
//! use neuron_context::Strategy;
//! use neuron_types::{ContextPolicy, ContextRule, ContextStrategy, Message};
//!
//! let strategy = Strategy::from_policy(&ContextPolicy {
//!     rules: vec![
//!         ContextRule::ClearToolResults { keep: 10 },
//!         ContextRule::Summarize { keep: 20, model: None },
//!     ],
//!     at_tokens: Some(60_000),
//!     ..ContextPolicy::default()
//! });
//! let messages = [Message::user("Which crates are in this workspace?")];
//! assert!(!strategy.should_compact(&messages, strategy.token_estimate(&messages)));
//! assert!(strategy.should_compact(&messages, 60_000));
//! ```
//!
//! # Strategies
//!
//! | Strategy | What goes | What stays | Model call |
//! | --- | --- | --- | --- |
//! | [`NoCompaction`] | nothing | everything | no |
//! | [`ToolResultClearing`] | the content of older tool results | every message; the newest results | no |
//! | [`SlidingWindow`] | older messages | the first user message; the newest messages | no |
//! | [`Summarization`] | older messages | the same, and a summary of the rest | one |
//! | [`Strategy`] | what its rules say, in order, until it is enough | what its rules say | at most one a rule |
//! | [`Composite`] | what one strategy says, and another where that is not enough | what they say | theirs |
//!
//! [`PersistentContext`] holds what no compaction may lose, and [`SystemInjector`] says something again and again.
//!
//! # What every strategy promises
//!
//! 1. The first user message stays, and so does the order of the messages. What an operator said
//!    ([`Role::System`](neuron_types::Role::System)) stays, behind the first user message where what was around
//!    it went. Instructions and persistent sections are in the request and no strategy sees them.
//! 2. A tool call and its result stay or go together. Consecutive assistant messages, which are one answer in
//!    pieces, do too. Where the border would lie between them, it moves so that more stays.
//! 3. The conversation is smaller by [`token_estimate`](neuron_types::ContextStrategy::token_estimate)
//!    afterwards, and the request is under the threshold; or there is an error that says why it is not. Where
//!    something was saved, but not enough, the error carries it.
//! 4. It begins with a user message. Where older messages went, two user messages may stand side by side:
//!    the first one, then the summary or a later prompt. Providers read them as one.
//! 5. The same conversation gives the same result. Compacting twice in a row is an error the second time,
//!    or takes away what the first time left over.
//!
//! # Reasoning
//!
//! Some models refuse thinking if anything before it in the conversation changed. So an edit removes
//! from the messages after it the [`Thinking`](neuron_types::ContentBlock::Thinking) that has a signature
//! and all [`RedactedThinking`](neuron_types::ContentBlock::RedactedThinking). Thinking before the edit stays.
//! Thinking without a signature stays: nothing binds it, and some providers want it back. A message that held
//! nothing but what was removed goes.
//!
//! [`Other`](neuron_types::ContentBlock::Other) blocks stay as they are, or go with their message, unless they
//! are thinking with a field that the provider crate does not know. OpenAI's reasoning items are `Other` blocks:
//! it refuses a function call without its reasoning item and a reasoning item without what it led to, both
//! of which are in one message. It sorts out items whose prefix changed by itself.
//!
//! A model that is told to think with a fixed budget (`ThinkingConfig::Enabled`) wants the thinking of a tool
//! call back together with its result. After an edit between the two it is not there any more, and thinking has
//! to be off in the request that follows. The models that bind thinking have no fixed budget.

mod composite;
mod fit;
mod injector;
mod no_compaction;
mod older;
mod persistent;
mod sliding_window;
mod strategy;
mod summarization;
mod thinking;
mod token_counter;
mod tool_result_clearing;
mod transcript;

pub use composite::Composite;
pub use injector::{Injected, InjectionRule, InjectionTrigger, SystemInjector};
pub use no_compaction::NoCompaction;
pub use persistent::{ContextSection, PersistentContext};
pub use sliding_window::SlidingWindow;
pub use strategy::Strategy;
pub use summarization::Summarization;
pub use token_counter::TokenCounter;
pub use tool_result_clearing::ToolResultClearing;

/// The size in tokens from which a conversation is compacted where nobody says otherwise.
pub const DEFAULT_AT_TOKENS: u64 = 100_000;
