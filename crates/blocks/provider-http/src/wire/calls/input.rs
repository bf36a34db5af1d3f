use serde_json::{Value, json};

/// Returns the input that a text of arguments says. JSON of an object that is written twice, as a text in a text, is
/// that object. What is no JSON stays text, so that the model can read what is wrong with it.
#[must_use]
pub fn read_input(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(Value::String(text)) => object_in(text),
        Ok(input) => input,
        Err(_) => Value::String(arguments.to_owned()),
    }
}

/// Returns the input that a server sent: an object, a text that holds one, or null for no input.
#[must_use]
pub fn sent_input(input: Value) -> Value {
    match input {
        Value::String(text) => object_in(text),
        Value::Null => json!({}),
        input => input,
    }
}

fn object_in(text: String) -> Value {
    match serde_json::from_str(&text) {
        Ok(input @ Value::Object(_)) => input,
        _ => Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_in_a_text_is_that_object() {
        let object = json!({"n": "1"});
        let once = object.to_string();
        let twice = Value::from(once.clone()).to_string();
        assert_eq!(read_input(&once), object);
        assert_eq!(read_input(&twice), object);
        assert_eq!(sent_input(once.into()), object);
        assert_eq!(sent_input(object.clone()), object);
        assert_eq!(sent_input(Value::Null), json!({}));
    }

    #[test]
    fn any_other_text_stays_as_it_is() {
        for text in ["", "{", "[1]", "1", "null", "a"] {
            assert_eq!(sent_input(text.into()), json!(text));
            let quoted = Value::from(text).to_string();
            assert_eq!(read_input(&quoted), json!(text));
        }
        assert_eq!(read_input("{\"n\":"), json!("{\"n\":"));
    }
}
