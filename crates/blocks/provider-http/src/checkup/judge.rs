//! What an answer says about a check.

use std::collections::BTreeSet;

use neuron_types::{FailureKind, ProviderError, StopReason, is_call_id};
use serde_json::Value;

use crate::checkup::{
    Check, Finding, Verdict,
    question::{TOOL, fits},
    seen::Seen,
};

/// The most letters that are quoted of what a server said.
const QUOTED: usize = 80;

/// Judges one answer.
pub(crate) fn judged(check: Check, seen: &Seen) -> Finding {
    let (verdict, says) = match check {
        Check::Call => called(seen, 1),
        Check::TwoCalls => called(seen, 2),
        Check::StreamedCalls => in_pieces(seen, called(seen, 2)),
        Check::StreamedAnswer => in_pieces(seen, spoken(seen)),
        Check::ToolSchema => adapted(seen),
        Check::Form => formed(seen),
        Check::Picture => pictured(seen),
        _ => spoken(seen),
    };
    Finding {
        check,
        verdict,
        says,
    }
}

/// Judges a request that was not answered.
pub(crate) fn failed(check: Check, error: &ProviderError) -> Finding {
    let is_refused = matches!(
        error.kind(),
        FailureKind::InvalidRequest | FailureKind::ModelNotFound | FailureKind::Permission
    );
    let what = format!("{}: {error}", error.kind());
    let (verdict, says) = match check {
        Check::Picture if is_refused => (Verdict::Differs, format!("takes no pictures: {what}")),
        Check::Form if is_refused => (
            Verdict::Fails,
            format!("an agent with an answer of a form fails: {what}"),
        ),
        Check::ToolSchema => (
            Verdict::Fails,
            format!("the server rejects every request with such a schema: {what}"),
        ),
        _ => (Verdict::Fails, what),
    };
    Finding {
        check,
        verdict,
        says,
    }
}

type Judged = (Verdict, String);

fn spoken(seen: &Seen) -> Judged {
    let text = seen.text();
    match &seen.answer.stop_reason {
        _ if !text.is_empty() => (Verdict::Ok, quoted(&text)),
        StopReason::MaxTokens => (
            Verdict::Differs,
            "no word within 1,024 tokens: they went into thoughts".to_owned(),
        ),
        StopReason::ToolUse => (
            Verdict::Differs,
            "a call, where words were asked for".to_owned(),
        ),
        _ => (Verdict::Fails, "the answer is empty".to_owned()),
    }
}

fn called(seen: &Seen, wanted: usize) -> Judged {
    let calls: Vec<_> = seen.calls().collect();
    if let Some(call) = calls.iter().find(|call| call.name != TOOL) {
        let says = format!("called {}, which is not offered", quoted(call.name));
        return (Verdict::Fails, says);
    }
    if let Some(call) = calls.iter().find(|call| !fits(call.input)) {
        let says = format!(
            "the arguments do not fit their schema: {}",
            quoted(&call.input.to_string())
        );
        return (Verdict::Fails, says);
    }
    match calls.len() {
        0 => (
            Verdict::Fails,
            format!(
                "no call: the model or its template takes no tools; it said {}",
                quoted(&seen.text())
            ),
        ),
        found if found < wanted => (
            Verdict::Differs,
            "one call, where two were asked for: calls are made one after the other".to_owned(),
        ),
        1 => (Verdict::Ok, "one call".to_owned()),
        found => (Verdict::Ok, format!("{found} calls")),
    }
}

fn in_pieces(seen: &Seen, (verdict, says): Judged) -> Judged {
    match (verdict, seen.pieces) {
        (Verdict::Ok, Some(0)) => (
            Verdict::Differs,
            format!("{says}, in one piece: nothing is shown before all is there"),
        ),
        (_, Some(1)) => (verdict, format!("{says}, in 1 piece")),
        (_, Some(pieces)) => (verdict, format!("{says}, in {pieces} pieces")),
        (_, None) => (verdict, says),
    }
}

fn adapted(seen: &Seen) -> Judged {
    match seen.answer.left_out.first() {
        Some(left_out) => (Verdict::Differs, left_out.clone()),
        None => (Verdict::Ok, "taken".to_owned()),
    }
}

fn formed(seen: &Seen) -> Judged {
    let text = seen.text();
    let value: Option<Value> = serde_json::from_str(&text).ok();
    let counts = |value: &Value| value.get("inhabitants").is_some_and(Value::is_u64);
    let is_formed = value.is_some_and(|value| fits(&value) && counts(&value));
    match is_formed {
        true => (Verdict::Ok, "fits".to_owned()),
        false => (
            Verdict::Differs,
            format!(
                "not of the form, so that runs ask twice where a form is wanted: {}",
                quoted(&text)
            ),
        ),
    }
}

fn pictured(seen: &Seen) -> Judged {
    let text = seen.text();
    match text.to_lowercase().contains("red") {
        true => (Verdict::Ok, quoted(&text)),
        false => (
            Verdict::Differs,
            format!(
                "a red picture was not seen: the model said {}",
                quoted(&text)
            ),
        ),
    }
}

/// Judges all answers together.
pub(crate) fn of_all(check: Check, all: &[(Check, Seen)]) -> Finding {
    let (verdict, says) = match check {
        _ if all.is_empty() => (Verdict::NotAsked, "nothing was answered".to_owned()),
        Check::Ids => ids(all),
        Check::Ends => ends(all),
        _ => usage(all),
    };
    Finding {
        check,
        verdict,
        says,
    }
}

fn ids(all: &[(Check, Seen)]) -> Judged {
    let mut known = BTreeSet::new();
    for (_, seen) in all {
        for call in seen.calls() {
            if !is_call_id(call.id) {
                let says = format!(
                    "{} is no id elsewhere: runs make their own",
                    quoted(call.id)
                );
                return (Verdict::Differs, says);
            }
            if !known.insert(call.id) {
                let says = format!("{} came twice: runs make their own", quoted(call.id));
                return (Verdict::Differs, says);
            }
        }
    }
    match known.is_empty() {
        true => (Verdict::NotAsked, "there was no call".to_owned()),
        false => (Verdict::Ok, "all different".to_owned()),
    }
}

fn ends(all: &[(Check, Seen)]) -> Judged {
    for (check, seen) in all {
        let has_calls = seen.calls().next().is_some();
        let is_right = match &seen.answer.stop_reason {
            StopReason::ToolUse => has_calls,
            StopReason::EndTurn => !has_calls,
            StopReason::MaxTokens => true,
            _ => false,
        };
        if !is_right {
            let end = serde_json::to_string(&seen.answer.stop_reason).unwrap_or_default();
            let says = format!("{}: ended with {}", check.as_str(), quoted(&end));
            return (Verdict::Differs, says);
        }
    }
    (Verdict::Ok, "as they should be".to_owned())
}

fn usage(all: &[(Check, Seen)]) -> Judged {
    let is_counted = |seen: &Seen| {
        let usage = &seen.answer.usage;
        usage.input_tokens > 0 && usage.output_tokens > 0
    };
    let is_uncounted = |(_, seen): &&(Check, Seen)| !is_counted(seen);
    match all.iter().find(is_uncounted) {
        None => (Verdict::Ok, "counted in every answer".to_owned()),
        Some((check, _)) => (
            Verdict::Differs,
            format!(
                "{}: not counted, so that budgets and costs do not know of it",
                check.as_str()
            ),
        ),
    }
}

/// Words of a server, shortened.
fn quoted(text: &str) -> String {
    let mut letters = text.chars();
    let short: String = letters.by_ref().take(QUOTED).collect();
    let more = if letters.next().is_some() { "…" } else { "" };
    format!("{short:?}{more}")
}
