use std::sync::LazyLock;

use neuron_approvers::{Approvers, Statement, Verified, VerifyError};
use proptest::prelude::*;
use serde_json::{Value, json};
use ssh_key::{HashAlg, LineEnding};

use crate::support::{approvers, private, signer, statement};

/// A statement of ada's, her signature, and those who may decide.
static SIGNED: LazyLock<(Statement, String, Approvers)> = LazyLock::new(|| {
    let statement = statement();
    let armor = signer(&private(1)).sign(&statement).unwrap();
    let approvers = approvers(&[("ada", &private(1)), ("bob", &private(2))]);
    (statement, armor, approvers)
});

#[test]
fn a_signature_shows_who_decided() {
    let (statement, armor, approvers) = &*SIGNED;
    let verified = Verified {
        approver: "ada".into(),
        key: signer(&private(1)).key().fingerprint(),
    };
    assert!(verified.key.starts_with("SHA256:"));
    assert_eq!(
        approvers.verify(statement, Some(armor)),
        Ok(verified.clone())
    );
    let carried = format!("\r\n{}  \n", armor.replace('\n', "\r\n"));
    assert_eq!(approvers.verify(statement, Some(&carried)), Ok(verified));
}

#[test]
fn every_reason_is_told_from_the_others() {
    let (statement, armor, approvers) = &*SIGNED;
    let reason = |armor: Option<&str>| {
        let error = approvers.verify(statement, armor).unwrap_err();
        format!("{}: {error}", error.reason())
    };
    let sign = |key: u8, namespace: &str| {
        let made = private(key).sign(namespace, HashAlg::Sha512, &statement.canonical());
        made.unwrap().to_pem(LineEnding::LF).unwrap()
    };
    let other = signer(&private(1)).sign(&Statement {
        run: "q4".into(),
        ..statement.clone()
    });
    let reasons = [
        reason(None),
        reason(Some(" \n")),
        reason(Some("ada")),
        reason(Some(&armor[..armor.len() / 2])),
        reason(Some(&armor.repeat(100))),
        reason(Some(&sign(1, "file"))),
        reason(Some(&sign(3, "neuron"))),
        reason(Some(&other.unwrap())),
    ];
    insta::assert_snapshot!(reasons.join("\n"), @r#"
    unsigned: the decision is not signed
    unsigned: the decision is not signed
    unreadable: the signature is no armored SSH signature
    unreadable: the signature is no armored SSH signature
    unreadable: the signature is no armored SSH signature
    namespace: the signature was not made for the namespace "neuron"
    stranger: no approver has the key SHA256:zbv/nU7iZdO0fB0DalMI70dP6/yFD8sctXvvW4+OokY
    mismatch: the signature with the key SHA256:fe85JkIjo8VPe+XqXJGH5Mau1EMFdK1OdKvJUFicyA8 of ada is not over this decision
    "#);
}

#[test]
fn both_hashes_are_taken() {
    let (statement, _, approvers) = &*SIGNED;
    for hash in [HashAlg::Sha256, HashAlg::Sha512] {
        let made = private(2).sign("neuron", hash, &statement.canonical());
        let armor = made.unwrap().to_pem(LineEnding::LF).unwrap();
        let verified = approvers.verify(statement, Some(&armor)).unwrap();
        assert_eq!(verified.approver, "bob");
    }
}

#[test]
fn a_key_that_was_taken_away_is_a_strangers() {
    let (statement, armor, _) = &*SIGNED;
    let rotated = approvers(&[("ada", &private(9)), ("bob", &private(2))]);
    let error = rotated.verify(statement, Some(armor)).unwrap_err();
    assert_eq!(error.reason(), "stranger");
    let nobody = Approvers::default().verify(statement, Some(armor));
    assert_eq!(nobody.unwrap_err().reason(), "stranger");
}

#[test]
fn a_signature_under_the_name_of_another_key_does_not_count() {
    let (statement, armor, approvers) = &*SIGNED;
    // Bob's key in front of ada's signature.
    let ada = private(1).sign("neuron", HashAlg::Sha512, &statement.canonical());
    let bob = private(2).public_key().key_data().clone();
    let forged = ssh_key::SshSig::new(
        bob,
        "neuron",
        HashAlg::Sha512,
        ada.unwrap().signature().clone(),
    );
    let forged = forged.unwrap().to_pem(LineEnding::LF).unwrap();
    assert_ne!(&forged, armor);
    let error = approvers.verify(statement, Some(&forged)).unwrap_err();
    assert!(matches!(&error, VerifyError::Mismatch { approver, .. } if approver == "bob"));
}

/// Sets one of the fields to something else.
fn change(statement: &mut Statement, field: usize, text: &str) {
    let content = &mut statement.content;
    let value = || Some(json!({ "command": text }));
    let own = text.to_owned();
    match field {
        0 => statement.place = own,
        1 => statement.run = own,
        2 => statement.nonce = own,
        3 => statement.ticket = own,
        4 => statement.digest = own,
        5 => statement.definition = own,
        6 => statement.at = own,
        7 => content.verdict = Some(own),
        8 => content.args = value(),
        9 => content.text = Some(own),
        10 => content.choice = Some(own),
        11 => content.output = value(),
        12 => content.comment = Some(own),
        13 => content.always = Some(own),
        14 => content.verdict = None,
        15 => content.args = None,
        16 => content.text = None,
        17 => content.choice = None,
        18 => content.output = Some(Value::Null),
        19 => content.comment = None,
        _ => content.always = None,
    }
}

const FIELDS: usize = 21;

#[test]
fn any_field_that_is_taken_away_or_emptied_fails() {
    let (statement, armor, approvers) = &*SIGNED;
    for field in 0..FIELDS {
        let mut changed = statement.clone();
        change(&mut changed, field, "");
        let error = approvers.verify(&changed, Some(armor)).unwrap_err();
        assert_eq!(error.reason(), "mismatch", "field {field}");
    }
}

proptest! {
    #[test]
    fn any_field_that_is_changed_fails(field in 0..FIELDS, text in ".{0,20}") {
        let (statement, armor, approvers) = &*SIGNED;
        let mut changed = statement.clone();
        change(&mut changed, field, &text);
        prop_assume!(changed != *statement);
        let error = approvers.verify(&changed, Some(armor)).unwrap_err();
        prop_assert_eq!(error.reason(), "mismatch");
    }

    // Some lengths in the armor are not looked at, so not every change is an error.
    #[test]
    fn a_character_of_the_armor_that_is_changed_makes_it_nobody_elses(
        at in any::<prop::sample::Index>(),
        to in "[A-Za-z0-9+/=-]",
    ) {
        let (statement, armor, approvers) = &*SIGNED;
        let at = at.index(armor.len() - 1);
        let changed = format!("{}{to}{}", &armor[..at], &armor[at + 1..]);
        if let Ok(verified) = approvers.verify(statement, Some(&changed)) {
            prop_assert_eq!(Ok(verified), approvers.verify(statement, Some(armor)));
        }
        let mut other = statement.clone();
        other.run.push('x');
        prop_assert!(approvers.verify(&other, Some(&changed)).is_err());
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,200}") {
        let (statement, _, approvers) = &*SIGNED;
        let armor = format!("-----BEGIN SSH SIGNATURE-----\n{text}\n-----END SSH SIGNATURE-----");
        prop_assert!(approvers.verify(statement, Some(&armor)).is_err());
    }
}
