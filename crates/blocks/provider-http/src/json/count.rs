//! Counts as servers write them.

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

/// Reads a count: a number that is whole and not negative, also one that is written as a text or with a fraction of nothing.
/// Anything else is `None`: what is not known must not be counted as nothing.
///
/// For `#[serde(default, deserialize_with = "count")]`.
///
/// ```
/// use neuron_provider_http::count;
///
/// #[derive(serde::Deserialize)]
/// struct Usage {
///     #[serde(default, deserialize_with = "count")]
///     tokens: Option<u64>,
/// }
///
/// let read = |text| serde_json::from_str::<Usage>(text).unwrap().tokens;
/// assert_eq!(read(r#"{"tokens": "1000"}"#), Some(1000));
/// assert_eq!(read(r#"{"tokens": 1000.0}"#), Some(1000));
/// assert_eq!(read(r#"{"tokens": null}"#), None);
/// ```
///
/// # Errors
///
/// Only where the input is not JSON.
pub fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    })
}

/// Returns the tokens of a prompt and of its answer where both are known: one count alone says nothing of what the
/// answer cost, nor of how large the conversation is. A prompt of no tokens is not known: servers report that of a
/// prompt that they had in a cache.
#[must_use]
pub fn known_counts(input: Option<u64>, output: Option<u64>) -> Option<(u64, u64)> {
    input.filter(|input| *input > 0).zip(output)
}

/// Returns the count that a float is. Beyond 2^53 it may be any of several.
fn whole(number: f64) -> Option<u64> {
    let is_count = number.fract() == 0.0 && (0.0..9e15).contains(&number);
    is_count
        .then(|| format!("{number:.0}").parse().ok())
        .flatten()
}

/// Reads a field with fields of its own that nothing depends on: what is no object, or does not fit, is the default.
///
/// For `#[serde(default, deserialize_with = "lenient_object")]`.
///
/// # Errors
///
/// Only where the input is not JSON.
pub fn lenient_object<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(match value {
        Value::Object(_) => T::deserialize(value).unwrap_or_default(),
        _ => T::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_whole_and_not_negative_however_it_is_written() {
        for (text, read) in [
            ("0", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("1000.0", Some(1000)),
            ("1e3", Some(1000)),
            ("\" 42 \"", Some(42)),
            ("-1", None),
            ("1.5", None),
            ("18446744073709551616", None),
            ("1e300", None),
            ("\"many\"", None),
            ("null", None),
            ("[1]", None),
            ("{}", None),
        ] {
            let mut json = serde_json::Deserializer::from_str(text);
            assert_eq!(count(&mut json).unwrap(), read, "{text}");
        }
    }

    #[test]
    fn one_count_alone_is_none() {
        assert_eq!(known_counts(Some(7), Some(0)), Some((7, 0)));
        assert_eq!(known_counts(Some(7), None), None);
        assert_eq!(known_counts(None, Some(7)), None);
        assert_eq!(known_counts(Some(0), Some(7)), None);
    }

    #[test]
    fn a_list_is_no_object() {
        #[derive(Debug, Default, PartialEq, Deserialize)]
        struct Usage {
            tokens: u64,
        }
        let read = |text| {
            let mut json = serde_json::Deserializer::from_str(text);
            lenient_object::<_, Usage>(&mut json).unwrap()
        };
        assert_eq!(read("[7]"), Usage::default());
        assert_eq!(read("null"), Usage::default());
        assert_eq!(read("{\"tokens\":7}").tokens, 7);
    }
}
