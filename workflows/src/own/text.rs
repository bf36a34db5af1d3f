//! Inputs and outputs as texts in prompts and answers.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Returns a value as text: a text as it is, anything else as JSON.
///
/// # Errors
///
/// The error of a value that JSON cannot express.
pub fn to_text<T: Serialize + ?Sized>(value: &T) -> Result<String, serde_json::Error> {
    Ok(match serde_json::to_value(value)? {
        Value::String(text) => text,
        other => other.to_string(),
    })
}

/// Reads what [`to_text`] wrote.
///
/// # Errors
///
/// The error of reading it as JSON.
pub fn from_text<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    let of_text = || serde_json::from_value(Value::String(text.to_owned()));
    if text.trim_start().starts_with(['{', '[']) {
        return serde_json::from_str(text).or_else(|error| of_text().map_err(|_| error));
    }
    of_text().or_else(|_| serde_json::from_str(text))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Invoice {
        number: u32,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Verdict {
        Fine,
        Wrong(String),
    }

    fn goes_round<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
        value: &T,
        text: &str,
    ) {
        assert_eq!(to_text(value).unwrap(), text);
        assert_eq!(from_text::<T>(text).unwrap(), *value);
    }

    #[test]
    fn texts_stand_as_they_are_and_anything_else_as_json() {
        goes_round(&"a text".to_owned(), "a text");
        goes_round(&r#""quoted""#.to_owned(), r#""quoted""#);
        goes_round(&r#"{"number":1}"#.to_owned(), r#"{"number":1}"#);
        goes_round(&"7".to_owned(), "7");
        goes_round(&7, "7");
        goes_round(&(), "null");
        goes_round(&vec![1, 2], "[1,2]");
        goes_round(&Invoice { number: 1 }, r#"{"number":1}"#);
        goes_round(&Verdict::Fine, "Fine");
        goes_round(&Verdict::Wrong("sum".into()), r#"{"Wrong":"sum"}"#);
    }

    #[test]
    fn what_is_wrong_is_said_of_the_json() {
        let error = from_text::<Invoice>(r#"{"number":"one"}"#).unwrap_err();
        assert!(error.to_string().contains("expected u32"), "{error}");
    }
}
