//! Files that contain a text.

use std::{fs, io::ErrorKind, path::Path};

/// Returns every file under a folder whose bytes contain the text.
///
/// # Panics
///
/// If a file in the folder cannot be read. Files that are removed meanwhile are ignored.
#[must_use]
pub fn holders(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holders(&path, text));
            continue;
        }
        // A server's sockets are not files.
        if !path.is_file() {
            continue;
        }
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            bytes => bytes.unwrap(),
        };
        if String::from_utf8_lossy(&bytes).contains(text) {
            found.push(path.display().to_string());
        }
    }
    found
}
