//! What a run reports of a server's tools that it does without.

use crate::{LeftOut, McpError, wire::harmless::shown};

/// How many tools are named one by one: a journal holds the names with every answer of a model.
const MOST: usize = 16;
/// The most characters of a name or a reason.
const MAX_CHARS: usize = 250;
/// The most characters of the reason why a server did not start.
const MAX_ERROR_CHARS: usize = 500;

/// Returns a sentence for each of the first tools, and one for the rest.
pub(crate) fn told(server: &str, left_out: &[LeftOut]) -> Vec<String> {
    let named = left_out.iter().take(MOST).map(|LeftOut { name, reason }| {
        let (name, reason) = (shown(name, MAX_CHARS), shown(reason, MAX_CHARS));
        format!("the tool {name:?} of the MCP server {server} is left out: {reason}")
    });
    let mut told: Vec<String> = named.collect();
    let rest = left_out.len().saturating_sub(MOST);
    if rest > 0 {
        // One of them may stand for many.
        told.push(format!(
            "at least {rest} more of the tools of the MCP server {server} are left out"
        ));
    }
    told
}

/// Returns a sentence for a server that did not start.
pub(crate) fn failed(server: &str, error: &McpError) -> String {
    let reason = shown(&error.to_string(), MAX_ERROR_CHARS);
    format!("the tools of the MCP server {server} are left out: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(name: &str, reason: &str) -> LeftOut {
        LeftOut {
            name: name.to_owned(),
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn each_is_named_with_its_server_and_the_reason() {
        assert_eq!(
            told("files", &[left_out("odd", "it has no schema")]),
            [r#"the tool "odd" of the MCP server files is left out: it has no schema"#]
        );
        assert!(told("files", &[]).is_empty());
    }

    #[test]
    fn neither_many_nor_long_ones_make_it_long() {
        let long = "\u{1b}".to_owned() + &"x".repeat(10_000);
        let told = told("s", &vec![left_out(&long, &long); 1001]);
        assert_eq!(told.len(), MOST + 1);
        assert_eq!(
            told.last().unwrap(),
            "at least 985 more of the tools of the MCP server s are left out"
        );
        for sentence in told {
            assert!(sentence.chars().count() < 600, "{sentence}");
            assert!(!sentence.contains('\u{1b}'), "{sentence:?}");
        }
    }
}
