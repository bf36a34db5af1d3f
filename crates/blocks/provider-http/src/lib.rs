#![doc = include_str!("../README.md")]

mod checkup;
mod client;
mod environment;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod json;
mod stream;
mod wire;

pub use checkup::{Candidate, Check, Checkup, Cure, Examined, Finding, MAX_REQUESTS, Verdict};
pub use client::api_key::ApiKey;
pub use client::failure::{ApiFailure, kind_of_status};
pub use client::http_client::{
    DEFAULT_IDLE_TIMEOUT, DEFAULT_TIMEOUT, HttpClient, HttpClientBuilder,
};
pub use client::reply::{MAX_ERROR_BODY, MAX_SUCCESS_BODY, Reply};
pub use client::retry::{MAX_RETRY_AFTER, RetryAdvice, retry_advice};
pub use environment::variable;
pub use json::body::BodyWriter;
pub use json::count::{count, known_counts, lenient_object};
pub use json::extra::{Deferral, extra_fields, kept, native_tools, tool_fields};
pub use json::lenient::{lenient, lenient_list};
pub use json::schema::closed_schema;
pub use json::text::{Joined, ResultText};
pub use stream::assemble::{Assemble, Progress};
pub use stream::event::{EventDecoder, EventTooLarge, MAX_EVENT, WireEvent};
pub use stream::event_stream::STREAM_TRUNCATED;
pub use stream::json_lines::JsonLines;
pub use stream::ndjson::NdjsonDecoder;
pub use stream::no_answer::NoAnswer;
pub use stream::sse::SseDecoder;
pub use wire::calls::{
    Arguments, Calls, FinishedCall, Fragment, MAX_CALLS, new_call_id, read_input, sent_input,
    stray_arguments,
};
pub use wire::ends::{end_named, end_of, no_end_named};
pub use wire::ids::{CallIdRule, CallIds};
pub use wire::once::{Once, calls_once};
pub use wire::overflow::{is_too_long, says_too_long};
pub use wire::speaks::Wire;
pub use wire::tools::{ToolNames, Tools};
