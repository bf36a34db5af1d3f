//! Patterns of calls.

use serde_json::Value;

use crate::{ArgumentKind, CallPattern, Certainty, JudgedCall, fuzzing::first_line};

/// The directory that the tool works in.
const DIRECTORY: &str = "/site/project";

/// Checks a pattern and a call: the input's first line is the pattern, the second the tool's name, and the rest the
/// arguments as JSON.
///
/// A pattern is its parts put together again. It allows calls only of tools that it is for, and only calls that it
/// would reject as an entry of `deny`, whatever the tool declares its arguments to be. The prefix that a call offers to
/// allow allows the call.
///
/// # Panics
///
/// It does not.
pub fn check_pattern(input: &[u8]) {
    let Some((text, rest)) = first_line(input) else {
        return;
    };
    let pattern = CallPattern::parse(text);
    if let Some(pattern) = pattern {
        assert_eq!(written(&pattern), text);
        let again = written(&pattern);
        assert_eq!(CallPattern::parse(&again), Some(pattern));
    }
    let Some((tool, arguments)) = rest.split_once('\n') else {
        return;
    };
    let Ok(arguments) = serde_json::from_str::<Value>(arguments) else {
        return;
    };
    let names: Vec<&str> = match arguments.as_object() {
        Some(fields) => fields.keys().map(String::as_str).collect(),
        None => Vec::new(),
    };
    for kind in [
        None,
        Some(ArgumentKind::Path),
        Some(ArgumentKind::ShellCommand),
    ] {
        let kinds = names
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), kind?)));
        let kinds = kinds.collect();
        for directory in [None, Some(DIRECTORY)] {
            let call = JudgedCall::new(tool, &arguments, Some(&kinds), directory);
            if let Some(pattern) = &pattern {
                check_call(pattern, &call);
            }
            check_prefix(&call);
        }
    }
}

fn check_call(pattern: &CallPattern<'_>, call: &JudgedCall<'_>) {
    let allows = pattern.allows(call);
    let restricts = pattern.restricts(call);
    if !pattern.matches_tool(call.tool()) {
        assert!(
            !allows && restricts == Certainty::No,
            "{pattern:?} {call:?}"
        );
    }
    if pattern.names_tool() && pattern.tool != call.tool() {
        assert!(
            !allows && restricts == Certainty::No,
            "{pattern:?} {call:?}"
        );
    }
    if allows {
        assert_eq!(restricts, Certainty::Yes, "{pattern:?} {call:?}");
    }
}

fn check_prefix(call: &JudgedCall<'_>) {
    let Some(prefix) = call.prefix() else {
        return;
    };
    let pattern = CallPattern::parse(&prefix);
    let allows = pattern.is_some_and(|pattern| pattern.allows(call));
    assert!(allows, "{prefix} {call:?}");
}

fn written(pattern: &CallPattern<'_>) -> String {
    match pattern.argument {
        Some((name, value)) => format!("{}({name}={value})", pattern.tool),
        None => pattern.tool.to_owned(),
    }
}
