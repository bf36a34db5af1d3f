//! The ids of calls, which are the run's own.

use sha2::{Digest as _, Sha256};

/// The longest id of a call that every provider takes, in letters: that of OpenAI's Chat Completions.
pub const MAX_CALL_ID: usize = 40;

/// How long an id is that is made here. Mistral takes no other length.
const MADE: usize = 9;

const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Returns whether every provider takes an id: 1 to 40 ASCII letters, digits, `_` and `-`. Anthropic rejects others,
/// and OpenAI longer ones.
#[must_use]
pub fn is_call_id(id: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=MAX_CALL_ID).contains(&id.len()) && id.bytes().all(is_letter)
}

/// Makes an id of nine letters and digits, which is what every provider takes. The same parts always give the same one.
#[must_use]
pub fn made_call_id(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_be_bytes());
        digest.update(part);
    }
    let digest = digest.finalize();
    let letters = digest.iter().take(MADE);
    letters
        .filter_map(|byte| LETTERS.get(usize::from(*byte) % LETTERS.len()))
        .map(|letter| char::from(*letter))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_taken_by_everybody() {
        let made = made_call_id(&["functions.read_file:0", "1", "0"]);
        assert!(is_call_id(&made) && made.len() == MADE, "{made}");
        assert_eq!(made, made_call_id(&["functions.read_file:0", "1", "0"]));
        assert_ne!(made, made_call_id(&["functions.read_file:0", "10", ""]));
    }

    #[test]
    fn ids_that_a_provider_refuses_are_told() {
        for id in ["call_1", "toolu_01A-b", &"a".repeat(40)] {
            assert!(is_call_id(id), "{id}");
        }
        for id in ["", "functions.read_file:0", "a b", "é", &"a".repeat(41)] {
            assert!(!is_call_id(id), "{id}");
        }
    }
}
