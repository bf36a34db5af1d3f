use neuron_types::{InvalidRunId, RunId};
use proptest::prelude::*;

#[test]
fn accepts_letters_digits_dots_underscores_and_dashes() {
    for id in [
        "a",
        "7",
        "nightly-2026.01_b",
        "A..b",
        "0195d3f0-1c2b-7def-8abc-1234567890ab",
    ] {
        assert_eq!(RunId::new(id).unwrap().as_str(), id);
    }
}

#[test]
fn accepts_up_to_128_characters() {
    assert!(RunId::new("a".repeat(128)).is_ok());
    assert!(RunId::new("a".repeat(129)).is_err());
}

#[test]
fn refuses_what_could_leave_a_directory_or_hide_in_it() {
    for id in [
        "", ".", "..", "../a", "a/b", "a\\b", ".a", "-a", "_a", "a b", "a\n", "a\0", "ü", "aü",
    ] {
        assert_eq!(RunId::new(id), Err(InvalidRunId(id.to_owned())));
    }
}

#[test]
fn the_refusal_says_what_an_id_looks_like() {
    assert_eq!(
        RunId::new("a b").unwrap_err().to_string(),
        "\"a b\" is not a run id: use 1 to 128 letters, digits, '.', '_' and '-', starting with a letter or digit"
    );
}

#[test]
fn json_with_a_bad_id_is_refused() {
    assert!(serde_json::from_str::<RunId>("\"a-1\"").is_ok());
    let error = serde_json::from_str::<RunId>("\"../a\"").unwrap_err();
    assert!(error.to_string().contains("is not a run id"), "{error}");
}

proptest! {
    #[test]
    fn an_accepted_text_is_kept_as_it_is(text in "[a-zA-Z0-9._-]{1,130}") {
        let fits = text.len() <= 128 && text.starts_with(|c: char| c.is_ascii_alphanumeric());
        match text.parse::<RunId>() {
            Ok(id) => {
                prop_assert!(fits);
                prop_assert_eq!(id.to_string(), text.clone());
                prop_assert_eq!(String::from(id), text);
            }
            Err(InvalidRunId(refused)) => {
                prop_assert!(!fits);
                prop_assert_eq!(refused, text);
            }
        }
    }

    #[test]
    fn one_foreign_character_anywhere_is_refused(
        start in "[a-z]{1,4}",
        foreign in "[^a-zA-Z0-9._-]",
        end in "[a-z]{0,4}",
    ) {
        let id = format!("{start}{foreign}{end}");
        prop_assert!(RunId::new(id).is_err());
    }
}
