use std::slice;

use neuron_approvers::{ApproverEntry, ApproverKey, Approvers, KeyError};

use crate::support::{entry, line, private};

fn three() -> Approvers {
    Approvers::new([
        entry(
            "ada",
            &[line(&private(1)), line(&private(2))],
            &["ops", "leads"],
        ),
        entry("bob", &[line(&private(3))], &["ops"]),
        entry("cyd", &[line(&private(4))], &[]),
    ])
    .unwrap()
}

#[test]
fn a_rule_means_a_name_a_group_or_everybody() {
    let approvers = three();
    let members = |from: Option<&str>| approvers.members(from).collect::<Vec<_>>().join(" ");
    assert_eq!(members(None), "ada bob cyd");
    assert_eq!(members(Some("ops")), "ada bob");
    assert_eq!(members(Some("leads")), "ada");
    assert_eq!(members(Some("cyd")), "cyd");
    assert_eq!(members(Some("others")), "");
    assert!(!approvers.may_decide("eve", None));
    assert!(!approvers.may_decide("ops", Some("ops")));
    assert_eq!(
        approvers.groups_of("ada").collect::<Vec<_>>(),
        ["leads", "ops"]
    );
    assert_eq!(approvers.groups_of("eve").count(), 0);
    assert!(approvers.in_group("bob", "ops") && !approvers.in_group("bob", "leads"));
    assert!(!approvers.is_empty() && Approvers::default().is_empty());
    assert_eq!(approvers.keys().count(), 4);
}

#[test]
fn a_key_is_the_same_whatever_stands_around_it() {
    let key = line(&private(1));
    let spaced = format!(
        "  {}\tada@laptop,  the one with \"quotes\" \n",
        key.replace(' ', "  ")
    );
    let parsed: ApproverKey = spaced.parse().unwrap();
    assert_eq!(parsed, ApproverKey::parse(&key).unwrap());
    assert_eq!(
        parsed.to_string(),
        private(1).fingerprint(Default::default()).to_string()
    );
    assert!(!parsed.is_hardware());
}

#[test]
fn a_key_whose_lengths_are_wrong_is_none() {
    let key = line(&private(1));
    let longer = key.replace("AAAAC3NzaC1lZDI1NTE5AAAA", "AAAAC3NzaC1lZDI1NTE5AARA");
    assert_ne!(longer, key);
    let error = ApproverKey::parse(&longer).unwrap_err();
    assert!(matches!(error, KeyError::Unreadable { .. }), "{error}");
}

#[test]
fn what_is_wrong_names_the_approver_and_shows_no_key() {
    let key = line(&private(1));
    let base64 = key.split(' ').nth(1).unwrap();
    let pem = "-----BEGIN OPENSSH PRIVATE KEY-----\naHVudGVyMg\n-----END OPENSSH PRIVATE KEY-----";
    let keys = [
        "".to_owned(),
        "hunter2".to_owned(),
        pem.to_owned(),
        format!("no-touch-required,command=\"a b\" {key}"),
        format!("cert-authority {key}"),
        format!("{key}\n{key}"),
        format!("ssh-rsa {base64}"),
        format!("ecdsa-sha2-nistp256 {base64}"),
        "ssh-ed25519".to_owned(),
        format!("ssh-ed25519 {}", &base64[..40]),
        format!("ssh-ed25519 {}", base64.repeat(200)),
    ];
    let said = keys.map(|key| {
        let error = Approvers::new([entry("ada", &[line(&private(2)), key], &[])]).unwrap_err();
        assert_eq!(error.key_index(), Some(1));
        let said = format!("{error} {error:?}");
        assert!(
            !said.contains("hunter2")
                && !said.contains("aHVudGVyMg")
                && !said.contains(&base64[20..40]),
            "{said}"
        );
        error.to_string()
    });
    insta::assert_snapshot!(said.join("\n"), @r#"
    a key of approver ada cannot be used: there is no key: write a line as in authorized_keys, "ssh-ed25519 AAAA… name"
    a key of approver ada cannot be used: this is no public key as in authorized_keys, "ssh-ed25519 AAAA… name"
    a key of approver ada cannot be used: this is a private key: keep it secret, and write the public one, which ends in .pub
    a key of approver ada cannot be used: options before a key are not supported: remove what stands before the key's type
    a key of approver ada cannot be used: options before a key are not supported: remove what stands before the key's type
    a key of approver ada cannot be used: this is not one line of text
    a key of approver ada cannot be used: keys of type ssh-rsa are not supported: use ssh-ed25519, ecdsa-sha2-nistp256 or a hardware key (sk-…)
    a key of approver ada cannot be used: this is no public key as in authorized_keys, "ssh-ed25519 AAAA… name"
    a key of approver ada cannot be used: this is no public key as in authorized_keys, "ssh-ed25519 AAAA… name"
    a key of approver ada cannot be used: this is no public key as in authorized_keys, "ssh-ed25519 AAAA… name"
    a key of approver ada cannot be used: this is not one line of text
    "#);
}

#[test]
fn names_are_plain_and_mean_one_thing() {
    let key = |seed| line(&private(seed));
    let entries: [Vec<ApproverEntry>; 11] = [
        vec![entry("", &[key(1)], &[])],
        vec![entry("a\u{1b}[2Jb", &[key(1)], &[])],
        vec![entry("ada\u{202e}", &[key(1)], &[])],
        vec![entry(" ada", &[key(1)], &[])],
        vec![entry(&"a".repeat(65), &[key(1)], &[])],
        vec![entry("ada", &[key(1)], &["ops\n"])],
        vec![entry("ada", &[], &[])],
        vec![entry("ada", &[key(1)], &[]), entry("ada", &[key(2)], &[])],
        vec![
            entry("ops", &[key(1)], &[]),
            entry("bob", &[key(2)], &["ops"]),
        ],
        vec![
            entry("bob", &[key(2)], &["ops"]),
            entry("ops", &[key(1)], &[]),
        ],
        vec![entry("ada", &[key(1)], &["ada"])],
    ];
    let said = entries.map(|entries| Approvers::new(entries).unwrap_err().to_string());
    insta::assert_snapshot!(said.join("\n"), @r#"
    "" names no approver: use 1 to 64 characters that can be seen, none of them a space at an end
    "a\u{1b}[2Jb" names no approver: use 1 to 64 characters that can be seen, none of them a space at an end
    "ada\u{202e}" names no approver: use 1 to 64 characters that can be seen, none of them a space at an end
    " ada" names no approver: use 1 to 64 characters that can be seen, none of them a space at an end
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" names no approver: use 1 to 64 characters that can be seen, none of them a space at an end
    "ops\n" names no group: use 1 to 64 characters that can be seen, none of them a space at an end
    approver ada has no key
    there are two approvers ada: rename one of them
    ops is the name of an approver and of a group: rename one of them
    ops is the name of an approver and of a group: rename one of them
    ada is the name of an approver and of a group: rename one of them
    "#);
}

#[test]
fn a_key_has_one_owner() {
    let key = line(&private(1));
    let again = format!("{key} of bob");
    let two = Approvers::new([
        entry("ada", slice::from_ref(&key), &[]),
        entry("bob", slice::from_ref(&again), &[]),
    ]);
    let twice = Approvers::new([entry("ada", &[key, again], &[])]);
    let said = [two.unwrap_err(), twice.unwrap_err()].map(|error| error.to_string());
    insta::assert_snapshot!(said.join("\n"), @r#"
    approver bob has a key that ada has too (SHA256:fe85JkIjo8VPe+XqXJGH5Mau1EMFdK1OdKvJUFicyA8): a key has one owner
    approver ada has a key that ada has too (SHA256:fe85JkIjo8VPe+XqXJGH5Mau1EMFdK1OdKvJUFicyA8): a key has one owner
    "#);
}

#[test]
fn nothing_of_what_is_wrong_is_added() {
    let mut approvers = three();
    let wrong = entry("dot", &[line(&private(5)), line(&private(1))], &["ops"]);
    approvers.add(wrong).unwrap_err();
    assert_eq!(approvers, three());
    approvers
        .add(entry("dot", &[line(&private(5))], &["ops"]))
        .unwrap();
    assert!(approvers.may_decide("dot", Some("ops")));
}
