//! People who decide, whose keys are the same in every test.

use std::{fs, os::unix::fs::PermissionsExt as _};

use neuron_approvers::{ApproverEntry, Signer, Statement};
use neuron_types::{DecidedAt, Decision, Place, RunStatus};
use ssh_key::{LineEnding, PrivateKey, private::Ed25519Keypair};

/// The time of all decisions.
const AT: &str = "2026-11-23T16:27:58.123Z";

/// A person with an Ed25519 key that is made from a number: the signatures are the same each time.
#[derive(Debug, Clone)]
pub struct Person {
    name: String,
    key: PrivateKey,
}

impl Person {
    /// Returns a person of this name with the key of this number.
    #[must_use]
    pub fn new(name: &str, number: u8) -> Self {
        Self {
            name: name.to_owned(),
            key: PrivateKey::from(Ed25519Keypair::from_seed(&[number; 32])),
        }
    }

    /// Returns the person as an approver in these groups.
    ///
    /// # Panics
    ///
    /// If the key cannot be written.
    #[must_use]
    pub fn in_groups(&self, groups: &[&str]) -> ApproverEntry {
        ApproverEntry {
            name: self.name.clone(),
            keys: vec![self.key.public_key().to_openssh().unwrap()],
            groups: groups.iter().map(|&group| group.to_owned()).collect(),
        }
    }

    /// Returns the fingerprint of the key.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        self.signer().key().fingerprint()
    }

    /// Returns the decision with the person's signature, for a run with this status at this place.
    ///
    /// # Panics
    ///
    /// If the run has not begun.
    #[must_use]
    pub fn signs(&self, place: &Place, status: &RunStatus, decision: Decision) -> Decision {
        let decision = Decision {
            approver: Some(self.name.clone()),
            at: Some(DecidedAt::parse(AT).unwrap()),
            ..decision
        };
        let statement = Statement::of_run(place, status, &decision).unwrap();
        Decision {
            signature: Some(self.signer().sign(&statement).unwrap()),
            ..decision
        }
    }

    fn signer(&self) -> Signer {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        self.key.write_openssh_file(&path, LineEnding::LF).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        Signer::from_key_file(&path, None, |_| panic!("it has no passphrase")).unwrap()
    }
}
