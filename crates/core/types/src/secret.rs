//! Secrets in texts of others.

/// The shortest text that is taken for a secret, in bytes.
const SHORTEST_SECRET: usize = 8;

/// Returns a text with every occurrence of a secret blanked, whatever the case of its letters: names of hosts are written in
/// small ones.
///
/// A secret of less than eight bytes is left alone: it is a placeholder for a server that wants none, such as `none`, and
/// blanking it would garble the text.
///
/// # Examples
///
/// ```
/// use neuron_types::redact;
///
/// assert_eq!(redact("no such key: sk-12345", "sk-12345"), "no such key: [redacted]");
/// assert_eq!(redact("none of these", "none"), "none of these");
/// ```
#[must_use]
pub fn redact(text: &str, secret: &str) -> String {
    if secret.len() < SHORTEST_SECRET {
        return text.to_owned();
    }
    let (small, secret) = (text.to_ascii_lowercase(), secret.to_ascii_lowercase());
    let mut rest = text;
    let mut shown = String::with_capacity(text.len());
    for (at, found) in small.match_indices(&secret) {
        let before = text.len() - rest.len();
        shown.push_str(text.get(before..at).unwrap_or_default());
        shown.push_str("[redacted]");
        rest = text.get(at + found.len()..).unwrap_or_default();
    }
    shown.push_str(rest);
    shown
}
