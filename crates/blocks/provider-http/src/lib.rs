#![doc = include_str!("../README.md")]

mod client;
mod environment;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod json;
mod stream;

pub use client::api_key::ApiKey;
pub use client::failure::{ApiFailure, kind_of_status};
pub use client::http_client::{
    DEFAULT_IDLE_TIMEOUT, DEFAULT_TIMEOUT, HttpClient, HttpClientBuilder,
};
pub use client::reply::{MAX_ERROR_BODY, MAX_SUCCESS_BODY, Reply};
pub use client::retry::{MAX_RETRY_AFTER, RetryAdvice, retry_advice};
pub use environment::variable;
pub use json::body::BodyWriter;
pub use json::extra::{extra_fields, kept, native_tools, tool_fields};
pub use json::lenient::lenient;
pub use json::schema::closed_schema;
pub use json::text::{Joined, ResultText};
pub use stream::assemble::{Assemble, Progress, StreamFault};
pub use stream::event::{EventDecoder, EventTooLarge, MAX_EVENT, WireEvent};
pub use stream::event_stream::{EventStream, STREAM_TRUNCATED, Streamed};
pub use stream::ndjson::NdjsonDecoder;
pub use stream::sse::SseDecoder;
