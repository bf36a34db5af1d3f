//! Secrets are made of parts, so that no scanner for leaks takes them for some.

use neuron_guards::{TextGuard, Then};
use neuron_types::{Guard as _, GuardPoint, GuardVerdict};
use proptest::{prelude::*, sample::select};

use super::{of_text, replaced};

const LETTERS: &str = "Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7jKl0nOp3rSt6vWx9zAb2dEf5hIj8lMn1p";

/// So many letters and digits.
fn some(count: usize) -> String {
    LETTERS.chars().cycle().take(count).collect()
}

/// One of each form.
fn secrets() -> Vec<String> {
    let upper = some(40).to_uppercase().replace(['0', '1', '8', '9'], "Q");
    let key = |kind: &str| {
        let line = some(64);
        format!("-----BEGIN {kind}-----\n{line}\n{line}==\n-----END {kind}-----")
    };
    vec![
        format!("sk-{}-api03-{}_-AA", "ant", some(90)),
        format!("sk-{}", some(48)),
        format!("sk-{}-{}", "proj", some(60)),
        format!("sk-{}-{}", "svcacct", some(60)),
        format!("sk-{}-{}", "admin", some(60)),
        format!("{}{}", "AKIA", &upper[..16]),
        format!("{}{}", "ASIA", &upper[..16]),
        format!("{}_{}", "ghp", some(36)),
        format!("{}_{}", "gho", some(36)),
        format!("{}_{}", "ghu", some(36)),
        format!("{}_{}", "ghs", some(36)),
        format!("{}_{}", "ghr", some(76)),
        format!("{}_{}_{}", "github_pat", some(22), some(59)),
        format!("{}-{}", "glpat", some(20)),
        format!("{}{}", "AIza", some(35)),
        format!("{}-{}-{}", "xoxb", "123456789012", some(24)),
        format!("{}-{}", "xoxp", some(40)),
        format!("{}_{}_{}", "sk", "live", some(24)),
        format!("{}_{}_{}", "rk", "test", some(24)),
        format!("{}_{}", "npm", some(36)),
        format!("{}{}.{}{}.{}", "eyJ", some(20), "eyJ", some(40), some(43)),
        format!("postgres://{}:{}@", "user", "hunter2"),
        format!("HTTPS://{}:{}@", "user", "hunter2"),
        // Databases without users, and passwords that were not escaped.
        format!("redis://:{}@", "hunter2"),
        format!("postgres://{}:{}@", "user", "p@ss@word"),
        key(&format!("{} KEY", "PRIVATE")),
        key(&format!("RSA {} KEY", "PRIVATE")),
        key(&format!("OPENSSH {} KEY", "PRIVATE")),
        key(&format!("ENCRYPTED {} KEY", "PRIVATE")),
        key(&format!("PGP {} KEY BLOCK", "PRIVATE")),
    ]
}

fn guard() -> TextGuard {
    TextGuard::secrets("no_secrets")
}

#[test]
fn of_each_form_are_replaced_wherever_they_stand() {
    for secret in secrets() {
        for (before, after) in [
            ("", ""),
            ("the key is ", ", keep it"),
            ("KEY=", "\nNEXT=1"),
            ("{\"key\":\"", "\"}"),
            // Neither words of other alphabets nor what JSON makes of a line break hide one.
            ("密钥是", " 。"),
            ("ключ", " конец"),
            ("line\\n", "\\nline"),
            ("line\\t", "\\tline"),
            ("é\u{301}🔑", "🔑"),
        ] {
            let text = format!("{before}{secret}{after}");
            let expected = format!("{before}[secret]{after}");
            assert_eq!(replaced(&guard(), &text), expected, "{text}");
        }
    }
}

#[test]
fn are_found_directly_before_other_words_where_their_length_is_open() {
    let token = format!("{}_{}", "ghp", some(36));
    for after in ["密钥", "_old", "é"] {
        let text = format!("{token}{after}");
        assert_eq!(replaced(&guard(), &text), format!("[secret]{after}"));
    }
    let id = format!("{}{}", "AKIA", "ABCDEFGHIJKLMNOP");
    assert_eq!(replaced(&guard(), &format!("{id}密钥")), "[secret]密钥");
}

#[test]
fn of_all_forms_are_found_in_one_text() {
    let text = secrets().join(" and ");
    let expected = vec!["[secret]"; secrets().len()].join(" and ");
    assert_eq!(replaced(&guard(), &text), expected);
}

#[test]
fn a_private_key_without_its_end_is_replaced_to_the_end_of_the_text() {
    let text = format!("a\n-----BEGIN {} KEY-----\n{}\nb", "PRIVATE", some(64));
    assert_eq!(replaced(&guard(), &text), "a\n[secret]");
}

#[test]
fn are_not_seen_in_ordinary_texts() {
    for text in [
        "",
        "The task-force ran the disk-usage check; risk-taking is fine.",
        "risk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "task-6fa459ea-ee8a-3ca4-894e-db77e160355e",
        "task_test_internationalization",
        "https://example.com/a?b=c#d and http://localhost:8080/x@y and mailto:a@b.example",
        "http://localhost:8080?mail=a@b.example",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----",
        "npm_config_cache and ghp_ and AKIA and sk-1 and xoxb- and eyJ.",
        "C:\\Users\\me: a@b",
    ] {
        assert_eq!(of_text(&guard(), text), GuardVerdict::Pass, "{text}");
    }
}

#[test]
fn are_looked_for_in_results_and_answers_and_what_is_done_can_be_said() {
    let looks = GuardPoint::ALL.map(|point| guard().looks_at(point));
    assert_eq!(looks, [false, false, true, true]);
    let secret = &secrets()[0];
    let reason = "it has a secret".to_owned();
    for (then, expected) in [
        (
            Then::Warn,
            GuardVerdict::Warn {
                reason: reason.clone(),
            },
        ),
        (
            Then::Block,
            GuardVerdict::Block {
                reason: reason.clone(),
            },
        ),
        (
            Then::Ask,
            GuardVerdict::Ask {
                reason: reason.clone(),
            },
        ),
        (Then::Trip, GuardVerdict::Trip { reason }),
    ] {
        let verdict = of_text(&guard().then(then), secret);
        assert_eq!(verdict, expected);
        // Why something is not passed on is reported, what it was is not.
        assert!(!format!("{verdict:?}").contains(secret.as_str()));
    }
}

#[test]
fn a_text_that_is_made_to_cost_much_is_looked_at_all_the_same() {
    let begin = format!("-----BEGIN {} KEY-----", "PRIVATE");
    for part in [
        "eyJaaaaaaaaaa.",
        "a://b:ccc",
        "sk-",
        "\\n",
        "a://b:c@",
        "é",
        "https://u:",
    ] {
        let text = part.repeat(1_000_000 / part.len());
        let left = replaced(&guard(), &text);
        assert_eq!(of_text(&guard(), &left), GuardVerdict::Pass, "{part}");
    }
    let text = begin.repeat(20_000);
    assert_eq!(replaced(&guard(), &text), "[secret]");
}

#[test]
fn what_only_comes_together_by_a_replacement_is_replaced_too() {
    let key = format!("-----BEGIN {0} KEY-----\n-----END {0} KEY-----", "PRIVATE");
    let text = format!("see https://user:{key}@example.com");
    assert_eq!(replaced(&guard(), &text), "see [secret]example.com");
    let nested = format!(
        "{}_{}{}_{}{}",
        "ghp",
        some(10),
        "npm",
        some(36),
        "-".repeat(2)
    );
    let guard = guard().then(Then::Replace(String::new()));
    let left = replaced(&guard, &nested);
    assert_eq!(of_text(&guard, &left), GuardVerdict::Pass, "{left}");
}

fn ordinary() -> impl Strategy<Value = String> {
    // No word continues into a secret, and no word has what secrets begin with.
    "[a-zé日🔑 .,()\n]{0,30}".prop_map(|text| format!(" {text} "))
}

proptest! {
    #[test]
    fn replacing_leaves_no_secret_and_keeps_the_rest(
        parts in prop::collection::vec((ordinary(), select(secrets())), 0..6),
        last in ordinary(),
    ) {
        let all = |secret: &dyn Fn(&str) -> String| {
            let texts = parts.iter().map(|(text, found)| format!("{text}{}", secret(found)));
            format!("{}{last}", texts.collect::<String>())
        };
        let left = replaced(&guard(), &all(&str::to_owned));
        prop_assert_eq!(&left, &all(&|_| "[secret]".to_owned()));
        prop_assert_eq!(of_text(&guard(), &left), GuardVerdict::Pass);
    }

    #[test]
    fn replacing_leaves_no_secret_whatever_stands_around(
        parts in prop::collection::vec(
            prop_oneof![select(secrets()), ".{0,5}", select(vec!["a://b:".to_owned(), "@".to_owned()])],
            0..8,
        ),
        by in prop_oneof![Just(String::new()), Just("[secret]".to_owned()), Just("x".to_owned())],
    ) {
        let guard = guard().then(Then::Replace(by));
        let left = replaced(&guard, &parts.concat());
        prop_assert_eq!(of_text(&guard, &left), GuardVerdict::Pass);
    }
}
