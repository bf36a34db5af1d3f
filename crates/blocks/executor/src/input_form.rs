//! Whether a run is given what its agent takes.

use neuron_tool::schema_mismatch;
use serde_json::Value;

/// Returns why a prompt states no value that fits the JSON Schema of an agent's [input](neuron_types::AgentSpec::input);
/// `None` if it does, or if the schema cannot be read. A prompt states a text as it is, and anything else as JSON.
///
/// A door asks this once in a run, when it begins, and journals the answer: another build may word it differently.
///
/// ```
/// use neuron_executor::input_mismatch;
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"cents": {"type": "integer"}}});
/// assert_eq!(input_mismatch(&schema, r#"{"cents": 1}"#), None);
/// let wrong = input_mismatch(&schema, r#"{"cents": "1"}"#).unwrap_or_default();
/// assert_eq!(wrong, "it does not fit its schema; at /cents: \"1\" is not of type \"integer\"");
/// ```
#[must_use]
pub fn input_mismatch(schema: &Value, prompt: &str) -> Option<String> {
    let as_text = schema_mismatch(schema, &Value::String(prompt.to_owned()))?;
    match serde_json::from_str::<Value>(prompt) {
        Ok(value) => schema_mismatch(schema, &value),
        Err(_) if is_text(schema, prompt) => Some(as_text),
        Err(error) => Some(format!("it is no JSON: {error}")),
    }
}

fn is_text(schema: &Value, prompt: &str) -> bool {
    let takes_texts = match schema.get("type") {
        Some(Value::String(one)) => one == "string",
        Some(Value::Array(several)) => several.iter().any(|one| one == "string"),
        // A choice, perhaps between texts.
        _ => true,
    };
    takes_texts && !prompt.trim_start().starts_with(['{', '['])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn invoice() -> Value {
        json!({"type": "object", "required": ["cents"], "properties": {"cents": {"type": "integer"}}})
    }

    #[test]
    fn a_prompt_that_states_a_value_of_the_schema_fits() {
        assert_eq!(input_mismatch(&invoice(), r#" {"cents": 1} "#), None);
        assert_eq!(input_mismatch(&json!({"type": "integer"}), "7"), None);
        assert_eq!(input_mismatch(&json!({"type": "null"}), "null"), None);
    }

    #[test]
    fn a_text_stands_as_it_is() {
        let text = json!({"type": "string"});
        for prompt in ["Pay it.", r#""quoted""#, "7", "{", r#"{"cents": 1}"#, ""] {
            assert_eq!(input_mismatch(&text, prompt), None, "{prompt}");
        }
        let choice = json!({"enum": ["fine", "wrong"]});
        assert_eq!(input_mismatch(&choice, "fine"), None);
        let optional = json!({"type": ["string", "null"]});
        assert_eq!(input_mismatch(&optional, "null"), None);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let wrong = |schema: &Value, prompt: &str| input_mismatch(schema, prompt).unwrap();
        assert_eq!(
            wrong(&invoice(), "{}"),
            r#"it does not fit its schema; at the top level: "cents" is a required property"#
        );
        assert_eq!(
            wrong(&invoice(), "Pay it."),
            "it is no JSON: expected value at line 1 column 1"
        );
        let choice = json!({"enum": ["fine", "wrong"]});
        assert!(
            wrong(&choice, "good").starts_with("it does not fit its schema; at the top level: ")
        );
        assert!(wrong(&choice, "[").starts_with("it is no JSON: "));
    }
}
