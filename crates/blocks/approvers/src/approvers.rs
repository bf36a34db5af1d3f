//! Those who may decide.

use std::collections::{BTreeMap, BTreeSet};

use neuron_types::is_invisible;
use serde::{Deserialize, Serialize};

use crate::{
    approver_key::ApproverKey,
    approvers_error::ApproversError,
    signature::{Flaw, Signature},
    statement::Statement,
    verify_error::VerifyError,
};

/// The longest name.
const MAX_NAME: usize = 64;

/// An approver as a file names it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApproverEntry {
    /// The name.
    pub name: String,
    /// Public keys, each a line as in `authorized_keys`, without options.
    pub keys: Vec<String>,
    /// The groups that the approver is in.
    pub groups: Vec<String>,
}

/// Who decided, as a signature shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// The approver's name.
    pub approver: String,
    /// The fingerprint of the key, as `ssh-keygen -l` writes it: `SHA256:…`.
    pub key: String,
}

/// Those who may decide, by name, with their public keys and groups. Empty unless approvers were added; then decisions
/// are taken unsigned.
///
/// ```
/// use neuron_approvers::{ApproverEntry, Approvers};
///
/// let ada = ApproverEntry {
///     name: "ada".into(),
///     keys: vec!["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti ada@laptop".into()],
///     groups: vec!["ops".into()],
/// };
/// let approvers = Approvers::new([ada])?;
/// assert!(approvers.may_decide("ada", Some("ops")));
/// assert!(!approvers.may_decide("ada", Some("leads")));
/// # Ok::<(), neuron_approvers::ApproversError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Approvers {
    /// The groups of each name.
    groups: BTreeMap<String, BTreeSet<String>>,
    /// The name of each key's owner.
    owners: BTreeMap<ApproverKey, String>,
}

impl Approvers {
    /// Takes all of these.
    ///
    /// # Errors
    ///
    /// Those of [`Approvers::add`], for the first that cannot be taken.
    pub fn new(entries: impl IntoIterator<Item = ApproverEntry>) -> Result<Self, ApproversError> {
        let mut approvers = Self::default();
        for entry in entries {
            approvers.add(entry)?;
        }
        Ok(approvers)
    }

    /// Adds one. Nothing of it is added in case of an error.
    ///
    /// # Errors
    ///
    /// [`ApproversError`]: a name that is not valid, is there already or is that of a group, no key, or one that cannot
    /// be used or that an approver has already.
    pub fn add(&mut self, entry: ApproverEntry) -> Result<(), ApproversError> {
        let ApproverEntry { name, keys, groups } = entry;
        check_name("approver", &name)?;
        if self.groups.contains_key(&name) {
            return Err(ApproversError::SameName { approver: name });
        }
        for group in &groups {
            check_name("group", group)?;
            if *group == name || self.groups.contains_key(group) {
                return Err(ApproversError::NameOfGroup {
                    name: group.clone(),
                });
            }
        }
        if self.is_group(&name) {
            return Err(ApproversError::NameOfGroup { name });
        }
        if keys.is_empty() {
            return Err(ApproversError::NoKey { approver: name });
        }
        let mut own = BTreeMap::new();
        for (index, line) in keys.iter().enumerate() {
            let key = ApproverKey::parse(line).map_err(|source| ApproversError::Key {
                approver: name.clone(),
                index,
                source,
            })?;
            if let Some(owner) = self.owners.get(&key).or_else(|| own.get(&key)) {
                return Err(ApproversError::SameKey {
                    approver: name,
                    index,
                    owner: owner.clone(),
                    fingerprint: key.fingerprint(),
                });
            }
            own.insert(key, name.clone());
        }
        self.owners.extend(own);
        self.groups.insert(name, groups.into_iter().collect());
        Ok(())
    }

    /// Returns whether no approvers are configured; decisions are then accepted unverified.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.groups.keys().map(String::as_str)
    }

    /// Returns the groups of an approver, sorted. Empty if there is no such approver.
    pub fn groups_of(&self, name: &str) -> impl Iterator<Item = &str> {
        let groups = self.groups.get(name).into_iter().flatten();
        groups.map(String::as_str)
    }

    /// Returns whether the approver is in the group.
    #[must_use]
    pub fn in_group(&self, name: &str, group: &str) -> bool {
        let groups = self.groups.get(name);
        groups.is_some_and(|groups| groups.contains(group))
    }

    /// Returns whether a rule that says `from` means this approver: `from` is a name or a group, and `None` is
    /// everybody.
    #[must_use]
    pub fn may_decide(&self, name: &str, from: Option<&str>) -> bool {
        self.groups.contains_key(name)
            && from.is_none_or(|from| from == name || self.in_group(name, from))
    }

    /// Returns whom a rule that says `from` means, sorted: see [`Approvers::may_decide`]. A rule that needs more decisions
    /// than there are names waits for ever.
    pub fn members<'a>(&'a self, from: Option<&'a str>) -> impl Iterator<Item = &'a str> {
        self.names().filter(move |name| self.may_decide(name, from))
    }

    /// Returns the approvers' keys, each with its owner's name.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &ApproverKey)> {
        let owners = self.owners.iter();
        owners.map(|(key, owner)| (owner.as_str(), key))
    }

    /// Returns who has a key; `None` if it is a stranger's.
    #[must_use]
    pub fn owner(&self, key: &ApproverKey) -> Option<&str> {
        self.owners.get(key).map(String::as_str)
    }

    /// Verifies that an approver signed this statement. `signature` is an armored SSHSIG, over SHA-512 or SHA-256; an
    /// empty text is no signature.
    ///
    /// Pure: neither a clock nor a file is looked at. This does not check whether the approver may decide this ticket:
    /// see [`Approvers::may_decide`].
    ///
    /// # Errors
    ///
    /// [`VerifyError`], which says which of the things that a signature shows it does not show.
    pub fn verify(
        &self,
        statement: &Statement,
        signature: Option<&str>,
    ) -> Result<Verified, VerifyError> {
        let armor = signature.filter(|armor| !armor.trim().is_empty());
        let armor = armor.ok_or(VerifyError::Unsigned)?;
        let signature =
            Signature::read(armor).map_err(|source| VerifyError::Unreadable { source })?;
        if !signature.is_ours() {
            return Err(VerifyError::Namespace);
        }
        let key = signature.key();
        let owned = key.and_then(|key| self.owners.get_key_value(&key));
        let Some((key, approver)) = owned else {
            return Err(VerifyError::Stranger {
                key: signature.fingerprint(),
            });
        };
        let verified = Verified {
            approver: approver.clone(),
            key: key.fingerprint(),
        };
        match signature.check(key, &statement.canonical()) {
            Ok(()) => Ok(verified),
            Err(flaw) => {
                let Verified { approver, key } = verified;
                Err(match flaw {
                    Flaw::Mismatch => VerifyError::Mismatch { approver, key },
                    Flaw::Untouched => VerifyError::Untouched { approver, key },
                })
            }
        }
    }

    fn is_group(&self, name: &str) -> bool {
        self.groups.values().any(|groups| groups.contains(name))
    }
}

fn check_name(what: &'static str, name: &str) -> Result<(), ApproversError> {
    let fits = !name.is_empty()
        && name.chars().count() <= MAX_NAME
        && name.trim() == name
        && !name.contains(is_invisible);
    if fits {
        Ok(())
    } else {
        let name = name.chars().take(MAX_NAME).collect();
        Err(ApproversError::Name { what, name })
    }
}
