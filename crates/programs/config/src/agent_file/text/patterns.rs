//! Patterns of paths.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use glob::{MatchOptions, Pattern};

/// The options of a shell: hidden files are only matched by their full names.
const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// Returns the files and folders that a pattern matches, starting from this folder.
pub(crate) fn find(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let folder = folder
        .to_str()
        .ok_or("starts from a folder whose name is not valid text: move the file")?;
    let whole = Path::new(&Pattern::escape(folder)).join(pattern);
    let paths = glob::glob_with(&whole.to_string_lossy(), OPTIONS)
        .map_err(|error| format!("has {pattern:?}, which is not a pattern: {}", error.msg))?;
    let paths = paths.map(|path| path.map_err(|error| unreadable(error.path(), error.error())));
    paths.collect()
}

/// Returns the part of a pattern before its first wildcard, as a folder; `None` without a wildcard.
pub(crate) fn folder(folder: &Path, pattern: &str) -> Option<PathBuf> {
    let is_wild = |part: &Component<'_>| {
        let part = part.as_os_str().as_encoded_bytes();
        part.iter().any(|byte| b"*?[".contains(byte))
    };
    let parts = Path::new(pattern).components();
    let fixed: PathBuf = parts.clone().take_while(|part| !is_wild(part)).collect();
    let is_pattern = fixed.components().count() < parts.count();
    is_pattern.then(|| folder.join(fixed))
}

pub(crate) fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("names {}, which cannot be read: {error}", path.display())
}
