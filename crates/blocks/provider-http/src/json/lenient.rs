use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

/// Reads a field that nothing depends on: what does not fit, or is `null`, is the default.
///
/// For `#[serde(default, deserialize_with = "lenient")]`. Servers that call themselves compatible send
/// empty strings, nulls, and numbers in place of texts, and an answer must not be lost to that.
///
/// ```
/// use neuron_provider_http::lenient;
///
/// #[derive(serde::Deserialize)]
/// struct Usage {
///     #[serde(default, deserialize_with = "lenient")]
///     input_tokens: u64,
/// }
///
/// let usage: Usage = serde_json::from_str(r#"{"input_tokens": null}"#).unwrap();
/// assert_eq!(usage.input_tokens, 0);
/// ```
///
/// # Errors
///
/// Only where the input is not JSON.
pub fn lenient<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(T::deserialize(value).unwrap_or_default())
}

/// Reads a list whose elements count each by itself: those that do not fit are left out. An object is a list of one,
/// and anything else an empty one.
///
/// For `#[serde(default, deserialize_with = "lenient_list")]`.
///
/// # Errors
///
/// Only where the input is not JSON.
pub fn lenient_list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let elements = match Value::deserialize(deserializer)? {
        Value::Array(elements) => elements,
        element @ Value::Object(_) => vec![element],
        _ => Vec::new(),
    };
    let read = |element| T::deserialize(element).ok();
    Ok(elements.into_iter().filter_map(read).collect())
}
