//! Why a request has no answer, and whether it may be made again.

use std::error::Error;

use neuron_types::with_causes;
use rmcp::{
    model::ErrorCode, service::ServiceError, transport::streamable_http_client::StreamableHttpError,
};

use crate::{
    McpError,
    wire::{
        answer::{LOST, UNREADABLE},
        fault::Fault,
        secrets::Secrets,
    },
};

/// How much of a server's error is shown.
pub(crate) const MAX_REASON_CHARS: usize = 2000;
/// How servers on the official TypeScript SDK reject a session that they do not know.
const SESSION_REFUSED: ErrorCode = ErrorCode(-32000);

/// Why there is no answer.
pub(crate) enum NoAnswer {
    /// The server was never asked: a new connection may help.
    Unasked(McpError),
    /// The connection is of no use any more, and the server may have been asked.
    Broken(McpError),
    /// This is the answer.
    Final(McpError),
}

impl NoAnswer {
    /// Sorts a failure by what the server can have done, and by what is known of the connection's end.
    pub(crate) async fn because(
        error: ServiceError,
        server: &str,
        is_http: bool,
        fault: &Fault,
    ) -> Self {
        let server = server.to_owned();
        let secrets = fault.secrets();
        let is_answered = matches!(error, ServiceError::McpError(_));
        if let Some(reason) = fault.protocol()
            && !is_answered
        {
            return Self::Broken(McpError::Protocol { server, reason });
        }
        match error {
            ServiceError::McpError(error) if error.code == UNREADABLE => {
                let reason = secrets.shown(&error.message, MAX_REASON_CHARS);
                Self::Final(McpError::Protocol { server, reason })
            }
            ServiceError::McpError(error) if error.code == LOST => {
                let reason = secrets.shown(&error.message, MAX_REASON_CHARS);
                Self::Final(McpError::Lost { server, reason })
            }
            // What servers say that were started anew and know no session, beside those that say 404.
            ServiceError::McpError(error)
                if is_http
                    && error.code == SESSION_REFUSED
                    && error.message.starts_with("Bad Request")
                    && error.message.contains("session") =>
            {
                Self::Unasked(McpError::Connection {
                    server,
                    reason: secrets.shown(&error.message, MAX_REASON_CHARS),
                })
            }
            ServiceError::McpError(error) => Self::Final(McpError::Refused {
                server,
                code: error.code.0,
                message: secrets.shown(&error.message, MAX_REASON_CHARS),
            }),
            ServiceError::TransportClosed => {
                let reason = fault.explain("the connection ended").await;
                Self::Broken(McpError::Lost { server, reason })
            }
            ServiceError::TransportSend(error) => {
                let reason = causes(error.error.as_ref(), secrets);
                match error.error.downcast_ref() {
                    Some(error) => sort_http(server, reason, error),
                    // The pipe to a server that has ended.
                    None => Self::Unasked(McpError::Connection {
                        server,
                        reason: fault.explain(&reason).await,
                    }),
                }
            }
            ServiceError::UnexpectedResponse => Self::Final(McpError::Protocol {
                server,
                reason: "its answer is not what was asked for".to_owned(),
            }),
            ServiceError::Cancelled { .. } => Self::Final(McpError::Cancelled),
            other => Self::Final(McpError::Protocol {
                server,
                reason: secrets.shown(&other.to_string(), MAX_REASON_CHARS),
            }),
        }
    }
}

/// Sorts a failure over HTTP by what the server can have done.
fn sort_http(
    server: String,
    reason: String,
    error: &StreamableHttpError<reqwest::Error>,
) -> NoAnswer {
    match error {
        StreamableHttpError::Client(error) if error.is_connect() => {
            NoAnswer::Unasked(McpError::Connection { server, reason })
        }
        StreamableHttpError::HttpStatus(status) if matches!(status.status, 429 | 503) => {
            NoAnswer::Unasked(McpError::Connection { server, reason })
        }
        // A session that the server does not know any more: it looked no further.
        StreamableHttpError::SessionExpired
        | StreamableHttpError::ReinitializationFailed(_)
        | StreamableHttpError::TransportChannelClosed
        | StreamableHttpError::MissingSessionIdInResponse => {
            NoAnswer::Unasked(McpError::Connection { server, reason })
        }
        // The text begins like this where the server rejected the request with this status. What follows is the
        // server's own text.
        StreamableHttpError::UnexpectedServerResponse(text)
            if text.starts_with("HTTP 400") || text.starts_with("HTTP 404") =>
        {
            NoAnswer::Unasked(McpError::Connection { server, reason })
        }
        // A client that may not ask has not asked.
        StreamableHttpError::UnexpectedServerResponse(text)
            if text.starts_with("HTTP 401") || text.starts_with("HTTP 403") =>
        {
            NoAnswer::Final(McpError::Connection { server, reason })
        }
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_) => {
            NoAnswer::Final(McpError::Connection { server, reason })
        }
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 4") => {
            let code = text.get(5..8).and_then(|status| status.parse().ok());
            NoAnswer::Final(McpError::Refused {
                server,
                code: code.unwrap_or(400),
                message: reason,
            })
        }
        StreamableHttpError::UnexpectedServerResponse(_)
        | StreamableHttpError::UnexpectedContentType(_)
        | StreamableHttpError::ResponseBodyTooLarge { .. }
        | StreamableHttpError::Deserialize(_)
        | StreamableHttpError::Sse(_) => NoAnswer::Final(McpError::Protocol { server, reason }),
        _ => NoAnswer::Broken(McpError::Lost { server, reason }),
    }
}

/// Returns an error and its causes, as short as it is to be and without what the server was given to keep secret.
pub(crate) fn causes(error: &(dyn Error + 'static), secrets: &Secrets) -> String {
    secrets.shown(&with_causes(error), MAX_REASON_CHARS)
}
