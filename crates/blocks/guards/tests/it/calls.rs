//! The arguments of calls, and whose calls are looked at.

use neuron_guards::{TextGuard, Then};
use neuron_types::{GuardPoint, GuardSubject, GuardVerdict};
use serde_json::{Value, json};

use super::said;

/// Returns what a guard says of a call whose arguments are this JSON.
fn of_call(guard: &TextGuard, json: &str) -> GuardVerdict {
    let input: Value = serde_json::from_str(json).unwrap();
    // As executors show it, and as the model wrote it.
    let shown = input.to_string();
    let [one, other] = [shown.as_str(), json].map(|text| {
        let subject = GuardSubject::new(GuardPoint::Call, text).of_tool("bash");
        said(guard, subject.with_input(&input))
    });
    assert_eq!(one, other);
    one
}

fn changed(guard: &TextGuard, json: &str) -> Value {
    match of_call(guard, json) {
        GuardVerdict::Replace { with, .. } => serde_json::from_str(&with).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn secrets() -> TextGuard {
    TextGuard::secrets("no_secrets").at([GuardPoint::Call])
}

fn token() -> String {
    format!("{}_{}", "ghp", "a".repeat(36))
}

#[test]
fn are_looked_at_without_their_escapes() {
    // Letters of the key itself are written as escapes.
    let escaped = format!("{}_{}", "\\u0067hp", "\\u0061".repeat(36));
    let json = format!("{{\"command\": \"line\\necho {escaped}\\n\"}}");
    assert!(!json.contains(&token()));
    assert_eq!(
        changed(&secrets(), &json),
        json!({"command": "line\necho [secret]\n"})
    );
}

#[test]
fn are_looked_at_at_any_depth_and_in_the_names_of_fields() {
    let token = token();
    let deep = json!({"a": [{"b": [null, true, 1, token]}], "keep": "it", token.as_str(): 2});
    assert_eq!(
        changed(&secrets(), &deep.to_string()),
        json!({"a": [{"b": [null, true, 1, "[secret]"]}], "keep": "it", "[secret]": 2})
    );
    let mut nested = json!(token);
    for _ in 0..100 {
        nested = json!([nested]);
    }
    let all = json!({ "a": nested }).to_string();
    let left = changed(&secrets(), &all).to_string();
    assert_eq!(left, all.replace(&token, "[secret]"));
}

#[test]
fn of_which_fields_would_get_lost_are_blocked() {
    let (one, other) = (token(), format!("{}_{}", "npm", "b".repeat(36)));
    let json = json!({one.as_str(): 1, other.as_str(): 2}).to_string();
    let block = GuardVerdict::Block {
        reason: "it has a secret".to_owned(),
    };
    assert_eq!(of_call(&secrets(), &json), block);
    let taken = json!({one.as_str(): 1, "[secret]": 2}).to_string();
    assert_eq!(of_call(&secrets(), &taken), block);
    // Nothing is replaced, so nothing gets lost.
    let asking = secrets().then(Then::Ask);
    assert!(matches!(of_call(&asking, &json), GuardVerdict::Ask { .. }));
    let warning = secrets().then(Then::Warn);
    assert!(matches!(
        of_call(&warning, &json),
        GuardVerdict::Warn { .. }
    ));
}

#[test]
fn whose_numbers_are_found_are_replaced_by_texts() {
    let guard = TextGuard::patterns("cards", [r"\b\d{16}\b"]).unwrap();
    let guard = guard.then(Then::Replace("[card]".to_owned()));
    let json = json!({"card": 4_111_111_111_111_111_u64, "sum": 3}).to_string();
    assert_eq!(changed(&guard, &json), json!({"card": "[card]", "sum": 3}));
}

#[test]
fn stay_an_object_whatever_takes_the_place_of_a_text() {
    let guard = TextGuard::patterns("quotes", ["bad"]).unwrap();
    let guard = guard.then(Then::Replace("\"}, {\\u0000\n\u{7}".to_owned()));
    assert_eq!(
        changed(&guard, "{\"a\": \"bad\", \"bad\": 1}"),
        json!({"a": "\"}, {\\u0000\n\u{7}", "\"}, {\\u0000\n\u{7}": 1})
    );
}

#[test]
fn are_no_addresses_by_what_json_makes_of_them() {
    let guard = TextGuard::urls("urls", ["good.com"]).unwrap();
    let json = "{\"url\": \"https:\\/\\/good.com\", \"and\": [\"https://good.com\"]}";
    assert_eq!(of_call(&guard, json), GuardVerdict::Pass);
    let json = "{\"url\": \"ht\\u0074ps:\\/\\/evil.com\"}";
    assert_eq!(
        of_call(&guard, json),
        GuardVerdict::Block {
            reason: "an address leads to evil.com".to_owned()
        }
    );
}

#[test]
fn of_other_tools_are_not_looked_at() {
    let guard = TextGuard::patterns("bad", ["bad"]).unwrap();
    let guard = guard.of_tools(["bash", "grep"]);
    let look = |tool: Option<&str>, point| {
        let subject = GuardSubject::new(point, "bad");
        said(&guard, tool.map_or(subject, |tool| subject.of_tool(tool)))
    };
    for point in [GuardPoint::Call, GuardPoint::Result] {
        assert_ne!(look(Some("bash"), point), GuardVerdict::Pass);
        assert_ne!(look(Some("grep"), point), GuardVerdict::Pass);
        for tool in ["bas", "bash2", "Bash", ""] {
            assert_eq!(look(Some(tool), point), GuardVerdict::Pass, "{tool}");
        }
    }
    // What is of no tool is looked at as ever.
    assert_ne!(look(None, GuardPoint::Output), GuardVerdict::Pass);
}
