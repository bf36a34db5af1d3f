//! Which run a request is of, and whose, as headers.

use std::fmt::Write as _;

use neuron_types::RunOrigin;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// The most labels that are sent.
const MAX_LABELS: usize = 32;
/// The most bytes of the key of a label, as it is sent.
const MAX_KEY: usize = 64;
/// The most bytes of a value, as it is sent.
const MAX_VALUE: usize = 1024;
/// The most bytes of all labels: servers take 8 KiB of headers at least, and there are others.
const MAX_LABELS_BYTES: usize = 4096;

/// Adds what is known of a run, beside the headers that are there.
pub(crate) fn add(headers: &mut HeaderMap, origin: RunOrigin<'_>) {
    for (what, text) in origin.texts() {
        add_one(headers, what, text);
    }
    // Names of headers have no case: of two that differ in it, the one that is written as it is sent counts.
    let is_capital = |key: &str| key.bytes().any(|byte| byte.is_ascii_uppercase());
    let (capital, plain): (Vec<_>, Vec<_>) = origin
        .tags
        .labels
        .iter()
        .partition(|(key, _)| is_capital(key));
    let mut left = MAX_LABELS_BYTES;
    for (key, text) in plain.into_iter().chain(capital).take(MAX_LABELS) {
        let key = encoded(key, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
        });
        let bytes = key.len().saturating_add(value_of(text).len());
        if !key.is_empty() && key.len() <= MAX_KEY && bytes <= left {
            left = left.saturating_sub(bytes);
            add_one(headers, &format!("label-{key}"), text);
        }
    }
}

fn value_of(text: &str) -> String {
    encoded(text, |byte| byte.is_ascii_graphic() && byte != b'%')
}

fn add_one(headers: &mut HeaderMap, what: &str, text: &str) {
    let value = value_of(text);
    if value.len() > MAX_VALUE {
        return;
    }
    let name = HeaderName::try_from(format!("x-neuron-{what}"));
    let (Ok(name), Ok(mut value)) = (name, HeaderValue::try_from(value)) else {
        return;
    };
    value.set_sensitive(true);
    headers.entry(name).or_insert(value);
}

/// Returns the text with the bytes that are not plain percent-encoded.
fn encoded(text: &str, is_plain: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a text does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use neuron_types::RunTags;

    use super::*;

    fn sent(tags: &RunTags) -> BTreeMap<String, String> {
        let mut headers = HeaderMap::new();
        let origin = RunOrigin {
            run: "r1.1-1",
            root: "r1",
            tags,
            trace: None,
        };
        add(&mut headers, origin);
        let headers = headers.iter();
        let texts = headers.map(|(name, value)| {
            let value = value.to_str().unwrap();
            (name.to_string(), value.to_owned())
        });
        texts.collect()
    }

    fn labels(labels: &[(&str, &str)]) -> RunTags {
        let owned = labels
            .iter()
            .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
        RunTags {
            labels: owned.collect(),
            ..RunTags::default()
        }
    }

    #[test]
    fn a_request_says_its_run_its_tree_and_whose_it_is() {
        let tags = RunTags {
            tenant: Some("acme".to_owned()),
            owner: Some("ada@example.com".to_owned()),
            ..labels(&[("team", "a")])
        };
        let expected = [
            ("x-neuron-label-team", "a"),
            ("x-neuron-owner", "ada@example.com"),
            ("x-neuron-root", "r1"),
            ("x-neuron-run", "r1.1-1"),
            ("x-neuron-tenant", "acme"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(sent(&tags), expected.into());
    }

    #[test]
    fn what_is_no_visible_ascii_is_encoded_and_starts_no_other_header() {
        let tags = RunTags {
            owner: Some("Zoë\r\nx-admin: 1 %".to_owned()),
            ..labels(&[("Cost center", "1 2")])
        };
        let sent = sent(&tags);
        assert_eq!(sent["x-neuron-owner"], "Zo%C3%AB%0D%0Ax-admin:%201%20%25");
        assert_eq!(sent["x-neuron-label-cost%20center"], "1%202");
    }

    #[test]
    fn what_is_too_long_or_too_much_is_left_out_and_not_cut() {
        let long = "x".repeat(MAX_VALUE + 1);
        let key = "k".repeat(MAX_KEY + 1);
        let mut tags = labels(&[(&key, "1"), ("", "2"), ("a", &long)]);
        tags.tenant = Some(long);
        assert_eq!(sent(&tags).len(), 2, "run and root alone");
        let keys: Vec<String> = (10..90).map(|number| format!("k{number}")).collect();
        let many: Vec<_> = keys.iter().map(|key| (key.as_str(), "1")).collect();
        assert_eq!(sent(&labels(&many)).len(), 2 + MAX_LABELS);
    }

    #[test]
    fn labels_that_differ_in_case_alone_are_the_one_without_capitals() {
        let sent = sent(&labels(&[("TEAM", "b"), ("Team", "c"), ("team", "a")]));
        assert_eq!(sent["x-neuron-label-team"], "a");
        assert_eq!(sent.len(), 3);
    }

    #[test]
    fn all_labels_together_are_no_more_than_servers_take() {
        let long = "x".repeat(1000);
        let keys: Vec<String> = (10..30).map(|number| format!("k{number}")).collect();
        let many: Vec<_> = keys.iter().map(|key| (key.as_str(), &*long)).collect();
        assert_eq!(sent(&labels(&many)).len(), 2 + MAX_LABELS_BYTES / 1003);
    }

    #[test]
    fn a_header_of_every_request_stays() {
        let mut headers = HeaderMap::new();
        let name = HeaderName::from_static("x-neuron-tenant");
        headers.insert(name.clone(), HeaderValue::from_static("all"));
        let tags = RunTags {
            tenant: Some("acme".to_owned()),
            ..RunTags::default()
        };
        let origin = RunOrigin {
            run: "r1",
            root: "r1",
            tags: &tags,
            trace: None,
        };
        add(&mut headers, origin);
        assert_eq!(headers[name], "all");
    }
}
