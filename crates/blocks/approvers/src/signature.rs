//! SSHSIG: a signature with the key that made it, in armor.

use ssh_encoding::{CheckedSum as _, Encode, EncodePem as _, LineEnding, Writer, pem::PemLabel};
use ssh_key::{HashAlg, PublicKey, SshSig};

use crate::{approver_key::ApproverKey, statement::NAMESPACE};

/// The longest armor that is read. Those of the supported keys have less than 700 bytes.
const MAX_ARMOR: usize = 8 * 1024;

/// What follows the signature of a hardware key: a byte of flags and four of a counter.
const HARDWARE_TRAILER: usize = 5;

/// The flag that marks that a person touched the key.
const USER_PRESENT: u8 = 0x01;

/// With what the message is hashed before it is signed. Others are taken too: SHA-256.
pub(crate) const HASH: HashAlg = HashAlg::Sha512;

/// What is wrong with a signature that could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    Mismatch,
    Untouched,
}

/// A signature that was read and not yet verified.
pub(crate) struct Signature {
    sshsig: SshSig,
}

impl Signature {
    /// Reads the armor. The error is `None` if the armor is too long.
    pub(crate) fn read(armor: &str) -> Result<Self, Option<ssh_key::Error>> {
        let armor = armor.trim();
        if armor.len() > MAX_ARMOR {
            return Err(None);
        }
        let sshsig = SshSig::from_pem(armor).map_err(Some)?;
        // The library takes older ones too, and the version is not signed.
        let number = sshsig.version();
        if number != SshSig::VERSION {
            return Err(Some(ssh_key::Error::Version { number }));
        }
        Ok(Self { sshsig })
    }

    /// Returns whether it was made for our namespace.
    pub(crate) fn is_ours(&self) -> bool {
        self.sshsig.namespace() == NAMESPACE
    }

    /// Returns the fingerprint of the key that it names.
    pub(crate) fn fingerprint(&self) -> String {
        let key = self.sshsig.public_key();
        key.fingerprint(HashAlg::Sha256).to_string()
    }

    /// Returns the key that it names, if that can be an approver's.
    pub(crate) fn key(&self) -> Option<ApproverKey> {
        ApproverKey::of(self.sshsig.public_key().clone()).ok()
    }

    /// Checks whether this key made it over this message, in our namespace, and was touched if it is hardware.
    pub(crate) fn check(&self, key: &ApproverKey, message: &[u8]) -> Result<(), Flaw> {
        // The library takes the algorithm that the key says, whatever the signature says.
        if self.sshsig.algorithm() != key.data().algorithm() {
            return Err(Flaw::Mismatch);
        }
        PublicKey::from(key.data().clone())
            .verify(NAMESPACE, message, &self.sshsig)
            .map_err(|_| Flaw::Mismatch)?;
        // Only now, since the flags are signed too.
        if key.is_hardware() {
            let mut trailer = self.sshsig.signature_bytes().iter().rev();
            let flags = trailer.nth(HARDWARE_TRAILER - 1).copied();
            if flags.is_none_or(|flags| flags & USER_PRESENT == 0) {
                return Err(Flaw::Untouched);
            }
        }
        Ok(())
    }
}

/// Returns what a key is given to sign for a message.
pub(crate) fn to_sign(message: &[u8]) -> Result<Vec<u8>, ssh_key::Error> {
    SshSig::signed_data(NAMESPACE, HASH, message)
}

/// Returns the armor of a signature that an agent gave, with the key as the agent names it. Made of the bytes as they
/// are, because the library writes those of ECDSA in hardware wrong.
pub(crate) fn armor(key: &[u8], signature: &[u8]) -> Result<String, ssh_key::Error> {
    let raw = RawSignature { key, signature };
    Ok(raw.encode_pem_string(LineEnding::LF)?)
}

struct RawSignature<'a> {
    key: &'a [u8],
    signature: &'a [u8],
}

impl RawSignature<'_> {
    const MAGIC: &'static [u8] = b"SSHSIG";
    const VERSION: u32 = 1;
    const RESERVED: &'static [u8] = b"";
}

impl PemLabel for RawSignature<'_> {
    const PEM_LABEL: &'static str = "SSH SIGNATURE";
}

impl Encode for RawSignature<'_> {
    fn encoded_len(&self) -> ssh_encoding::Result<usize> {
        [
            Self::MAGIC.len(),
            Self::VERSION.encoded_len()?,
            self.key.encoded_len()?,
            NAMESPACE.encoded_len()?,
            Self::RESERVED.encoded_len()?,
            HASH.as_str().encoded_len()?,
            self.signature.encoded_len()?,
        ]
        .checked_sum()
    }

    fn encode(&self, writer: &mut impl Writer) -> ssh_encoding::Result<()> {
        writer.write(Self::MAGIC)?;
        Self::VERSION.encode(writer)?;
        self.key.encode(writer)?;
        NAMESPACE.encode(writer)?;
        Self::RESERVED.encode(writer)?;
        HASH.as_str().encode(writer)?;
        self.signature.encode(writer)
    }
}
