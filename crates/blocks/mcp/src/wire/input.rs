//! What a server asks before it answers a call: read, bounded, and without what no person sees.

#![allow(
    deprecated,
    reason = "the protocol is about to replace sampling and roots, and servers use them still"
)]

use neuron_types::FormRequest;
use rmcp::model::{
    CreateMessageRequestParams, ElicitRequestParams, InputRequest, InputRequiredResult,
};
use serde_json::Value;

use crate::wire::{
    definition::is_within,
    harmless::{cleaned, is_control},
};

/// The most things that a server asks at once.
const MAX_REQUESTS: usize = 32;
/// The most bytes of the name of one.
const MAX_KEY_BYTES: usize = 256;
/// The most bytes of what a person reads about one.
const MAX_MESSAGE_BYTES: usize = 16 * 1024;
/// The most bytes of the schema of an answer.
const MAX_SCHEMA_BYTES: usize = 64 * 1024;
/// How deep it may be nested.
const MAX_SCHEMA_DEPTH: usize = 32;
/// The most bytes of an address.
const MAX_URL_BYTES: usize = 8 * 1024;
/// The most bytes of all that a person is asked at once: it is kept with the run.
const MAX_FORM_BYTES: usize = 256 * 1024;
/// The most bytes that a server has handed back to it.
pub(crate) const MAX_STATE_BYTES: usize = 64 * 1024;

/// What a server asks, sorted by who answers it.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// A person.
    pub(crate) forms: Vec<FormRequest>,
    /// A model.
    pub(crate) sampling: Vec<(String, CreateMessageRequestParams)>,
    /// This side itself: the names under which it wants the folders.
    pub(crate) roots: Vec<String>,
    /// What it is handed back, as it is.
    pub(crate) state: Option<String>,
}

/// Reads what a server asks.
///
/// # Errors
///
/// What the server did that is not taken.
pub(crate) fn sort(result: InputRequiredResult) -> Result<Asked, String> {
    let requests = result.input_requests.unwrap_or_default();
    if requests.len() > MAX_REQUESTS {
        return Err(format!("it asks more than {MAX_REQUESTS} things at once"));
    }
    let mut asked = Asked {
        state: result.request_state,
        ..Asked::default()
    };
    if let Some(state) = &asked.state
        && state.len() > MAX_STATE_BYTES
    {
        return Err(format!(
            "it wants more than {MAX_STATE_BYTES} bytes handed back"
        ));
    }
    let mut size = 0;
    for (key, request) in requests {
        if key.len() > MAX_KEY_BYTES || key.chars().any(is_control) {
            return Err("what it asks has a name that is too long or cannot be shown".to_owned());
        }
        match request {
            InputRequest::Elicitation(request) => {
                let form = form(key, request.params)?;
                size += serde_json::to_vec(&form).map_or(usize::MAX, |form| form.len());
                asked.forms.push(form);
            }
            InputRequest::CreateMessage(request) => asked.sampling.push((key, request.params)),
            InputRequest::ListRoots(_) => asked.roots.push(key),
            _ => return Err("it asks what is not known here".to_owned()),
        }
        if size > MAX_FORM_BYTES {
            return Err(format!("its form has more than {MAX_FORM_BYTES} bytes"));
        }
    }
    Ok(asked)
}

fn form(key: String, asked: ElicitRequestParams) -> Result<FormRequest, String> {
    let (message, schema, url) = match asked {
        ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } => {
            let schema = serde_json::to_value(requested_schema).unwrap_or_default();
            (message, Some(harmless(schema)?), None)
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            let is_of_web = url.starts_with("https://") || url.starts_with("http://");
            let is_clean = !url.chars().any(|c| c.is_whitespace() || is_control(c));
            if !is_of_web || !is_clean || url.len() > MAX_URL_BYTES {
                return Err("it sends a person to what is no address of the web".to_owned());
            }
            (message, None, Some(url))
        }
        _ => return Err("it asks a person in a way that is not known here".to_owned()),
    };
    Ok(FormRequest {
        key,
        message: cleaned(&message, MAX_MESSAGE_BYTES),
        schema,
        url,
    })
}

/// Cleans a schema, so that its texts for people hide nothing. What else it holds is answered with, and so stays as it
/// is.
fn harmless(mut schema: Value) -> Result<Value, String> {
    let size = serde_json::to_vec(&schema).map_or(usize::MAX, |schema| schema.len());
    if size > MAX_SCHEMA_BYTES {
        return Err(format!(
            "the schema of its form has more than {MAX_SCHEMA_BYTES} bytes"
        ));
    }
    if !is_within(&schema, MAX_SCHEMA_DEPTH) {
        return Err(format!(
            "the schema of its form is nested deeper than {MAX_SCHEMA_DEPTH}"
        ));
    }
    match clean(&mut schema, false) {
        true => Ok(schema),
        false => Err("the schema of its form holds control characters".to_owned()),
    }
}

/// Returns whether a value is clean now. One that is read only is made so.
fn clean(value: &mut Value, is_read_only: bool) -> bool {
    match value {
        Value::String(text) if is_read_only => {
            *text = cleaned(text, MAX_MESSAGE_BYTES);
            true
        }
        Value::String(text) => !text.chars().any(is_control),
        Value::Array(items) => items.iter_mut().all(|item| clean(item, false)),
        Value::Object(fields) => fields.iter_mut().all(|(name, value)| {
            let is_for_people = matches!(name.as_str(), "title" | "description");
            !name.chars().any(is_control) && clean(value, is_for_people)
        }),
        _ => true,
    }
}

#[cfg(test)]
#[allow(
    clippy::needless_pass_by_value,
    reason = "what is made on the spot reads better"
)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(requests: Value) -> Result<Asked, String> {
        let result = json!({"resultType": "input_required", "inputRequests": requests});
        sort(serde_json::from_value(result).unwrap())
    }

    fn fields(message: &str, properties: Value) -> Value {
        json!({
            "method": "elicitation/create",
            "params": {
                "message": message,
                "requestedSchema": {"type": "object", "properties": properties},
            },
        })
    }

    fn visit(url: &str) -> Value {
        json!({
            "method": "elicitation/create",
            "params": {"mode": "url", "message": "Go there.", "url": url},
        })
    }

    #[test]
    fn what_is_asked_is_sorted_by_who_answers() {
        let asked = read(json!({
            "name": fields("Your\u{1b} name?\n", json!({"n": {"type": "string", "title": "N\u{202e}"}})),
            "page": visit("https://example.com/a?b=c"),
            "model": {
                "method": "sampling/createMessage",
                "params": {
                    "maxTokens": 5,
                    "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
                },
            },
            "folders": {"method": "roots/list"},
        }))
        .unwrap();
        assert_eq!(asked.forms.len(), 2);
        assert_eq!(asked.forms[0].key, "name");
        assert_eq!(asked.forms[0].message, "Your name?\n");
        let schema = asked.forms[0].schema.as_ref().unwrap();
        assert_eq!(schema["properties"]["n"]["title"], "N");
        assert_eq!(
            asked.forms[1].url.as_deref(),
            Some("https://example.com/a?b=c")
        );
        assert!(asked.forms[1].schema.is_none());
        assert_eq!(asked.sampling[0].0, "model");
        assert_eq!(asked.roots, ["folders"]);
    }

    #[test]
    fn what_is_too_much_or_hidden_is_not_taken() {
        let many: Value = (0..33)
            .map(|n| (n.to_string(), json!({"method": "roots/list"})))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let text = json!({"type": "string"});
        let long = "x".repeat(MAX_SCHEMA_BYTES);
        let big = || fields("", json!({"n": {"type": "string", "description": long}}));
        let half = "x".repeat(MAX_SCHEMA_BYTES / 2);
        let halves: Value = (0..9)
            .map(|n| {
                let half = json!({"n": {"type": "string", "enum": [half]}});
                (n.to_string(), fields("", half))
            })
            .collect::<serde_json::Map<_, _>>()
            .into();
        for (requests, what) in [
            (many, "more than 32 things"),
            (json!({"a\u{7}": {"method": "roots/list"}}), "a name"),
            (json!({"x".repeat(300): {"method": "roots/list"}}), "a name"),
            (json!({"a": big()}), "more than 65536 bytes"),
            (halves, "more than 262144 bytes"),
            (
                json!({"a": fields("", json!({"n\u{1b}": text}))}),
                "control characters",
            ),
            (json!({"a": visit("javascript:alert(1)")}), "no address"),
            (json!({"a": visit("https://a/\u{202e}b")}), "no address"),
        ] {
            let error = read(requests).unwrap_err();
            assert!(error.contains(what), "{error}");
        }
        let state = "x".repeat(MAX_STATE_BYTES + 1);
        let result = json!({"resultType": "input_required", "requestState": state});
        let error = sort(serde_json::from_value(result).unwrap()).unwrap_err();
        assert!(error.contains("handed back"), "{error}");
    }
}
