//! Patterns, lengths and forms.

use neuron_guards::{TextGuard, Then};
use neuron_types::{Guard as _, GuardPoint, GuardSubject, GuardVerdict};
use proptest::prelude::*;
use serde_json::json;

use super::{of_text, replaced, said};

fn block(reason: &str) -> GuardVerdict {
    GuardVerdict::Block {
        reason: reason.to_owned(),
    }
}

fn patterns(patterns: &[&str], by: &str) -> TextGuard {
    let guard = TextGuard::patterns("names", patterns).unwrap();
    guard.then(Then::Replace(by.to_owned()))
}

#[test]
fn patterns_are_looked_for_everywhere_and_block() {
    let guard = TextGuard::patterns("names", ["(?i)acme", r"\b\d{4}\b"]).unwrap();
    assert!(GuardPoint::ALL.iter().all(|point| guard.looks_at(*point)));
    for text in ["of ACME", "in 1999"] {
        assert_eq!(
            of_text(&guard, text),
            block("it has what names looks for"),
            "{text}"
        );
    }
    assert_eq!(of_text(&guard, "in 19999"), GuardVerdict::Pass);
}

#[test]
fn what_several_patterns_find_is_replaced_once_where_it_overlaps() {
    let guard = patterns(&["abc", "cde", "x"], "*");
    assert_eq!(replaced(&guard, "-abcde-x-xx"), "-*-*-**");
    // The whole match, whatever its groups are called.
    let grouped = patterns(&["a(?P<secret>b)c"], "*");
    assert_eq!(replaced(&grouped, "-abc-"), "-*-");
}

#[test]
fn patterns_that_match_nothing_find_nothing() {
    let guard = patterns(&["", "x*", "^", r"\b"], "*");
    assert_eq!(of_text(&guard, "word"), GuardVerdict::Pass);
    assert_eq!(replaced(&guard, "wxxord"), "w*ord");
}

#[test]
fn what_a_replacement_brings_together_is_replaced_too() {
    let guard = patterns(&["ab"], "");
    assert_eq!(replaced(&guard, "x aabb x aaabbb x"), "x  x  x");
    // Where it takes too long, nothing is left of it.
    let deep = format!("x {}{} x", "a".repeat(50), "b".repeat(50));
    assert_eq!(replaced(&guard, &deep), "");
}

#[test]
fn a_replacement_in_which_something_is_found_is_put_there_once() {
    let guard = patterns(&["key"], "[key]");
    assert_eq!(replaced(&guard, "a key, a key"), "a [key], a [key]");
}

#[test]
fn what_is_no_pattern_is_refused() {
    for pattern in ["(", "a{1000}{1000}{1000}", r"(?=x)"] {
        let error = TextGuard::patterns("names", [pattern]).unwrap_err();
        assert_eq!(error.pattern, pattern);
    }
}

proptest! {
    #[test]
    fn replacing_leaves_nothing_that_is_found_and_keeps_the_rest(
        words in prop::collection::vec("[a-wé日🔑 ]{0,8}|Zz|zZ|zz", 0..20),
    ) {
        let text = words.concat();
        let guard = patterns(&["(?i)zz"], "*");
        let left = replaced(&guard, &text);
        prop_assert_eq!(of_text(&guard, &left), GuardVerdict::Pass);
        let expected = words.iter().map(|word| match word.to_lowercase().as_str() {
            "zz" => "*",
            _ => word,
        });
        prop_assert_eq!(left, expected.collect::<String>());
    }

    #[test]
    fn no_text_is_too_strange(text in any::<String>(), pattern in "[a-z]{1,2}|.|é|\\PC") {
        let pattern = regex_of(&pattern);
        let guard = patterns(&[&pattern], "");
        let left = replaced(&guard, &text);
        prop_assert_eq!(of_text(&guard, &left), GuardVerdict::Pass);
        let urls = TextGuard::urls("urls", ["example.com"]).unwrap();
        let urls = urls.then(Then::Replace("[url]".to_owned()));
        let left = replaced(&urls, &text);
        prop_assert_eq!(of_text(&urls, &left), GuardVerdict::Pass);
    }
}

/// The text itself as a pattern.
fn regex_of(text: &str) -> String {
    let escaped = text.chars().map(|c| format!("\\x{{{:x}}}", u32::from(c)));
    escaped.collect()
}

#[test]
fn a_length_is_counted_in_characters() {
    let guard = TextGuard::length("short", 3);
    let looks = GuardPoint::ALL.map(|point| guard.looks_at(point));
    assert_eq!(looks, [true, false, false, false]);
    for text in ["", "abc", "日本語", "🔑🔑🔑"] {
        assert_eq!(of_text(&guard, text), GuardVerdict::Pass, "{text}");
    }
    for text in [
        "abcd",
        "日本語!",
        "e\u{301}e\u{301}",
        &"x".repeat(1_000_000),
    ] {
        assert_eq!(
            of_text(&guard, text),
            block("it is longer than 3 characters")
        );
    }
    let guard = guard.then(Then::Replace("[too long]".to_owned()));
    assert_eq!(replaced(&guard, "abcd"), "[too long]");
    let call = json!({});
    let subject = GuardSubject::new(GuardPoint::Call, "{\"a\":\"long\"}").with_input(&call);
    // Arguments cannot be cut: the call is not made.
    assert_eq!(
        said(&guard, subject),
        block("it is longer than 3 characters")
    );
}

#[test]
fn what_is_no_json_is_found() {
    let guard = TextGuard::json("form", None).unwrap();
    let looks = GuardPoint::ALL.map(|point| guard.looks_at(point));
    assert_eq!(looks, [false, false, true, false]);
    for text in ["{}", " [1, 2]\n", "null", "\"text\""] {
        assert_eq!(of_text(&guard, text), GuardVerdict::Pass, "{text}");
    }
    let deep = "[".repeat(100_000);
    for text in ["", "{", "{} {}", "NaN", "{'a': 1}", "ok", &deep] {
        let verdict = of_text(&guard, text);
        let reason = verdict.reason().unwrap();
        assert!(reason.starts_with("it is no JSON: "), "{verdict:?}");
    }
}

#[test]
fn what_does_not_fit_a_schema_is_found() {
    let schema = json!({
        "type": "object",
        "required": ["total"],
        "properties": {"total": {"$ref": "#/$defs/amount"}},
        "$defs": {"amount": {"type": "number"}},
    });
    let guard = TextGuard::json("form", Some(schema)).unwrap();
    assert_eq!(of_text(&guard, "{\"total\": 3}"), GuardVerdict::Pass);
    assert_eq!(
        of_text(&guard, "{\"total\": \"3\"}"),
        block("it does not fit its schema; at /total: \"3\" is not of type \"number\"")
    );
    assert!(of_text(&guard, "{}").reason().unwrap().contains("total"));
    let guard = guard.then(Then::Replace("null".to_owned()));
    assert_eq!(replaced(&guard, "{}"), "null");
}

#[test]
fn a_schema_that_everything_would_fit_because_it_cannot_be_read_is_refused() {
    for schema in [
        json!({"type": "strng"}),
        json!({"properties": {"a": {"type": 3}}}),
        json!({"$ref": "#/$defs/none"}),
        json!({"not": {"type": "strng"}}),
        json!("text"),
    ] {
        assert!(
            TextGuard::json("form", Some(schema.clone())).is_err(),
            "{schema}"
        );
    }
    for schema in [
        json!({}),
        json!(true),
        json!(false),
        json!({"not": {"type": "null"}}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a",
               "definitions": {"a": {"type": ["null", "object"]}}}),
    ] {
        assert!(
            TextGuard::json("form", Some(schema.clone())).is_ok(),
            "{schema}"
        );
    }
}
