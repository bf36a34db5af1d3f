use std::{fmt::Debug, time::Duration};

use neuron_types::{FailureKind, Provider, ProviderError};
use serde_json::Value;

/// The key of a client unless a test sets another one.
pub const KEY: &str = "sk-very-secret";

/// The timeout of clients unless a test sets another one.
pub const LONG: Duration = Duration::from_secs(24 * 60 * 60); // Passes where the clock is paused only.

/// One API: how its client is built, and how its server writes.
pub trait Api: 'static {
    /// The builder of a client.
    type Builder: Debug;
    /// The client.
    type Client: Provider + Debug + Send + Sync + 'static;

    /// The name of the API in messages of errors.
    const NAME: &'static str;
    /// A model of this API.
    const MODEL: &'static str;
    /// The path of the base URL.
    const BASE: &'static str = "";
    /// The address that clients use by default.
    const HOST: &'static str;
    /// The path of requests.
    const PATH: &'static str;
    /// The content type of a stream.
    const STREAM: &'static str = "text/event-stream";
    /// The header with the id of a request.
    const REQUEST_ID: &'static str = "x-request-id";
    /// The header with the key, and the prefix of the key.
    const KEY_HEADER: (&'static str, &'static str) = ("authorization", "Bearer ");
    /// The variable of the key, which messages name.
    const KEY_VARIABLE: &'static str;
    /// Addresses that require a key; `None` is the builder's default.
    const KEYED: &'static [Option<&'static str>];
    /// Addresses that require no key.
    const KEYLESS: &'static [Option<&'static str>];
    /// An event without content.
    const NOTHING: &'static str;
    /// The marker that ends a stream after its whole answer.
    const MARKER: &'static str = "";
    /// Answers whose text is not streamed piece by piece.
    const UNTOLD: &'static [&'static str] = &[];
    /// The meaning of each rejected request, one per line: status, type, code, kind of failure, `again` or `final`, and
    /// perhaps `|` and the message.
    const ERRORS: &'static str;
    /// The same for errors among the events, which have no status.
    const STREAM_ERRORS: &'static str;

    /// Whether a stream consists of lines of JSON instead of events.
    fn is_lines() -> bool {
        Self::STREAM == "application/x-ndjson"
    }

    /// A builder with this address and this key, if any, that waits so long, and has the header `x-team`.
    /// [`built_by!`](crate::built_by) writes it.
    fn builder(base_url: Option<&str>, key: Option<&str>, wait: Duration) -> Self::Builder;

    /// Builds the client.
    ///
    /// # Errors
    ///
    /// If a setting is invalid.
    fn build(builder: Self::Builder) -> Result<Self::Client, ProviderError>;

    /// An answer of this text and of a call.
    fn answer(text: &str) -> Value;

    /// Whole answers by name, which streams must equal.
    fn answers() -> Vec<(&'static str, Value)>;

    /// The events of a whole answer as they are sent, its texts in pieces of this many letters, without
    /// [`MARKER`](Self::MARKER).
    fn events(answer: &Value, piece: usize) -> Vec<String>;

    /// Whether this event completes the answer.
    fn is_all(event: &str) -> bool;

    /// The body of the answer to a rejected request.
    fn error(kind: &str, code: &str, message: &str) -> Value;

    /// The code that a client reports for this type and code.
    fn code<'a>(kind: &'a str, code: &'a str) -> Option<&'a str> {
        [code, kind].into_iter().find(|name| !name.is_empty())
    }

    /// An error among the events.
    fn error_event(error: &Value) -> String {
        format!("data: {error}\n\n")
    }

    /// Errors among the events in other forms, with `why` in their messages.
    fn other_error_events() -> Vec<(String, FailureKind)> {
        vec![]
    }

    /// A whole answer with this content.
    fn answer_of(content: &Value) -> Value;

    /// The content of the answer that is in this request.
    fn sent_back(request: &Value) -> Value;

    /// Contents that are sent back unchanged, their text, and the number of their calls.
    fn contents() -> Vec<(Value, &'static str, usize)>;
}

/// Implements the methods of [`Api`] that build a client, with the API's builder.
#[macro_export]
macro_rules! built_by {
    ($builder:ty, $client:ty) => {
        type Builder = $builder;
        type Client = $client;

        fn builder(
            base_url: Option<&str>,
            key: Option<&str>,
            wait: std::time::Duration,
        ) -> Self::Builder {
            let builder = <$client>::builder().header("x-team", "a");
            let builder = builder.timeout(wait).idle_timeout(wait);
            let builder = match base_url {
                Some(base_url) => builder.base_url(base_url),
                None => builder,
            };
            match key {
                Some(key) => builder.api_key(key),
                None => builder,
            }
        }

        fn build(builder: Self::Builder) -> Result<Self::Client, neuron_types::ProviderError> {
            builder.build()
        }
    };
}
