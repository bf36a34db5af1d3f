//! What the keys of vendors look like.

use std::ops::Range;

use regex::Regex;

/// What stands before a key whose first letters may end another word: the edge of one, whatever the alphabet before it, or a
/// line break as JSON writes it. Only the group `secret` is the key.
const EDGE: &str = r"(?:\\[nrtbf]|\\u[0-9a-fA-F]{4}|(?-u:\b))";

/// What keys and tokens look like at the edge of a word, as their vendors document it.
const AT_EDGES: [&str; 5] = [
    // OpenAI, project and service keys too.
    r"sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}",
    // AWS: ids of long-lived and of temporary keys.
    r"(?:AKIA|ASIA)[A-Z2-7]{16}(?-u:\b)",
    // Google API keys.
    r"AIza[A-Za-z0-9_-]{35}",
    // Stripe, secret and restricted keys.
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    // Passwords in addresses, with and without the name of a user.
    r#"(?i:[a-z][a-z0-9+.-]*)://[^\s/:@?\#"'<>]*:[^\s/?\#"'<>]{3,}@"#,
];

/// What they look like where their first letters end no other word.
const ANYWHERE: [&str; 8] = [
    // Anthropic.
    r"sk-ant-[A-Za-z0-9_-]{20,}",
    // GitHub: personal, OAuth, app and refresh tokens, and fine-grained ones.
    r"gh[pousr]_[A-Za-z0-9]{36,}",
    r"github_pat_[A-Za-z0-9_]{60,}",
    // GitLab.
    r"glpat-[A-Za-z0-9_-]{20,}",
    // Slack.
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    // npm.
    r"npm_[A-Za-z0-9]{36,}",
    // JSON Web Tokens.
    r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    // Private keys, whole or cut.
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]*?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|[\s\S]*)",
];

/// Returns what finds them all.
pub(crate) fn patterns() -> Vec<Regex> {
    let at_edges = AT_EDGES.map(|pattern| format!("{EDGE}(?P<secret>{pattern})"));
    let anywhere = ANYWHERE.map(|pattern| format!("(?P<secret>{pattern})"));
    let patterns = at_edges.iter().chain(&anywhere);
    patterns.filter_map(|it| Regex::new(it).ok()).collect()
}

/// Returns where one of them finds something in a text.
pub(crate) fn find(pattern: &Regex, text: &str) -> Vec<Range<usize>> {
    let found = pattern.captures_iter(text);
    found
        .filter_map(|found| Some(found.name("secret")?.range()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_patterns_are_regular_expressions() {
        assert_eq!(patterns().len(), AT_EDGES.len() + ANYWHERE.len());
    }
}
