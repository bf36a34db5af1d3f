//! Claude through Anthropic's Messages API.
//!
//! ```no_run
//! use neuron_provider_anthropic::Anthropic;
//! use neuron_types::{CompletionRequest, Message, Provider};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let claude = Anthropic::builder()
//!     .api_key(std::env::var("ANTHROPIC_API_KEY")?)
//!     .build()?;
//!
//! let request = CompletionRequest {
//!     model: "claude-opus-5-5".into(),
//!     messages: vec![Message::user("What is the capital of France?")],
//!     ..CompletionRequest::default()
//! };
//! let response = claude.complete(&request).await?;
//! println!("{}", response.message.text());
//! # Ok(())
//! # }
//! ```
//!
//! # One attempt
//!
//! A call makes one request. What went wrong is in [`ProviderError`](neuron_types::ProviderError): its kind,
//! the wait that the server asked for, Anthropic's message, error code and request id. Retrying belongs to
//! the caller.
//!
//! # What is replayed
//!
//! Append the answer's message to the conversation as it is. Its blocks go back as they came and in the same
//! order: thinking with its signature, redacted thinking, and every block that `neuron-types` has no variant
//! for, which travels as [`ContentBlock::Other`](neuron_types::ContentBlock::Other). Two things are split up
//! so that a reader finds text and calls in one place:
//!
//! - a text block with citations is an `Other` block that holds the rest of it, followed by its `Text`;
//! - the further fields of a `tool_use` block are in the `extra` of
//!   [`ContentBlock::ToolUse`](neuron_types::ContentBlock::ToolUse).
//!
//! Thinking without a signature, which Anthropic did not write, and blank text, which it refuses, are left
//! out. Other providers' native blocks are not recognised: strip them before you change the provider in the
//! middle of a conversation.
//!
//! # Order of messages
//!
//! Consecutive messages of one role become one, and tool results come first in it, as the API demands.
//!
//! # Versions
//!
//! [`ApiVersion::V2026_10_21`] is the default. It takes no sampling parameters, so a request with a
//! `temperature` is refused here, before it is sent. [`ApiVersion::V2023_06_01`] still takes them for models
//! up to 4.6.
//!
//! # Caching
//!
//! Unless [`AnthropicBuilder::automatic_caching`] is switched off, cache markers are placed on the last tool,
//! the last part of the system prompt and the last block of the newest user message. Where the request has
//! markers of its own, they stand, and only the one in the newest user message is added.
//!
//! # How requests are mapped
//!
//! | [`CompletionRequest`](neuron_types::CompletionRequest) | body |
//! | --- | --- |
//! | `max_tokens` | as asked; else [`AnthropicBuilder::max_tokens`], plus the thinking budget if there is one |
//! | `reasoning_effort` | `output_config.effort`, with adaptive thinking unless `thinking` says otherwise; `none` turns thinking off; `minimal` is refused |
//! | `response_format` | `output_config.format`; a JSON object without a schema is refused |
//! | `context_management` | `context_management.edits`, with the beta flag of a dated `compact_…` strategy |
//! | `extra` | merged in at the top level, where it replaces a field of the same name; it may not set `model`, `messages` or `stream` |

mod answer;
mod block;
mod cache;
mod client;
mod failure;
mod message;
mod request;
mod version;

pub use client::{Anthropic, AnthropicBuilder, DEFAULT_BASE_URL, DEFAULT_MAX_TOKENS};
pub use version::ApiVersion;
