//! Headers that a variable has. They may be keys.

use percent_encoding::percent_decode_str;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::error::TelemetryError;

/// Reads `name=value,name=value`, the values percent-encoded.
///
/// # Errors
///
/// Returns an error that names the variable, and nothing of its value.
pub(crate) fn read(variable: &'static str, value: &str) -> Result<HeaderMap, TelemetryError> {
    let mut headers = HeaderMap::new();
    let pairs = value.split(',').map(str::trim);
    for pair in pairs.filter(|pair| !pair.is_empty()) {
        let (name, value) = header(pair).ok_or_else(|| {
            TelemetryError::of(
                variable,
                "it is no list of headers: name=value,name=value, with %2C for a comma in a value",
            )
        })?;
        headers.insert(name, value);
    }
    Ok(headers)
}

fn header(pair: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = pair.split_once('=')?;
    let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
    let value: Vec<u8> = percent_decode_str(value.trim()).collect();
    let mut value = HeaderValue::from_bytes(&value).ok()?;
    // Code that prints headers leaves it out.
    value.set_sensitive(true);
    Some((name, value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const VARIABLE: &str = "OTEL_EXPORTER_OTLP_HEADERS";

    #[test]
    fn values_are_decoded_and_never_printed() {
        let headers = read(
            VARIABLE,
            " authorization=Basic%20c2VjcmV0, x-team = a%2Cb ,",
        )
        .unwrap();

        assert_eq!(headers["authorization"], "Basic c2VjcmV0");
        assert_eq!(headers["x-team"], "a,b");
        assert!(!format!("{headers:?}").contains("c2VjcmV0"));
    }

    #[test]
    fn an_error_names_the_variable_and_not_the_value() {
        for value in ["hunter2", "a b=hunter2", "a=hunter2%0A"] {
            let error = read(VARIABLE, value).unwrap_err();
            assert!(error.to_string().starts_with(VARIABLE), "{error}");
            assert!(!format!("{error:?}{error}").contains("hunter2"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_value_is_read_or_refused(value in ".{0,60}") {
            let entries = value.split(',').filter(|entry| !entry.trim().is_empty()).count();
            if let Ok(headers) = read(VARIABLE, &value) {
                prop_assert!(headers.len() <= entries);
            }
        }
    }
}
