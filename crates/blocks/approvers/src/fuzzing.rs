//! What the fuzz target checks of decisions that strangers send, beside that reading them does not panic.

use std::{fmt::Debug, sync::LazyLock};

use neuron_types::{Decision, Place, VerifyOutcome, VerifyRequest};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    ApproverEntry, ApproverKey, Approvers, DecisionContent, Statement, signature::Signature,
};

/// The key of an approver whose secret is not known: no signature verifies as theirs.
const ADA: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBSeRTuNXmTstnCFvz6ch7aFtSIO6zkgGP517exF9et0";

/// The keys that made the signatures of the corpus.
const MALLORY: [&str; 2] = [
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIg9FrUJO4Wm2zUoP63HFpwM+Yi3j9e/GPZ3FaiOtb25",
    "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBPur5zhhfoJ/4LyZJqyj4nLGo80iNGdagYyf26uQ/caNcC48NaccQnH3nuJf5jzm0fy+2EoapJS7swM63siF0sA=",
];

static ADA_ALONE: LazyLock<Approvers> = LazyLock::new(|| approvers(&[("ada", &[ADA])]));

static BOTH: LazyLock<Approvers> =
    LazyLock::new(|| approvers(&[("ada", &[ADA]), ("mallory", &MALLORY)]));

const PLACE: Place = Place::Memory;

fn approvers(names: &[(&str, &[&str])]) -> Approvers {
    let entries = names.iter().map(|(name, keys)| ApproverEntry {
        name: (*name).to_owned(),
        keys: keys.iter().map(|&key| key.to_owned()).collect(),
        groups: vec!["deciders".to_owned()],
    });
    let approvers = Approvers::new(entries).unwrap_or_default();
    assert_eq!(approvers.names().count(), names.len());
    approvers
}

/// Checks a [`Decision`] or a [`VerifyRequest`] as JSON, the armor of a signature, or a line with a key.
///
/// What is read is written as the same. A decision is taken as that of an approver only if their key signed exactly this.
///
/// # Panics
///
/// It does not.
pub fn check_decision(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    if let Ok(decision) = serde_json::from_str::<Decision>(text) {
        check_kept(&decision);
    }
    if let Ok(request) = serde_json::from_str::<VerifyRequest>(text) {
        check_kept(&request);
        check_request(&request);
    }
    if let Ok(key) = ApproverKey::parse(text) {
        assert!(key.fingerprint().starts_with("SHA256:"));
        assert_eq!(BOTH.owner(&key).is_some(), is_known(text), "{text:?}");
    }
    check_armor(text);
}

fn is_known(line: &str) -> bool {
    let word = |line: &str| {
        line.trim()
            .split_ascii_whitespace()
            .nth(1)
            .map(ToOwned::to_owned)
    };
    let mut known = [ADA].into_iter().chain(MALLORY);
    known.any(|known| word(known) == word(line))
}

fn check_armor(armor: &str) {
    let statement = Statement {
        place: PLACE.to_string(),
        run: "run".to_owned(),
        nonce: String::new(),
        ticket: "t1-1".to_owned(),
        digest: String::new(),
        definition: String::new(),
        at: String::new(),
        content: DecisionContent::default(),
    };
    assert!(ADA_ALONE.verify(&statement, Some(armor)).is_err());
    // The corpus has no signature over this.
    assert!(BOTH.verify(&statement, Some(armor)).is_err());
    if let Ok(signature) = Signature::read(armor) {
        assert!(signature.fingerprint().starts_with("SHA256:"));
    }
}

fn check_request(request: &VerifyRequest) {
    if let Ok(statement) = Statement::of_request(&PLACE, request) {
        check_statement(&statement);
    }
    assert!(!is_taken(&ADA_ALONE, request), "{request:?}");
    let VerifyOutcome::Taken(taken) = BOTH.judge(Some(&PLACE), request) else {
        return;
    };
    assert!(taken.verified, "{request:?}");
    assert_eq!(taken.approver.as_deref(), Some("mallory"), "{request:?}");
    let others = [
        VerifyRequest {
            ticket: format!("{}x", request.ticket),
            ..request.clone()
        },
        VerifyRequest {
            digest: format!("{}x", request.digest),
            ..request.clone()
        },
        VerifyRequest {
            definition: format!("{}x", request.definition),
            ..request.clone()
        },
        VerifyRequest {
            nonce: None,
            ..request.clone()
        },
    ];
    for other in others {
        assert!(!is_taken(&BOTH, &other), "{other:?}");
    }
}

/// Checks that what is signed is the canonical form of itself, and names everything.
fn check_statement(statement: &Statement) {
    let bytes = statement.canonical();
    let value = serde_json::from_slice::<Value>(&bytes).unwrap_or_default();
    let again = neuron_types::canonical_json(&value).into_bytes();
    assert_eq!(again, bytes, "{statement:?}");
    let content = serde_json::from_value::<DecisionContent>(value.clone());
    assert_eq!(content.ok(), Some(without_null(&statement.content)));
    let texts = [
        ("place", &statement.place),
        ("run", &statement.run),
        ("nonce", &statement.nonce),
        ("ticket", &statement.ticket),
        ("digest", &statement.digest),
        ("definition", &statement.definition),
        ("at", &statement.at),
    ];
    for (key, text) in texts {
        let signed = value.get(key).and_then(Value::as_str);
        assert_eq!(signed, Some(text.as_str()), "{key}");
    }
}

/// Removes a value of null, which counts as no value.
fn without_null(content: &DecisionContent) -> DecisionContent {
    let mut content = content.clone();
    content.args = content.args.filter(|value| !value.is_null());
    content.output = content.output.filter(|value| !value.is_null());
    content
}

fn is_taken(approvers: &Approvers, request: &VerifyRequest) -> bool {
    let outcome = approvers.judge(Some(&PLACE), request);
    matches!(outcome, VerifyOutcome::Taken(_))
}

fn check_kept<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let written = serde_json::to_vec(value);
    let read = written.and_then(|written| serde_json::from_slice::<T>(&written));
    assert_eq!(read.ok().as_ref(), Some(value));
}
