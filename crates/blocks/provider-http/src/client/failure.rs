use std::time::SystemTime;

use neuron_types::{FailureKind, ProviderError, TokenUsage};
use serde::de::DeserializeOwned;

use crate::{HttpClient, Reply, retry_advice};

/// How much of a provider's own message is quoted, in characters.
const MAX_QUOTE: usize = 1000;

/// How much of a body without a readable message is quoted, in characters.
const MAX_SNIPPET: usize = 300;

/// What a provider crate read out of an error answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiFailure {
    /// Why, as far as status, type and code show.
    pub kind: FailureKind,
    /// The provider's own message. Without one, the start of the body is quoted.
    pub message: Option<String>,
    /// The provider's machine-readable code or type.
    pub code: Option<String>,
    /// The provider's id of the request, as the body has it. That of the headers goes before it.
    pub request_id: Option<String>,
    /// What the provider says that the call used all the same.
    pub usage: Option<Box<TokenUsage>>,
    /// What to do, where more is known than the kind.
    pub hint: Option<String>,
}

impl ApiFailure {
    /// Makes a failure with only its kind known.
    #[must_use]
    pub const fn new(kind: FailureKind) -> Self {
        Self {
            kind,
            message: None,
            code: None,
            request_id: None,
            usage: None,
            hint: None,
        }
    }

    /// Sets the code.
    #[must_use]
    pub fn with_code(mut self, code: Option<String>) -> Self {
        self.code = code;
        self
    }
}

/// Names the tool that a rejection refers to by its place, in the words of the APIs: `tools.0.input_schema`,
/// `tools[0].function`. `tools` are those that were sent, in order.
pub(crate) fn name_tool(mut failure: ApiFailure, tools: &[&str]) -> ApiFailure {
    let message = failure.message.as_deref().unwrap_or_default();
    let place: Option<usize> = ["tools.", "tools["].into_iter().find_map(|before| {
        let (_, after) = message.split_once(before)?;
        let end = after.find(|c: char| !c.is_ascii_digit());
        after.get(..end.unwrap_or(after.len()))?.parse().ok()
    });
    if failure.kind == FailureKind::InvalidRequest
        && let Some(tool) = place.and_then(|place| tools.get(place))
    {
        failure.hint = Some(format!(
            "it is about the tool {tool:?}: change it, or leave it out"
        ));
    }
    failure
}

/// Returns the kind that a status stands for, where type and code do not say more.
///
/// | status | kind |
/// | --- | --- |
/// | 401 | `authentication` |
/// | 402 | `quota` |
/// | 403 | `permission` |
/// | 404 | `model_not_found` |
/// | 408, 504 | `timeout` |
/// | 409, 425, 500, 502 and any other 5xx | `unavailable` |
/// | 413 | `context_length` |
/// | 429 | `rate_limited` |
/// | 503, 529 | `overloaded` |
/// | anything else | `invalid_request` |
#[must_use]
pub const fn kind_of_status(status: u16) -> FailureKind {
    match status {
        401 => FailureKind::Authentication,
        402 => FailureKind::Quota,
        403 => FailureKind::Permission,
        404 => FailureKind::ModelNotFound,
        408 | 504 => FailureKind::Timeout,
        413 => FailureKind::ContextLength,
        429 => FailureKind::RateLimited,
        503 | 529 => FailureKind::Overloaded,
        409 | 425 | 500..=599 => FailureKind::Unavailable,
        _ => FailureKind::InvalidRequest,
    }
}

impl HttpClient {
    /// Makes the answer of a success, with what reads the wire's errors and what makes an answer of a body.
    ///
    /// # Errors
    ///
    /// As `read_failure` says of a reply that is no success, or whose body `make` makes nothing of; otherwise
    /// as [`decode`](Self::decode).
    pub fn answer<T: DeserializeOwned, A>(
        &self,
        reply: &Reply,
        read_failure: impl Fn(&Reply) -> ApiFailure,
        make: impl FnOnce(T) -> Option<A>,
    ) -> Result<A, ProviderError> {
        let failure = || self.failure(reply, read_failure(reply));
        if !reply.is_success() {
            return Err(failure());
        }
        make(self.decode(reply)?).ok_or_else(failure)
    }

    /// Makes the error of an answer that is a failure: the provider's message quoted, with the status, the
    /// code, the request id and what the headers say about a further attempt.
    #[must_use]
    pub fn failure(&self, reply: &Reply, failure: ApiFailure) -> ProviderError {
        let ApiFailure {
            kind,
            message,
            code,
            request_id,
            usage,
            hint,
        } = failure;
        // Blanked before anything is cut: half a key is still too much of it.
        let quote = match &message {
            Some(message) => quotable(&self.redact(message), MAX_QUOTE),
            None => quotable(
                &self.redact(&String::from_utf8_lossy(reply.body())),
                MAX_SNIPPET,
            ),
        };
        let advice = retry_advice(reply.headers(), &quote, SystemTime::now());
        let text = match redirect(reply) {
            Some(text) => format!("{} {}", self.origin(), self.redact(&text)),
            None => sentence(self.provider(), kind, &quote, hint.as_deref()),
        };

        let mut error = ProviderError::new(kind, text).with_status(reply.status());
        if let Some(code) = code {
            error = error.with_code(self.redact(&code));
        }
        if let Some(id) = reply.header(self.request_id).or(request_id.as_deref()) {
            error = error.with_request_id(self.redact(id));
        }
        if let Some(usage) = usage {
            error = error.with_usage(*usage);
        }
        if let Some(after) = advice.after {
            error = error.with_retry_after(after);
        }
        if let Some(should_retry) = advice.should_retry {
            error = error.with_should_retry(should_retry);
        }
        error
    }
}

/// Redirects are not followed, since the key would go with them.
fn redirect(reply: &Reply) -> Option<String> {
    if !(300..400).contains(&reply.status()) {
        return None;
    }
    let target = reply
        .header("location")
        .and_then(|location| reqwest::Url::parse(location).ok())
        .map_or_else(
            || "another address".to_owned(),
            |url| url.origin().ascii_serialization(),
        );
    Some(format!(
        "redirects to {target}, where the key is not sent: set the base URL to the right address"
    ))
}

fn sentence(provider: &str, kind: FailureKind, quote: &str, hint: Option<&str>) -> String {
    let (what, then) = match kind {
        FailureKind::Authentication => ("rejected the key", "check the API key"),
        FailureKind::Permission => ("does not allow this", "check what the API key may use"),
        FailureKind::Quota => (
            "says that the account's quota is used up",
            "check its plan and billing",
        ),
        FailureKind::ModelNotFound => (
            "knows no such model or address",
            "check the model's name and the base URL",
        ),
        FailureKind::ContextLength => (
            "says that the request is too long",
            "shorten the conversation",
        ),
        FailureKind::ContentFilter => ("rejected the content", "change the prompt"),
        FailureKind::InvalidRequest => ("rejected the request", "change it as the message says"),
        FailureKind::RateLimited => ("limits the rate of requests", "try again later"),
        FailureKind::Overloaded => ("is overloaded", "try again later"),
        FailureKind::Timeout => ("did not finish in time", "try again"),
        FailureKind::ModelLoading => ("is still loading the model", "try again soon"),
        FailureKind::MalformedAnswer => (
            "gave no answer that can be used",
            "check which form the server answers in",
        ),
        _ => ("failed", "try again later"),
    };
    let then = hint.unwrap_or(then);
    if quote.is_empty() {
        format!("{provider} {what}: {then}")
    } else {
        format!("{provider} {what}: \"{quote}\"; {then}")
    }
}

/// Returns one line of at most `most` characters.
fn quotable(message: &str, most: usize) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
