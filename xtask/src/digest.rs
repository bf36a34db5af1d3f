//! SHA-256 digests of fetched packages.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of a file, in lowercase hexadecimal digits.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub(crate) fn of_file(path: &Path) -> io::Result<String> {
    // The file is read in pieces, because a package is up to a hundred megabytes.
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = file.read(&mut buffer)?;
        match buffer.get(..count) {
            Some([]) | None => break,
            Some(piece) => hasher.update(piece),
        }
    }
    Ok(hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// Returns whether a text is a SHA-256 as this program writes it.
pub(crate) fn is_valid(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn digests_a_known_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("abc");
        fs::write(&path, "abc").expect("a file");

        let digest = of_file(&path).expect("a digest");

        assert_eq!(
            digest,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert!(is_valid(&digest));
    }

    #[test]
    fn digests_a_file_longer_than_one_piece() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("long");
        fs::write(&path, vec![b'a'; 1_000_000]).expect("a file");

        assert_eq!(
            of_file(&path).expect("a digest"),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        );
    }

    #[test]
    fn refuses_what_is_not_a_digest() {
        assert!(!is_valid("abc"));
        assert!(!is_valid(&"A".repeat(64)));
        assert!(!is_valid(&"g".repeat(64)));
    }
}
