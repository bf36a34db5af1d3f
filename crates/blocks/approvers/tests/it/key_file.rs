use std::{fs, io, os::unix::fs::PermissionsExt as _, path::Path};

use neuron_approvers::{Approvers, Passphrase, SignError, Signer};

use crate::support::{entry, keygen, line, private, public_line, signer_of, statement, write_key};

fn open(path: &Path, passphrase: &str) -> Result<Signer, SignError> {
    Signer::from_key_file(path, None, |_| Ok(Passphrase::new(passphrase)))
}

#[test]
fn both_kinds_of_keys_sign() {
    for kind in ["ed25519", "ecdsa"] {
        let folder = tempfile::tempdir().unwrap();
        let key = keygen(folder.path(), kind, "");
        let approvers = Approvers::new([entry("ada", &[public_line(&key)], &[])]).unwrap();
        let signer = signer_of(&key);
        for run in 0..20 {
            let mut statement = statement();
            statement.run = run.to_string();
            let armor = signer.sign(&statement).unwrap();
            let verified = approvers.verify(&statement, Some(&armor)).unwrap();
            assert_eq!(verified.approver, "ada");
        }
    }
}

#[test]
fn an_encrypted_key_needs_its_passphrase() {
    let folder = tempfile::tempdir().unwrap();
    let key = keygen(folder.path(), "ed25519", "open sesame");
    let approvers = Approvers::new([entry("ada", &[public_line(&key)], &[])]).unwrap();
    let armor = open(&key, "open sesame")
        .unwrap()
        .sign(&statement())
        .unwrap();
    approvers.verify(&statement(), Some(&armor)).unwrap();

    let wrong = open(&key, "sesame").unwrap_err();
    assert!(matches!(wrong, SignError::Passphrase { .. }));
    assert!(!format!("{wrong} {wrong:?}").contains("sesame"));
    assert!(!format!("{:?}", Passphrase::new("sesame")).contains("sesame"));
    let gone = Signer::from_key_file(&key, None, |_| Err(io::Error::other("no terminal")));
    assert!(
        gone.unwrap_err()
            .to_string()
            .ends_with("could not be asked for: no terminal")
    );
}

#[test]
fn what_is_no_key_is_an_error_that_shows_nothing_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("id");
    let said = |text: &str| {
        fs::write(&path, text).unwrap();
        let error = open(&path, "").unwrap_err();
        let said = format!("{error} {error:?}");
        assert!(!said.contains("hunter2"), "{said}");
        error.to_string().replace(path.to_str().unwrap(), "ID")
    };
    let rsa = tempfile::tempdir().unwrap();
    let rsa = rsa.path().join("key");
    crate::support::run_well(
        "ssh-keygen",
        &[
            "-q",
            "-t",
            "rsa",
            "-b",
            "2048",
            "-N",
            "",
            "-f",
            rsa.to_str().unwrap(),
        ],
        b"",
    );
    let said = [
        said("password = hunter2"),
        said("-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n-----END OPENSSH PRIVATE KEY-----"),
        said(&line(&private(1))),
        said(&fs::read_to_string(&rsa).unwrap()),
        said(&"hunter2 ".repeat(10_000)),
    ];
    insta::assert_snapshot!(said.join("\n"), @r#"
    ID holds no key that ssh-keygen made
    ID holds no key that ssh-keygen made
    ID holds no private key itself: add it to ssh-agent, with ssh-add
    the key in ID cannot be used: keys of type ssh-rsa are not supported: use ssh-ed25519, ecdsa-sha2-nistp256 or a hardware key (sk-…)
    the key file ID cannot be read: it is no file of a key
    "#);
    let missing = open(&folder.path().join("none"), "").unwrap_err();
    assert!(matches!(missing, SignError::Read { .. }));
    let is_folder = open(folder.path(), "").unwrap_err();
    assert!(matches!(is_folder, SignError::Read { .. }));
}

#[test]
fn a_file_that_others_may_read_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("id");
    write_key(&path, &private(1));
    assert!(!signer_of(&path).others_may_read());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(signer_of(&path).others_may_read());
}
