//! Whether an answer is of the form that was asked for.

use neuron_tool::schema_mismatch;
use neuron_types::{CompletionResponse, ResponseFormat};
use serde_json::Value;

/// Returns why an answer is not of this form; `None` if it is, and for answers that ask for tool calls or were cut.
pub(super) fn mismatch(form: &ResponseFormat, response: &CompletionResponse) -> Option<String> {
    if !response.must_fit_form() {
        return None;
    }
    misfit(form, &response.message.text())
}

/// Returns why the text of a whole answer is not of this form; `None` if it is.
pub(super) fn misfit(form: &ResponseFormat, text: &str) -> Option<String> {
    let read = || serde_json::from_str::<Value>(text);
    match form {
        ResponseFormat::Text => None,
        ResponseFormat::JsonObject => match read() {
            Ok(Value::Object(_)) => None,
            Ok(_) => Some("it is no JSON object".to_owned()),
            Err(error) => Some(format!("it is no JSON: {error}")),
        },
        ResponseFormat::JsonSchema { schema, .. } => match read() {
            Ok(value) => schema_mismatch(schema, &value),
            Err(error) => Some(format!("it is no JSON: {error}")),
        },
    }
}

#[cfg(test)]
mod tests {
    use neuron_types::{Message, StopReason};
    use serde_json::json;

    use super::*;

    fn answer(text: &str, stop_reason: StopReason) -> CompletionResponse {
        CompletionResponse {
            message: Message::assistant(text),
            stop_reason,
            ..CompletionResponse::default()
        }
    }

    fn form() -> ResponseFormat {
        ResponseFormat::JsonSchema {
            name: "verdict".to_owned(),
            schema: json!({"type": "object", "required": ["paid"], "properties": {"paid": {"type": "boolean"}}}),
            strict: false,
        }
    }

    #[test]
    fn an_answer_that_fits_its_schema_is_taken() {
        let fits = answer(r#"{"paid": true}"#, StopReason::EndTurn);
        assert_eq!(mismatch(&form(), &fits), None);
        assert_eq!(mismatch(&ResponseFormat::JsonObject, &fits), None);
        assert_eq!(
            mismatch(&ResponseFormat::Text, &answer("Yes.", StopReason::EndTurn)),
            None
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |text: &str| mismatch(&form(), &answer(text, StopReason::EndTurn)).unwrap();
        assert_eq!(
            wrong("{}"),
            r#"it does not fit its schema; at the top level: "paid" is a required property"#
        );
        assert!(wrong("Yes.").starts_with("it is no JSON: "));
        let list = answer("[]", StopReason::EndTurn);
        let wrong = mismatch(&ResponseFormat::JsonObject, &list);
        assert_eq!(wrong.as_deref(), Some("it is no JSON object"));
    }

    #[test]
    fn an_answer_that_was_cut_is_the_loops_business() {
        assert_eq!(mismatch(&form(), &answer("{", StopReason::MaxTokens)), None);
    }
}
