//! The sources of an agent file: the text of the file itself, and the texts of everything that is part of it.

use std::{
    collections::BTreeMap,
    fs,
    path::{self, Path, PathBuf},
};

use neuron_types::hex;
use sha2::{Digest as _, Sha256};

/// The prefix of the digest, so that it differs from other digests of the same texts.
const DIGESTS: &[u8] = b"neuron agent file 1\0";

/// The sources of an agent file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sources {
    /// The SHA-256 of all texts.
    pub(crate) digest: String,
    /// The files outside the file's folder whose text is given to models, wherever links lead.
    pub(crate) outside: Vec<PathBuf>,
    /// The file and everything that is part of it, with the folders whose contents it includes.
    pub(crate) files: Vec<PathBuf>,
}

impl Sources {
    /// Returns the sources. `texts` are the file's own text and those of the files that it includes, which are at
    /// `included`. Files that are put into `folders` would be included, too. `files` are the texts that stand in
    /// separate files.
    pub(crate) fn of<'t>(
        path: &Path,
        texts: impl Iterator<Item = &'t str>,
        included: impl Iterator<Item = &'t Path>,
        folders: impl Iterator<Item = &'t Path>,
        files: &BTreeMap<PathBuf, String>,
    ) -> Self {
        let mut hash = Sha256::new();
        hash.update(DIGESTS);
        for text in texts {
            hash.update(Sha256::digest(text));
        }
        // The names of the files stand in the texts. The paths from which they are read depend on the process.
        let mut digests: Vec<_> = files.values().map(Sha256::digest).collect();
        digests.sort();
        for digest in digests {
            hash.update(digest);
        }
        let digest = format!("sha256:{}", hex(&hash.finalize()));
        let folder = real(match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        });
        let mut all = vec![absolute(path)];
        all.extend(included.map(absolute));
        // Folders that contain the file do not count: agents work there.
        let beside = folders.filter(|it| !folder.starts_with(real(it)));
        all.extend(beside.map(absolute));
        all.extend(files.keys().map(|file| absolute(file)));
        let files = files.keys().map(|file| real(file));
        Self {
            digest,
            files: all,
            outside: files.filter(|file| !file.starts_with(&folder)).collect(),
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
