//! Models that Ollama serves, through its own API, `/api/chat`.
//!
//! ```no_run
//! use neuron_provider_ollama::Ollama;
//! use neuron_types::{CompletionRequest, Message, Provider};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let ollama = Ollama::builder().num_ctx(16_384).build()?;
//!
//! let request = CompletionRequest {
//!     model: "qwen3".into(),
//!     messages: vec![Message::user("What is the capital of France?")],
//!     ..CompletionRequest::default()
//! };
//! let response = ollama.complete(&request).await?;
//! println!("{}", response.message.text());
//! # Ok(())
//! # }
//! ```
//!
//! Ollama also serves OpenAI's Chat Completions. Only its own API reaches the size of the context, how long
//! the model stays loaded, and thinking.
//!
//! # One attempt
//!
//! A call makes one request for an answer. What went wrong is in
//! [`ProviderError`](neuron_types::ProviderError). Retrying belongs to the caller.
//!
//! | Ollama says | kind |
//! | --- | --- |
//! | 503, too many requests wait | `overloaded` |
//! | the model is being loaded | `model_loading` |
//! | 404, no such model | `model_not_found` |
//! | 401, not signed in to the cloud | `authentication`, with the address to sign in at |
//! | the conversation does not fit | `context_length` |
//! | an error among the lines of a stream | the same, else `unavailable` |
//!
//! Loading a model takes as long as it takes: nothing comes meanwhile, so a stream's
//! [`idle_timeout`](OllamaBuilder::idle_timeout) and an attempt's [`timeout`](OllamaBuilder::timeout) must
//! leave time for it.
//!
//! # Context
//!
//! Where [`OllamaBuilder::num_ctx`] is not set, the server decides, and often on 4096 tokens. By itself it
//! would drop the oldest messages of a longer conversation without a word. Requests from here say
//! `truncate: false` and `shift: false`, so that it is an error, which an agent's context strategy can act
//! on. `extra` can set both.
//!
//! # What a model can do
//!
//! Before a request with tools, pictures, thinking or a schema is sent, the model is looked up with
//! `/api/show`, once for each model, and what it cannot do is an invalid request that says what to change:
//! [`OllamaBuilder::check_models`]. A server that does not tell is not checked.
//!
//! # What is replayed
//!
//! Append the answer's message to the conversation as it is. Reasoning goes back as `thinking`, tool calls
//! with their further fields, and fields of the message that `neuron-types` has no variant for, which travel
//! as [`ContentBlock::Other`](neuron_types::ContentBlock::Other). Signed reasoning, which Ollama did not
//! write, is left out. A call that comes without an id gets one that is made of the answer, so that the same
//! answer has the same ids.
//!
//! A model that Ollama does not know to be thinking may write `<think>…</think>` into its text. That stays
//! there.
//!
//! # How requests are mapped
//!
//! | [`CompletionRequest`](neuron_types::CompletionRequest) | body |
//! | --- | --- |
//! | `max_tokens`, `temperature`, `top_p`, `stop_sequences` | `options` |
//! | `thinking`, `reasoning_effort` | `think`; a budget, `minimal` and `xhigh` are refused; else [`OllamaBuilder::think`] |
//! | `response_format` | `format`; refused for cloud models. Say in the prompt, too, what the fields mean |
//! | `tool_choice` | none: leaves out the tools; required or a tool: refused |
//! | `parallel_tool_calls` | false is refused |
//! | `context_management` | refused |
//! | `extra` | merged in at the top level, where it replaces a field of the same name, and in `options`; it may not set `model`, `messages` or `stream` |
//!
//! Pictures are sent inline; those at an address are refused, and so are documents that are not text.

mod address;
mod answer;
mod call;
mod client;
mod failure;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod keep_alive;
mod message;
mod model;
mod request;
mod schema;
mod stream;
mod think;

pub use address::base_url_of_host;
pub use client::{DEFAULT_BASE_URL, Ollama, OllamaBuilder};
pub use keep_alive::KeepAlive;
pub use think::Think;
