//! Who signs.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use ssh_encoding::LineEnding;
use ssh_key::PrivateKey;
use zeroize::Zeroizing;

use crate::{
    approver_key::ApproverKey,
    approvers::Approvers,
    signature::{self, Flaw, HASH, Signature},
    signing::{
        agent::{Agent, Identity},
        agent_error::AgentError,
        passphrase::Passphrase,
        sign_error::SignError,
    },
    statement::{NAMESPACE, Statement},
};

/// The variable that names the socket of `ssh-agent`.
pub const AGENT_SOCKET: &str = "SSH_AUTH_SOCK";

/// The longest key file that is read.
const MAX_FILE: u64 = 64 * 1024;

/// What the file of a private key begins with.
const PRIVATE: &str = "-----BEGIN OPENSSH PRIVATE KEY-----";

/// Signs decisions with one key. Signing blocks: on the disk, on `ssh-agent`, and on the person who touches a key or
/// confirms a question.
pub struct Signer {
    key: ApproverKey,
    with: With,
    others_may_read: bool,
}

enum With {
    Key(Box<PrivateKey>),
    Agent { socket: PathBuf, blob: Vec<u8> },
}

impl Signer {
    /// Takes the key from a file that `ssh-keygen` made. `passphrase` is asked for the passphrase if there is one.
    ///
    /// Where the file holds a public key, or one in hardware, the agent at the socket `agent` signs, see
    /// [`AGENT_SOCKET`]. One in 256 of ECDSA keys begins with a zero byte that the file leaves out, and cannot be read
    /// here; the agent can.
    ///
    /// # Errors
    ///
    /// [`SignError`]. No variant holds anything of the file's content.
    pub fn from_key_file(
        path: &Path,
        agent: Option<&Path>,
        passphrase: impl FnOnce(&Path) -> io::Result<Passphrase>,
    ) -> Result<Self, SignError> {
        let own = || path.to_owned();
        let (text, others_may_read) = read(path).map_err(|source| SignError::Read {
            path: own(),
            source,
        })?;
        let text = text.trim();
        if !text.starts_with(PRIVATE) {
            let key = ApproverKey::parse(text).map_err(|_| SignError::NoKey {
                path: own(),
                source: None,
            })?;
            let socket = agent.ok_or_else(|| SignError::NeedsAgent { path: own() })?;
            return Self::from_agent_key(socket, &key);
        }
        let private = PrivateKey::from_openssh(text).map_err(|source| SignError::NoKey {
            path: own(),
            source: Some(source),
        })?;
        let key = ApproverKey::of(private.public_key().key_data().clone()).map_err(|source| {
            SignError::Unsupported {
                path: own(),
                source,
            }
        })?;
        if key.is_hardware() {
            let socket = agent.ok_or_else(|| SignError::NeedsAgent { path: own() })?;
            return Self::from_agent_key(socket, &key);
        }
        let private = if private.is_encrypted() {
            let passphrase = passphrase(path).map_err(|source| SignError::Ask {
                path: own(),
                source,
            })?;
            let decrypted = private.decrypt(passphrase.as_bytes());
            decrypted.map_err(|source| SignError::Passphrase {
                path: own(),
                source,
            })?
        } else {
            private
        };
        Ok(Self {
            key,
            with: With::Key(Box::new(private)),
            others_may_read,
        })
    }

    /// Makes a signer with the agent at a socket, with its first key that is an approver's; where no approvers are
    /// known, with its first key of a supported type.
    ///
    /// # Errors
    ///
    /// [`SignError::Agent`] and [`SignError::NoIdentity`].
    pub fn from_agent(socket: &Path, approvers: &Approvers) -> Result<Self, SignError> {
        let wanted = approvers.keys().count();
        Self::of_agent(socket, wanted, |key| {
            approvers.is_empty() || approvers.owner(key).is_some()
        })
    }

    /// Makes a signer with the agent at a socket and this key.
    ///
    /// # Errors
    ///
    /// [`SignError::Agent`] and [`SignError::NoIdentity`].
    pub fn from_agent_key(socket: &Path, key: &ApproverKey) -> Result<Self, SignError> {
        Self::of_agent(socket, 1, |it| it == key)
    }

    fn of_agent(
        socket: &Path,
        wanted: usize,
        is_wanted: impl Fn(&ApproverKey) -> bool,
    ) -> Result<Self, SignError> {
        let mut identities = Agent::connect(socket)?.identities()?.into_iter();
        let found = identities.find(|identity| is_wanted(&identity.key));
        let Identity { key, blob } = found.ok_or(SignError::NoIdentity { wanted })?;
        let socket = socket.to_owned();
        Ok(Self {
            key,
            with: With::Agent { socket, blob },
            others_may_read: false,
        })
    }

    /// Returns the public key.
    #[must_use]
    pub const fn key(&self) -> &ApproverKey {
        &self.key
    }

    /// Returns whether users other than the owner may read the key file, which is worth a warning.
    #[must_use]
    pub const fn others_may_read(&self) -> bool {
        self.others_may_read
    }

    /// Signs a statement. Returns an armored SSHSIG, as `ssh-keygen -Y sign -n neuron` makes it.
    ///
    /// # Errors
    ///
    /// [`SignError::Agent`], [`SignError::Signature`], and [`SignError::DoesNotHold`] or [`SignError::Untouched`] for a
    /// signature that no verifier would take.
    pub fn sign(&self, statement: &Statement) -> Result<String, SignError> {
        let message = statement.canonical();
        let armor = match &self.with {
            With::Key(key) => key
                .sign(NAMESPACE, HASH, &message)?
                .to_pem(LineEnding::LF)?,
            With::Agent { socket, blob } => {
                let data = signature::to_sign(&message)?;
                let made = Agent::connect(socket)?.sign(blob, &data)?;
                signature::armor(blob, &made)?
            }
        };
        let key = || self.key.fingerprint();
        let made = Signature::read(&armor).map_err(|_| AgentError::Malformed)?;
        match made.check(&self.key, &message) {
            Ok(()) => Ok(armor),
            Err(Flaw::Mismatch) => Err(SignError::DoesNotHold { key: key() }),
            Err(Flaw::Untouched) => Err(SignError::Untouched { key: key() }),
        }
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agent = matches!(self.with, With::Agent { .. });
        f.debug_struct("Signer")
            .field("key", &self.key)
            .field("agent", &agent)
            .finish_non_exhaustive()
    }
}

/// Returns the text of a key file, and whether others may read it.
fn read(path: &Path) -> io::Result<(Zeroizing<String>, bool)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > MAX_FILE {
        return Err(io::Error::other("it is no file of a key"));
    }
    let others_may_read = metadata.permissions().mode() & 0o077 != 0;
    // Large enough that the text does not grow out of it and leave copies behind.
    let room = usize::try_from(MAX_FILE).unwrap_or_default();
    let mut text = Zeroizing::new(String::with_capacity(room));
    file.take(MAX_FILE).read_to_string(&mut text)?;
    Ok((text, others_may_read))
}
