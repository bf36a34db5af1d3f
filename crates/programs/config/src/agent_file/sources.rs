//! What an agent file consists of: the text of the file itself, and those of all that is part of it.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

/// What the digest begins with, so that it is no other digest of the same texts.
const DIGESTS: &[u8] = b"neuron agent file 1\0";

/// What an agent file consists of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sources {
    /// The SHA-256 of all texts.
    pub(crate) digest: String,
    /// The files outside the file's folder whose text is given to models, wherever links lead.
    pub(crate) outside: Vec<PathBuf>,
}

impl Sources {
    /// `texts` are the file's own and those of the files that it includes, `files` what stands in files of its own.
    pub(crate) fn of<'t>(
        path: &Path,
        texts: impl Iterator<Item = &'t str>,
        files: &BTreeMap<PathBuf, String>,
    ) -> Self {
        let mut hash = Sha256::new();
        hash.update(DIGESTS);
        for text in texts {
            hash.update(Sha256::digest(text));
        }
        // What they are called stands in the texts. From where they are read depends on who reads.
        let mut digests: Vec<_> = files.values().map(Sha256::digest).collect();
        digests.sort();
        for digest in digests {
            hash.update(digest);
        }
        let mut digest = "sha256:".to_owned();
        for byte in hash.finalize() {
            // Writing to a String cannot fail.
            write!(digest, "{byte:02x}").ok();
        }
        let folder = real(match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        });
        let files = files.keys().map(|file| real(file));
        Self {
            digest,
            outside: files.filter(|file| !file.starts_with(&folder)).collect(),
        }
    }
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
