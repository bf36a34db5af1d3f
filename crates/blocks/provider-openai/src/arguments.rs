use neuron_provider_http::{new_call_id, read_input};
use neuron_types::ContentBlock;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

/// Where [`ContentBlock::ToolUse`]'s `extra` keeps arguments whose letters the input does not give back.
const RAW: &str = "arguments";

/// Makes a call of what was received. `arguments` is a JSON text, or whatever a server sent in its place;
/// `extra` is what else was said of the call.
pub(crate) fn received_call(
    id: Option<String>,
    name: String,
    arguments: Option<Value>,
    mut extra: Map<String, Value>,
) -> ContentBlock {
    let input = match arguments {
        Some(Value::String(text)) => {
            let input = parse(&text);
            // An object that came as a text in a text goes back as others have it: servers drop the other.
            let is_twice = input.is_object() && text.trim_start().starts_with('"');
            if !is_twice && !text.trim().is_empty() && written(&input) != text {
                extra.insert(RAW.to_owned(), Value::String(text));
            }
            input
        }
        None | Some(Value::Null) => json!({}),
        Some(other) => other,
    };
    call(id, name, input, extra)
}

/// Makes a call of a tool whose input is plain text.
pub(crate) fn received_custom_call(
    id: Option<String>,
    name: String,
    input: String,
    extra: Map<String, Value>,
) -> ContentBlock {
    call(id, name, Value::String(input), extra)
}

fn call(id: Option<String>, name: String, input: Value, extra: Map<String, Value>) -> ContentBlock {
    let id = id.filter(|id| !id.is_empty());
    ContentBlock::ToolUse {
        own_id: None,
        id: id.unwrap_or_else(new_call_id),
        name,
        input,
        extra: (!extra.is_empty()).then_some(Value::Object(extra)),
    }
}

/// Parses arguments. No arguments are an empty object, and text that is not JSON stays text, so that the model can read
/// what is wrong with it.
fn parse(text: &str) -> Value {
    match text.trim() {
        "" | "null" => json!({}),
        _ => read_input(text),
    }
}

fn written(input: &Value) -> String {
    match input {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A call's arguments as they are sent: the text that was received, if it still means the same.
#[derive(Debug)]
pub(crate) struct Arguments<'a> {
    pub(crate) input: &'a Value,
    pub(crate) extra: Option<&'a Value>,
}

impl Serialize for Arguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = self.extra.and_then(|extra| extra.get(RAW)?.as_str());
        if let Some(raw) = raw.filter(|raw| parse(raw) == *self.input) {
            return serializer.serialize_str(raw);
        }
        match self.input {
            Value::String(text) => serializer.serialize_str(text),
            Value::Null => serializer.serialize_str("{}"),
            other => serializer.collect_str(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn received(text: &str) -> (Value, Option<Value>, Value) {
        let arguments = Some(Value::String(text.to_owned()));
        let call = received_call(None, "n".to_owned(), arguments, Map::new());
        let ContentBlock::ToolUse { input, extra, .. } = call else {
            panic!("no call");
        };
        let sent = Arguments {
            input: &input,
            extra: extra.as_ref(),
        };
        let sent = serde_json::to_value(sent).unwrap();
        (input, extra, sent)
    }

    #[test]
    fn arguments_in_our_own_spelling_are_kept_once() {
        let (input, extra, sent) = received(r#"{"city":"Paris"}"#);
        assert_eq!(input, json!({"city": "Paris"}));
        assert_eq!(extra, None);
        assert_eq!(sent, r#"{"city":"Paris"}"#);
    }

    #[test]
    fn no_arguments_are_an_empty_object() {
        for text in ["", "  ", "{}"] {
            assert_eq!(received(text), (json!({}), None, json!("{}")));
        }
        let (input, _, sent) = received("null");
        assert_eq!((input, sent), (json!({}), json!("null")));
    }

    #[test]
    fn an_object_in_a_text_is_that_object_and_goes_back_as_one() {
        let (input, extra, sent) = received(r#""{\"city\": \"Paris\"}""#);
        assert_eq!(input, json!({"city": "Paris"}));
        assert_eq!((extra, sent), (None, json!(r#"{"city":"Paris"}"#)));
    }

    #[test]
    fn what_is_not_json_stays_text() {
        let (input, extra, sent) = received(r#"{"city":"#);
        assert_eq!(input, json!(r#"{"city":"#));
        assert_eq!((extra, sent), (None, input));
    }

    #[test]
    fn changed_input_outranks_the_received_text() {
        let extra = json!({"arguments": "{ \"a\": 1 }"});
        let sent = Arguments {
            input: &json!({"a": 2}),
            extra: Some(&extra),
        };
        assert_eq!(serde_json::to_value(sent).unwrap(), r#"{"a":2}"#);
    }

    proptest! {
        #[test]
        fn arguments_go_back_letter_for_letter(
            text in prop_oneof!["\\PC{1,20}", "\\{ ?\"b\": ?[0-9]{1,25}\\.?[0-9]{0,3}, *\"a\": ?\"\\PC{0,5}\"\\}"]
        ) {
            prop_assume!(!text.trim().is_empty());
            prop_assert_eq!(received(&text).2, text);
        }
    }
}
