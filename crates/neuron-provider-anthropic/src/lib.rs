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
//! # Streams
//!
//! [`complete_stream`](neuron_types::Provider::complete_stream) hands out text, thinking and calls as they
//! come. Its last event is the answer, the very one that comes without a stream, or the error that ended it:
//! a stream that breaks off, falls silent for [`AnthropicBuilder::idle_timeout`] or says that it failed is
//! never taken for an answer. Dropping the stream closes the connection.
//!
//! An answer of more than 21,333 tokens may take longer than a request should, so where `max_tokens` allows
//! one, `complete` streams too and waits for the end.
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
//! # Thinking that lost its place
//!
//! Newer models refuse signed thinking if anything before it changed. Who edits a conversation strips the
//! thinking after the edit, as `neuron-context` does, or has the API drop it:
//! [`AnthropicBuilder::drop_mismatched_thinking`]. Where this crate has to change something itself, arguments
//! of a call that are no object, it leaves out the thinking after it.
//!
//! With a thinking budget, the API wants the newest tool turn to begin with its thinking. Where an edit took
//! that away, the request goes with thinking off; the next turn has it again.
//!
//! # Order of messages
//!
//! Consecutive messages of one role become one, and tool results come first in it, as the API demands. What an
//! operator says inside the conversation goes behind what the user says at the same time.
//!
//! # What models take
//!
//! [`ModelCapabilities`] says it of the models that are known here. What a model does not take is refused
//! before it is sent, with what to change and the code [`UNSUPPORTED`]: a temperature, a thinking budget, a
//! forced call, thinking that is to be off where it cannot be. Nothing is refused for a model that is not
//! known, or with [`AnthropicBuilder::check_models`] off. [`Anthropic::model`] asks the API, and
//! [`AnthropicBuilder::capabilities`] takes what it says.
//!
//! # Versions
//!
//! [`ApiVersion::V2026_10_21`] is the default. It takes no sampling parameters, so a request with a
//! `temperature` is refused here. [`ApiVersion::V2023_06_01`] still takes them for models up to 4.6.
//!
//! # Caching
//!
//! Unless [`AnthropicBuilder::automatic_caching`] is switched off, cache markers are placed on the last tool,
//! the last part of the system prompt and the last block of each of the two newest user messages: what one
//! turn wrote to the cache is read by the next, however many calls came in between. Markers of the request
//! stand; where it has some on tools or system, only those in user messages are added, and where it has some
//! in the conversation, none. [`AnthropicBuilder::cache_ttl`] sets how long they keep.
//!
//! # Tools
//!
//! A tool with `strict` is sent with its objects closed, and the model is held to that schema. The API's own tools
//! come as `tools` in the request's `extra`, in the API's words, and stand before those of the request:
//! `{"type": "web_search_20260318", "name": "web_search"}`. What they do is in the answer and is replayed with
//! it. Code that they run goes on in the container of the newest answer that had one, which the answer's last
//! block tells: the request need not name it.
//!
//! # What else an answer says
//!
//! [`CompletionResponse::extra`](neuron_types::CompletionResponse::extra) holds, where the API says so: the
//! `stop_sequence` that came up, what it took out of the context (`context_management`), what became of
//! thinking that lost its place (`input_transformations`), and `diagnostics`.
//!
//! # Keeping the conversation small
//!
//! - [`ContextEdit`](neuron_types::ContextEdit)s in the request: the API leaves out older tool results or
//!   thinking, or summarises from a threshold on. The summary is a block of the answer and goes back with it.
//! - [`Anthropic::compact`] summarises at once. Its message takes the place of those that were sent.
//! - [`Anthropic::count_tokens`] tells how large a request is.
//!
//! # How requests are mapped
//!
//! | [`CompletionRequest`](neuron_types::CompletionRequest) | body |
//! | --- | --- |
//! | `max_tokens` | as asked; else [`AnthropicBuilder::max_tokens`], plus the thinking budget if there is one |
//! | `tool_choice`, `parallel_tool_calls` | `tool_choice` |
//! | `reasoning_effort` | `output_config.effort`, with adaptive thinking where the model has it unless `thinking` says otherwise; `none` turns thinking off; `minimal` is refused |
//! | `response_format` | `output_config.format`, its objects closed where they do not say; a JSON object without a schema is refused |
//! | `context_management` | `context_management.edits`, thinking first, with the beta flags that they need |
//! | `extra` | merged in at the top level, where it replaces a field of the same name, but for `tools`, which are added; it may not set `model`, `messages` or `stream`. `compaction`, `context_management`, `fallbacks`, `mcp_servers`, `thread`, `output_config.task_budget` and a fast `speed` bring their beta flags |

mod answer;
mod beta;
mod block;
mod builder;
mod cache;
mod capabilities;
mod check;
mod client;
mod compact;
mod container;
mod context;
mod count;
mod display;
mod failure;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod message;
mod models;
mod refusal;
mod request;
mod stream;
mod thinking;
mod tool;
mod version;

pub use builder::{AnthropicBuilder, DEFAULT_BASE_URL, DEFAULT_MAX_TOKENS};
pub use capabilities::ModelCapabilities;
pub use client::Anthropic;
pub use compact::Summary;
pub use count::TokenCount;
pub use display::ThinkingDisplay;
pub use models::ModelInfo;
pub use refusal::UNSUPPORTED;
pub use version::ApiVersion;
