//! OpenAI's models, and servers that speak as OpenAI does.
//!
//! Two APIs, one client each:
//!
//! - [`OpenAiResponses`] for **OpenAI itself**. Its newer models take tools only there, and their reasoning
//!   survives from turn to turn only there.
//! - [`OpenAiChat`] for **compatible servers**: vLLM, llama.cpp, Ollama's `/v1`, Groq, OpenRouter, DeepSeek,
//!   Azure and many more. It speaks to OpenAI's older models too.
//!
//! ```no_run
//! use neuron_provider_openai::OpenAiResponses;
//! use neuron_types::{CompletionRequest, Message, Provider};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let openai = OpenAiResponses::builder()
//!     .api_key(std::env::var("OPENAI_API_KEY")?)
//!     .build()?;
//!
//! let request = CompletionRequest {
//!     model: "gpt-6.1-terra".into(),
//!     messages: vec![Message::user("What is the capital of France?")],
//!     ..CompletionRequest::default()
//! };
//! let response = openai.complete(&request).await?;
//! println!("{}", response.message.text());
//! # Ok(())
//! # }
//! ```
//!
//! A compatible server needs its address, and a key only if it asks for one:
//!
//! ```
//! use neuron_provider_openai::OpenAiChat;
//!
//! # fn main() -> Result<(), neuron_types::ProviderError> {
//! let llama = OpenAiChat::builder()
//!     .base_url("http://127.0.0.1:8080/v1")
//!     .build()?;
//! # Ok(())
//! # }
//! ```
//!
//! # One attempt
//!
//! A call makes one request. What went wrong is in [`ProviderError`](neuron_types::ProviderError): its kind,
//! the wait that the server asked for, the server's message, error code and request id. Retrying belongs to
//! the caller. An answer that is well-formed but holds no answer (no choice, no output) counts as a failure
//! of the server and is retryable.
//!
//! # Streams
//!
//! [`complete_stream`](neuron_types::Provider::complete_stream) hands the answer out as it comes and ends with
//! the same answer that [`complete`](neuron_types::Provider::complete) gives. Chat Completions is asked for the
//! usage of a stream unless [`OpenAiBuilder::stream_usage`] says otherwise. A stream that ends before a finish
//! reason (Chat Completions) or a final response (Responses) is a retryable failure with the code
//! [`STREAM_TRUNCATED`](neuron_provider_http::STREAM_TRUNCATED); so is one that is silent for
//! [`OpenAiBuilder::idle_timeout`], as a timeout. An error that the server sends in the stream has the kind that
//! it has as a whole answer. A server that does not stream answers in one piece.
//!
//! # Models
//!
//! For OpenAI itself, a request is checked against what is known of the model before it is sent: the reasoning
//! efforts that it takes, sampling settings beside reasoning, and tools in Chat Completions. What it would
//! refuse is an invalid request whose message says what to change. See [`OpenAiBuilder::check_models`].
//!
//! # Dialects
//!
//! [`OpenAiChat`] takes the names that differ between servers from the base URL's host: OpenAI's own names
//! for `api.openai.com`, those that older and compatible servers know for any other. See
//! [`TokenLimitField`], [`SystemRole`] and [`OpenAiBuilder::reasoning_field`].
//!
//! # What is replayed
//!
//! Append the answer's message to the conversation as it is.
//!
//! - **Responses** is used without state on the server (`store` is false), so every output item goes back:
//!   reasoning with its encrypted content, and every item that `neuron-types` has no variant for, as
//!   [`ContentBlock::Other`](neuron_types::ContentBlock::Other). A message item is split up so that its text
//!   is found in one place: an `Other` block that holds the item without its texts, followed by a `Text` for
//!   each of them. The further fields of a call are in the `extra` of
//!   [`ContentBlock::ToolUse`](neuron_types::ContentBlock::ToolUse), whose id is the `call_id`.
//! - **Chat Completions** keeps texts, calls with their further fields, and unknown content parts. Reasoning
//!   text is read and, unless a reasoning field is set, not sent back.
//!
//! A call's arguments go back letter for letter, since caches compare bytes. Arguments that are not JSON are
//! a [`Value::String`](serde_json::Value::String) in the call's input. Other providers' native blocks are not
//! recognised: strip them before you change the provider in the middle of a conversation.
//!
//! # Tools
//!
//! A tool with `strict` is sent with its objects closed, and the model is held to that schema; one with optional
//! properties is refused, as OpenAI refuses it. The API's own tools come as `tools` in the request's `extra`, in
//! the API's words, and stand behind those of the request: `{"type": "web_search"}`.
//!
//! # Keeping the conversation small
//!
//! - A compaction edit in the request has Responses compact from a threshold on. The compacted part is a block
//!   of the answer and goes back with it.
//! - [`OpenAiResponses::compact`] compacts at once. Its messages take the place of those that were sent.
//! - [`OpenAiResponses::count_tokens`] tells how large a request is.
//!
//! What Responses left out of a conversation is in
//! [`CompletionResponse::extra`](neuron_types::CompletionResponse::extra), as `input_transformations`.
//!
//! # Tool results
//!
//! They follow the calls that they answer, before anything that the user says. Neither API has a flag for a
//! failed call, so its text starts with `error: `. Chat Completions takes no pictures in results: they follow
//! in a user message.
//!
//! # How requests are mapped
//!
//! | [`CompletionRequest`](neuron_types::CompletionRequest) | Responses | Chat Completions |
//! | --- | --- | --- |
//! | `system` | `instructions` | a first message |
//! | `max_tokens` | `max_output_tokens` | `max_completion_tokens` or `max_tokens` |
//! | `reasoning_effort` | `reasoning.effort` | `reasoning_effort` |
//! | `thinking` | disabled: effort `none`; a budget is refused | the same |
//! | `response_format` | `text.format` | `response_format` |
//! | `stop_sequences` | refused | `stop` |
//! | `parallel_tool_calls` | `parallel_tool_calls`, beside tools | the same |
//! | `context_management` | `context_management`: compaction from a threshold on | refused |
//! | `extra` | merged in at the top level, where it replaces a field of the same name, but for `tools`, which are added | the same |
//!
//! `extra` may not set the model, the conversation or `stream`. Cache markers are left out: OpenAI caches by
//! itself.

mod arguments;
mod builder;
mod chat;
mod chat_answer;
mod chat_call;
mod chat_content;
mod chat_fragments;
mod chat_message;
mod chat_request;
mod chat_stream;
mod dialect;
mod failure;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod location;
mod model;
mod reasoning;
mod responses;
mod responses_answer;
mod responses_calls;
mod responses_compact;
mod responses_count;
mod responses_item;
mod responses_message;
mod responses_request;
mod responses_stream;
mod schema;

pub use builder::{DEFAULT_BASE_URL, OpenAiBuilder};
pub use chat::OpenAiChat;
pub use dialect::{ChatSettings, SystemRole, TokenLimitField};
pub use responses::{OpenAiResponses, ResponsesSettings};
pub use responses_compact::Compacted;
