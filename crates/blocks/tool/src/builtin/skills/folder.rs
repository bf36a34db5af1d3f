//! All files of a skill's folder, as they are at one time.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    io::Read as _,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use neuron_types::hex;
use rustix::fs::Dir;
use sha2::{Digest as _, Sha256};

use crate::builtin::{
    files::open::{self, Found},
    skills::error::SkillError,
};

/// What the digest begins with, so that it is no other digest of the same files.
const DIGESTS: &[u8] = b"neuron skill 1\0";

/// The most files and folders in a skill's folder.
const MAX_ENTRIES: usize = 1_000;

/// The most bytes in all its files.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// How many folders there may be in one another.
const MAX_DEPTH: usize = 16;

/// The files of a folder by their paths in it, with `/` between names. A file that is not here cannot be named.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Folder {
    files: BTreeMap<String, Vec<u8>>,
}

/// What is still allowed.
struct Room {
    entries: usize,
    bytes: u64,
}

impl Folder {
    /// Reads everything below this real path. Follows no link and waits for no pipe.
    pub(crate) fn read(real: &Path) -> Result<Self, SkillError> {
        let mut folder = Self::default();
        let mut room = Room {
            entries: MAX_ENTRIES,
            bytes: MAX_BYTES,
        };
        let mut open = vec![(real.to_owned(), String::new(), 0)];
        while let Some((path, prefix, depth)) = open.pop() {
            let listed = open::listing(&path).map_err(SkillError::reading(&path))?;
            let reading = |error: rustix::io::Errno| SkillError::reading(&path)(error.into());
            for entry in Dir::read_from(&listed).map_err(reading)? {
                let entry = entry.map_err(reading)?;
                let bytes = entry.file_name().to_bytes();
                if matches!(bytes, b"." | b"..") {
                    continue;
                }
                room.take_entry(real)?;
                let own = path.join(OsStr::from_bytes(bytes));
                let Ok(name) = std::str::from_utf8(bytes) else {
                    return Err(SkillError::FileName { path: own });
                };
                let found = open::look_in(&listed, Path::new(name));
                let found = found.map_err(SkillError::reading(&own))?;
                let name = format!("{prefix}{name}");
                if found.is_dir() && depth == MAX_DEPTH {
                    return Err(too_large(real, format!("{MAX_DEPTH} levels of folders")));
                } else if found.is_dir() {
                    open.push((own, format!("{name}/"), depth + 1));
                } else if found.is_file() {
                    let content = room.read(&own, real)?;
                    folder.files.insert(name, content);
                } else {
                    let what = described(found);
                    return Err(SkillError::NoFile { path: own, what });
                }
            }
        }
        Ok(folder)
    }

    /// Returns the content of the file at this path, which may begin with `./`.
    pub(crate) fn get(&self, path: &str) -> Option<&[u8]> {
        let path = path.strip_prefix("./").unwrap_or(path);
        self.files.get(path).map(Vec::as_slice)
    }

    /// Returns the paths of the files, sorted.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns what distinguishes these names and contents from any others.
    pub(crate) fn digest(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(DIGESTS);
        for (path, content) in &self.files {
            // Their hashes are of one length: no name can pass for a part of a content.
            hash.update(Sha256::digest(path));
            hash.update(Sha256::digest(content));
        }
        format!("sha256:{}", hex(&hash.finalize()))
    }
}

impl Room {
    fn take_entry(&mut self, folder: &Path) -> Result<(), SkillError> {
        match self.entries.checked_sub(1) {
            Some(left) => self.entries = left,
            None => return Err(too_large(folder, format!("{MAX_ENTRIES} files"))),
        }
        Ok(())
    }

    /// Returns the content of a file, if there is room for it.
    fn read(&mut self, path: &Path, folder: &Path) -> Result<Vec<u8>, SkillError> {
        let file = open::file(path).map_err(SkillError::reading(path))?;
        let mut content = Vec::new();
        // It may grow while it is read.
        let mut part = file.take(self.bytes.saturating_add(1));
        let read = part.read_to_end(&mut content);
        read.map_err(SkillError::reading(path))?;
        let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
        match self.bytes.checked_sub(size) {
            Some(left) => self.bytes = left,
            None => return Err(too_large(folder, format!("{MAX_BYTES} bytes"))),
        }
        Ok(content)
    }
}

fn too_large(folder: &Path, most: String) -> SkillError {
    let path = PathBuf::from(folder);
    SkillError::TooLarge { path, most }
}

fn described(found: Found) -> &'static str {
    match found.is_symlink() {
        true => "a link",
        false => "neither a file nor a folder",
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::btree_map, prelude::*};

    use super::*;

    fn files() -> impl Strategy<Value = Folder> {
        let name = proptest::string::string_regex("[a-c/]{1,3}").unwrap();
        let content = proptest::collection::vec(any::<u8>(), 0..3);
        btree_map(name, content, 0..4).prop_map(|files| Folder { files })
    }

    proptest! {
        #[test]
        fn a_digest_tells_names_and_contents_from_others(one in files(), other in files()) {
            prop_assert_eq!(one.digest() == other.digest(), one == other);
        }

        #[test]
        fn a_digest_does_not_stay_when_a_byte_moves_to_the_name(name in "[a-z]{1,4}", content in "[a-z]{1,4}") {
            let of = |name: &str, content: &str| {
                let files = BTreeMap::from([(name.to_owned(), content.as_bytes().to_vec())]);
                Folder { files }.digest()
            };
            let (first, rest) = content.split_at(1);
            prop_assert_ne!(of(&name, &content), of(&format!("{name}{first}"), rest));
        }
    }
}
