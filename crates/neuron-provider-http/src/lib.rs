//! What every provider that speaks HTTP does the same.
//!
//! A provider crate knows its wire format: how a [`CompletionRequest`](neuron_types::CompletionRequest)
//! becomes a body and an answer becomes a [`CompletionResponse`](neuron_types::CompletionResponse). This
//! crate knows the rest.
//!
//! - [`HttpClient`] makes **one attempt** of a `POST` with a JSON body: with timeouts, with bounds on what
//!   comes back, without following redirects and without retrying.
//! - [`HttpClient::post_sse`] and [`HttpClient::post_ndjson`] take the answer as a stream of events, which
//!   [`EventStream::into_answer`] and the provider's [`Assemble`] turn into the answer.
//! - [`ApiKey`] keeps a key out of logs and messages.
//! - [`kind_of_status`], [`ApiFailure`] and [`retry_advice`] turn an error answer into a
//!   [`ProviderError`](neuron_types::ProviderError) that the door can decide on.
//! - [`BodyWriter`] writes a body straight from borrowed data and merges the request's `extra` fields in.
//! - [`lenient`] reads fields that servers get wrong.
//!
//! ```no_run
//! use neuron_provider_http::{ApiFailure, ApiKey, HttpClient, kind_of_status};
//!
//! # async fn example() -> Result<(), neuron_types::ProviderError> {
//! let key = ApiKey::from("sk-…");
//! let client = HttpClient::builder("example", "https://api.example.com/v1")
//!     .path(&["chat", "completions"])
//!     .secret_header("authorization", "Bearer ", &key)
//!     .build()?;
//!
//! let reply = client.post(&serde_json::json!({ "model": "m" }), &[]).await?;
//! if !reply.is_success() {
//!     let failure = ApiFailure::new(kind_of_status(reply.status()));
//!     return Err(client.failure(&reply, failure));
//! }
//! let answer: serde_json::Value = client.decode(&reply)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Streams
//!
//! The decoders are this crate's own. `eventsource-stream` and `sse-stream` bound no event, so that a faulty
//! server could fill the memory, and drop a last event that no blank line follows; the former also copies
//! the rest of its buffer at each line. [`SseDecoder`] and [`NdjsonDecoder`] look at each byte once, whatever
//! the split, and hold one event.
//!
//! | what happens to a stream | error, all with the partial answer already handed out |
//! | --- | --- |
//! | nothing comes for [`HttpClientBuilder::idle_timeout`] | `timeout` |
//! | the connection breaks | `network` |
//! | the body ends before the wire's end marker | `network` with the code [`STREAM_TRUNCATED`] |
//! | an event is not JSON of the wire | `network` |
//! | an event has more than [`MAX_EVENT`] bytes | `unavailable`, not to be retried |
//! | an event says that the answer failed | as the provider's crate reads it |
//!
//! Dropping a stream closes its connection.
//!
//! # What is never in a message
//!
//! Errors name the server by scheme, host and port. Paths and queries stay out, because they may hold
//! secrets, and a key that a server echoes in an error body is blanked.

mod api_key;
mod assemble;
mod body;
mod client;
mod event;
mod extra;
mod failure;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod lenient;
mod ndjson;
mod reply;
mod retry;
mod schema;
mod sse;
mod streaming;
mod text;
mod transport;

pub use api_key::ApiKey;
pub use assemble::{Assemble, Progress, StreamFault};
pub use body::BodyWriter;
pub use client::{DEFAULT_TIMEOUT, HttpClient, HttpClientBuilder};
pub use event::{EventDecoder, EventTooLarge, MAX_EVENT, WireEvent};
pub use extra::{extra_fields, kept, native_tools, tool_fields};
pub use failure::{ApiFailure, kind_of_status};
pub use lenient::lenient;
pub use ndjson::NdjsonDecoder;
pub use reply::{MAX_ERROR_BODY, MAX_SUCCESS_BODY, Reply};
pub use retry::{MAX_RETRY_AFTER, RetryAdvice, retry_advice};
pub use schema::closed_schema;
pub use sse::SseDecoder;
pub use streaming::{DEFAULT_IDLE_TIMEOUT, EventStream, STREAM_TRUNCATED, Streamed};
pub use text::{Joined, ResultText};
