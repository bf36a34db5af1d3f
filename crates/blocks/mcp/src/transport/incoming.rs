//! Reads a message as a server sent it, with what is known of the request that it answers.

use std::borrow::Cow;

use neuron_types::read_json;
use rmcp::model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use serde_json::{Map, Value};
use tracing::{debug, warn};

use crate::{
    transport::awaited::{Awaited, number, number_of},
    wire::{
        answer::unreadable,
        mend::{Asked, mend},
        secrets::Secrets,
        shallow::shallow,
    },
};

/// What came.
pub(crate) enum Incoming {
    Message(Box<ServerJsonRpcMessage>),
    /// A message that was not quite what MCP prescribes.
    Mended(Box<ServerJsonRpcMessage>),
    /// Nothing that is meant for this side.
    Noise,
}

/// The text for an answer whose id no request had.
const ANOTHER_ID: &str = "it is the answer to a request that was not made";

/// Reads a line, or the data of an event. What answers an awaited request is a message in any case. It answers the
/// request of its id, or else the only one that is awaited: without an id it is that request's answer, and with an id
/// that no request had it ends the wait and nothing more is known. An error under a strange id does not say that a call
/// had no effect.
pub(crate) fn read(raw: &[u8], awaited: &Awaited, secrets: &Secrets) -> Incoming {
    let text = String::from_utf8_lossy(raw);
    let text = text.trim().trim_start_matches('\u{feff}');
    if let Some(message) = in_list(text, awaited) {
        return read(message.as_bytes(), awaited, secrets).mended();
    }
    if !text.starts_with('{') {
        return Incoming::Noise;
    }
    let flat = shallow(text);
    let is_as_sent = matches!(flat, Cow::Borrowed(_));
    let error = match understood(&flat, awaited, secrets) {
        Ok(incoming) if is_as_sent => return incoming,
        Ok(incoming) => return incoming.mended(),
        Err(error) => error,
    };
    if let Ok(fields) = read_json::<Map<String, Value>>(flat.as_bytes())
        && let Ok(incoming) = understood(&Value::Object(fields).to_string(), awaited, secrets)
    {
        debug!(%error, "a message is JSON but for a few letters");
        return incoming.mended();
    }
    match broken(text, awaited, &error.to_string(), secrets) {
        Some(message) => Incoming::Mended(Box::new(message)),
        None => Incoming::Noise,
    }
}

/// Returns the message that a list holds, or the one of several that answers a request.
fn in_list(text: &str, awaited: &Awaited) -> Option<String> {
    if !text.strip_prefix('[')?.trim_start().starts_with('{') {
        return None;
    }
    let all = read_json::<Vec<Map<String, Value>>>(shallow(text).as_bytes()).ok()?;
    let is_answer = |message: &&Map<String, Value>| {
        let id = message
            .get("id")
            .filter(|_| !message.contains_key("method"));
        id.is_some_and(|id| awaited.find_json(id).is_some())
    };
    let message = match all.as_slice() {
        [message] => message,
        all => all.iter().find(is_answer)?,
    };
    serde_json::to_string(message).ok()
}

impl Incoming {
    fn of(message: ServerJsonRpcMessage) -> Self {
        Self::Message(Box::new(message))
    }

    /// Marks the message as one that was not read as it came.
    fn mended(self) -> Self {
        match self {
            Self::Message(message) => Self::Mended(message),
            other => other,
        }
    }
}

/// Reads a text that is an object. Returns an error if it is no JSON.
fn understood(text: &str, awaited: &Awaited, secrets: &Secrets) -> serde_json::Result<Incoming> {
    match serde_json::from_str::<ServerJsonRpcMessage>(text) {
        Ok(ServerJsonRpcMessage::Response(mut response)) => match awaited.find(&response.id) {
            Some((id, asked)) if asked.is_answered_by(&response.result) => {
                let is_as_sent = response.id == id;
                response.id = id;
                let message = Incoming::of(ServerJsonRpcMessage::Response(response));
                return Ok(match is_as_sent {
                    true => message,
                    false => message.mended(),
                });
            }
            Some(_) => {}
            None => {
                return Ok(match awaited.only(number(&response.id), false) {
                    Some((id, asked)) => {
                        Incoming::Mended(Box::new(told(asked, id, ANOTHER_ID, text, secrets)))
                    }
                    None => stray(ServerJsonRpcMessage::Response(response), text, secrets),
                });
            }
        },
        Ok(ServerJsonRpcMessage::Error(mut error)) => {
            let Some((id, _)) = error.id.as_ref().and_then(|id| awaited.find(id)) else {
                let only = awaited.only(error.id.as_ref().and_then(number), true);
                return Ok(match only {
                    Some((id, asked)) => {
                        Incoming::Mended(Box::new(refused(asked, id, error.error, text, secrets)))
                    }
                    None => stray(ServerJsonRpcMessage::Error(error), text, secrets),
                });
            };
            let is_as_sent = error.id.as_ref() == Some(&id);
            error.id = Some(id);
            let message = Incoming::of(ServerJsonRpcMessage::Error(error));
            return Ok(match is_as_sent {
                true => message,
                false => message.mended(),
            });
        }
        Ok(message) => return Ok(Incoming::of(message)),
        Err(_) => {}
    }
    let fields = serde_json::from_str::<Map<String, Value>>(text)?;
    Ok(match mended(fields, text, awaited, secrets) {
        Some(message) => Incoming::Mended(Box::new(message)),
        None => Incoming::Noise,
    })
}

/// Reads a message that is JSON, if it answers a request.
fn mended(
    mut fields: Map<String, Value>,
    text: &str,
    awaited: &Awaited,
    secrets: &Secrets,
) -> Option<ServerJsonRpcMessage> {
    let is_answer = |name: &String| matches!(name.as_str(), "id" | "result" | "error");
    let has_method = fields.get("method").is_some_and(|it| !it.is_null());
    // Servers log lines of JSON as well, which may have an id.
    if has_method || !(fields.contains_key("jsonrpc") || fields.keys().all(is_answer)) {
        return None;
    }
    let error = fields.remove("error").filter(|error| !error.is_null());
    let own_id = fields.get("id");
    let Some((id, asked)) = own_id.and_then(|id| awaited.find_json(id)) else {
        let is_answer = error.is_some() || fields.contains_key("result");
        if !is_answer || !fields.contains_key("jsonrpc") {
            return None;
        }
        let (id, asked) = awaited.only(own_id.and_then(number_of), error.is_some())?;
        let has_id = own_id.is_some_and(|id| !id.is_null());
        return Some(match error {
            Some(error) => refused(asked, id, refusal(&error), text, secrets),
            None if has_id => told(asked, id, ANOTHER_ID, text, secrets),
            None => with_result(fields, asked, id, text, secrets),
        });
    };
    Some(match error {
        Some(error) => ServerJsonRpcMessage::error(refusal(&error), Some(id)),
        None => with_result(fields, asked, id, text, secrets),
    })
}

/// Makes an answer that is no error.
fn with_result(
    mut fields: Map<String, Value>,
    asked: Asked,
    id: RequestId,
    text: &str,
    secrets: &Secrets,
) -> ServerJsonRpcMessage {
    let Some(result) = fields.remove("result") else {
        let why = "it has neither a result nor an error";
        return told(asked, id, why, text, secrets);
    };
    match mend(asked, result) {
        Some(result) => {
            debug!(
                ?asked,
                answer = secrets.shown(text, 200),
                "an answer is not what MCP prescribes"
            );
            ServerJsonRpcMessage::response(result, id)
        }
        None => told(asked, id, asked.unfit(), text, secrets),
    }
}

/// Sorts an answer to nothing that is awaited, or to one of several requests.
fn stray(message: ServerJsonRpcMessage, text: &str, secrets: &Secrets) -> Incoming {
    let answer = secrets.shown(text, 200);
    debug!(answer, "an answer has an id that no request has");
    Incoming::Message(Box::new(message))
}

/// Reads an error under a strange id. It may be about something else that the server did for a call.
fn refused(
    asked: Asked,
    id: RequestId,
    error: ErrorData,
    text: &str,
    secrets: &Secrets,
) -> ServerJsonRpcMessage {
    match asked {
        Asked::Call => told(asked, id, "it is an error under another id", text, secrets),
        _ => ServerJsonRpcMessage::error(error, Some(id)),
    }
}

fn told(
    asked: Asked,
    id: RequestId,
    why: &str,
    text: &str,
    secrets: &Secrets,
) -> ServerJsonRpcMessage {
    warn!(
        ?asked,
        why,
        answer = secrets.shown(text, 200),
        "an answer cannot be read"
    );
    unreadable(asked, id, why, text, secrets)
}

/// Reads an error of any shape.
fn refusal(error: &Value) -> ErrorData {
    let field = |name: &str| error.get(name);
    let code = field("code").and_then(|code| match code {
        Value::String(text) => text.trim().parse().ok(),
        code => i32::try_from(code.as_i64()?).ok(),
    });
    let message = match (error, field("message").and_then(Value::as_str)) {
        (_, Some(message)) => message.to_owned(),
        (Value::String(message), _) => message.clone(),
        _ => error.to_string(),
    };
    let code = code.map_or(ErrorCode::INTERNAL_ERROR, ErrorCode);
    ErrorData::new(code, message, error.get("data").cloned())
}

/// Reads what is no JSON, if it is the answer to a request nevertheless.
fn broken(
    text: &str,
    awaited: &Awaited,
    error: &str,
    secrets: &Secrets,
) -> Option<ServerJsonRpcMessage> {
    let head = Head::of(text);
    if head.has_method || !head.has_version {
        return None;
    }
    let id = head.id?;
    let (id, asked) = awaited.find_json(&Value::String(id.into_owned()))?;
    let why = format!("it is invalid JSON, {error}");
    Some(told(asked, id, &why, text, secrets))
}

/// What the outermost object of a text says of itself, which need not be JSON to its end.
#[derive(Default)]
struct Head<'a> {
    id: Option<Cow<'a, str>>,
    has_version: bool,
    has_method: bool,
}

impl<'a> Head<'a> {
    fn of(text: &'a str) -> Self {
        let mut head = Self::default();
        let mut depth = 0_usize;
        let mut rest = text;
        while let Some(at) = rest.find(['{', '[', '}', ']', '"']) {
            let (_, found) = rest.split_at(at);
            let Some(after) = found.get(1..) else {
                return head;
            };
            rest = after;
            match found.as_bytes().first() {
                Some(b'{' | b'[') => depth = depth.saturating_add(1),
                Some(b'"') => {
                    let Some((string, after)) = string(rest) else {
                        return head;
                    };
                    rest = after;
                    if let (1, Some(value)) = (depth, after.trim_start().strip_prefix(':')) {
                        head.has_version |= string == "jsonrpc";
                        head.has_method |= string == "method";
                        if string == "id" {
                            head.id = id(value.trim_start());
                        }
                    }
                }
                _ => depth = depth.saturating_sub(1),
            }
        }
        head
    }
}

/// Returns a text up to its closing quote, and what follows.
fn string(text: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let end = text.find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    })?;
    Some((text.get(..end)?, text.get(end + 1..)?))
}

fn id(value: &str) -> Option<Cow<'_, str>> {
    if let Some(quoted) = value.strip_prefix('"') {
        return Some(string(quoted)?.0.into());
    }
    let end = value.find(|c: char| !c.is_ascii_digit());
    let digits = value.get(..end.unwrap_or(value.len()))?;
    (!digits.is_empty()).then(|| digits.into())
}
