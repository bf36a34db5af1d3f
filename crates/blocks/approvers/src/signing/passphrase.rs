//! Passphrases of key files.

use std::fmt;

use zeroize::Zeroizing;

/// The passphrase of a key file. Overwritten in memory when dropped, and never shown.
pub struct Passphrase(Zeroizing<String>);

impl Passphrase {
    /// Takes the text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(…)")
    }
}
