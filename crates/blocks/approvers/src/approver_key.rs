//! Public keys that decisions are verified with.

use std::{fmt, str::FromStr};

use ssh_key::{Algorithm, EcdsaCurve, HashAlg, PublicKey, public::KeyData};

/// What a line begins with whose key can be used.
const SUPPORTED: [&str; 4] = [
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
];

/// What other lines of public keys begin with.
const OTHERS: [&str; 12] = [
    "ssh-rsa",
    "ssh-dss",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-256",
    "rsa-sha2-512",
    "ssh-ed25519-cert-v01@openssh.com",
    "ssh-rsa-cert-v01@openssh.com",
    "ecdsa-sha2-nistp256-cert-v01@openssh.com",
    "ecdsa-sha2-nistp384-cert-v01@openssh.com",
    "sk-ssh-ed25519-cert-v01@openssh.com",
    "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com",
];

/// The longest line that is read.
const MAX_LINE: usize = 4096;

/// Why a text is no key that can be used. Says nothing of the text but which type of key it names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// There is no text.
    #[error("there is no key: write a line as in authorized_keys, \"ssh-ed25519 AAAA… name\"")]
    Empty,
    /// It is longer than a line with a key, or has a line break or another control character.
    #[error("this is not one line of text")]
    NotOneLine,
    /// It is a private key.
    #[error("this is a private key: keep it secret, and write the public one, which ends in .pub")]
    Private,
    /// Something stands before the key, such as `cert-authority` or `no-touch-required`.
    #[error("options before a key are not supported: remove what stands before the key's type")]
    Options,
    /// A type of key that is not supported.
    #[error(
        "keys of type {kind} are not supported: use ssh-ed25519, ecdsa-sha2-nistp256 or a hardware key (sk-…)"
    )]
    Unsupported {
        /// The type.
        kind: String,
    },
    /// It is no key.
    #[error("this is no public key as in authorized_keys, \"ssh-ed25519 AAAA… name\"")]
    Unreadable {
        /// Why.
        #[source]
        source: Option<ssh_key::Error>,
    },
}

/// A public key of a person: Ed25519, ECDSA on P-256, or one of both in hardware.
///
/// Two are equal if they are the same key, whatever comment stood after it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApproverKey {
    data: KeyData,
}

impl ApproverKey {
    /// Reads a line of `authorized_keys` without options: type, key and, if wanted, a comment, which is left out.
    ///
    /// # Errors
    ///
    /// [`KeyError`].
    pub fn parse(line: &str) -> Result<Self, KeyError> {
        let line = line.trim();
        if line.contains("PRIVATE KEY-----") {
            return Err(KeyError::Private);
        }
        if line.len() > MAX_LINE || line.contains(|c: char| c.is_control() && c != '\t') {
            return Err(KeyError::NotOneLine);
        }
        let mut words = line.split_ascii_whitespace();
        let kind = words.next().ok_or(KeyError::Empty)?;
        if OTHERS.contains(&kind) {
            return Err(KeyError::Unsupported {
                kind: kind.to_owned(),
            });
        }
        if !SUPPORTED.contains(&kind) {
            let has_options = words.any(|word| SUPPORTED.contains(&word) || OTHERS.contains(&word));
            return Err(match has_options {
                true => KeyError::Options,
                false => KeyError::Unreadable { source: None },
            });
        }
        let key = words.next().ok_or(KeyError::Unreadable { source: None })?;
        let written = format!("{kind} {key}");
        let unreadable = |source| KeyError::Unreadable {
            source: Some(source),
        };
        let key = PublicKey::from_openssh(&written).map_err(unreadable)?;
        // The library takes lengths that are not those of what follows, and OpenSSH does not.
        if key.to_openssh().map_err(unreadable)? != written {
            return Err(KeyError::Unreadable { source: None });
        }
        Self::of(key.key_data().clone())
    }

    /// Returns the key, if it is of a type that can be used.
    pub(crate) fn of(data: KeyData) -> Result<Self, KeyError> {
        match data.algorithm() {
            Algorithm::Ed25519
            | Algorithm::Ecdsa {
                curve: EcdsaCurve::NistP256,
            }
            | Algorithm::SkEd25519
            | Algorithm::SkEcdsaSha2NistP256 => Ok(Self { data }),
            other => Err(KeyError::Unsupported {
                kind: other.to_string(),
            }),
        }
    }

    pub(crate) const fn data(&self) -> &KeyData {
        &self.data
    }

    /// Returns the fingerprint as `ssh-keygen -l` writes it: `SHA256:…`.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        self.data.fingerprint(HashAlg::Sha256).to_string()
    }

    /// Returns whether the private key is in hardware that has to be touched for each signature (FIDO: `sk-…`).
    #[must_use]
    pub fn is_hardware(&self) -> bool {
        matches!(
            self.data.algorithm(),
            Algorithm::SkEd25519 | Algorithm::SkEcdsaSha2NistP256
        )
    }
}

impl FromStr for ApproverKey {
    type Err = KeyError;

    fn from_str(line: &str) -> Result<Self, KeyError> {
        Self::parse(line)
    }
}

/// The fingerprint.
impl fmt::Display for ApproverKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fingerprint())
    }
}

impl fmt::Debug for ApproverKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ApproverKey")
            .field(&self.fingerprint())
            .finish()
    }
}
