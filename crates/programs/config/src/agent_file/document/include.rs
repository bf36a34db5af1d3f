//! `include`: the files that an agent file consists of beside itself.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

use glob::{MatchOptions, Pattern};

use crate::agent_file::{
    document::{INCLUDE, Part},
    text::{problem::Problems, table::Table},
};

/// A file that another includes.
pub(crate) struct Included {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// The folder in which the pattern fits further files, too.
    pub(crate) folder: Option<PathBuf>,
}

/// As in a shell: what is hidden is named in full.
const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// Reads the files that `include` names, each once, in the order of the patterns and of their names.
pub(crate) fn read(file: &Part<'_>, path: &Path, problems: &Problems<'_>) -> Vec<Included> {
    let table = Table::file(&file.tables, problems, file.offset);
    let own = identity(path);
    let mut known = BTreeSet::new();
    let mut included = Vec::new();
    for pattern in table.texts(INCLUDE) {
        let refuse = |message: &str| table.problem(INCLUDE, pattern.offset, message);
        let mut found = match find(path, pattern.value) {
            Ok(found) => found,
            Err(message) => {
                refuse(&message);
                continue;
            }
        };
        let folder = folder(path, pattern.value);
        // `*.toml` means the other files.
        found.retain(|it| identity(it) != own);
        if found.is_empty() {
            refuse(&format!("has {:?}, which fits no file", pattern.value));
        }
        for path in found {
            if !known.insert(identity(&path)) {
                continue;
            }
            match fs::read_to_string(&path) {
                Ok(text) => included.push(Included {
                    path,
                    text,
                    folder: folder.clone(),
                }),
                Err(error) => refuse(&unreadable(&path, &error)),
            }
        }
    }
    included
}

/// The files that a pattern fits, starting from the folder of the file at `path`.
fn find(path: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    let folder = folder
        .to_str()
        .ok_or("starts from a folder whose name is no text: move the file")?;
    let whole = Path::new(&Pattern::escape(folder)).join(pattern);
    let paths = glob::glob_with(&whole.to_string_lossy(), OPTIONS)
        .map_err(|error| format!("has {pattern:?}, which is no pattern: {}", error.msg))?;
    let mut found = Vec::new();
    for path in paths {
        let path = path.map_err(|error| unreadable(error.path(), error.error()))?;
        if !path.is_dir() {
            found.push(path);
        }
    }
    Ok(found)
}

/// What of a pattern stands before its first wildcard, as a folder; `None` without a wildcard.
fn folder(path: &Path, pattern: &str) -> Option<PathBuf> {
    let is_wild = |part: &Component<'_>| {
        let part = part.as_os_str().as_encoded_bytes();
        part.iter().any(|byte| b"*?[".contains(byte))
    };
    let parts = Path::new(pattern).components();
    let fixed: PathBuf = parts.clone().take_while(|part| !is_wild(part)).collect();
    let is_pattern = fixed.components().count() < parts.count();
    is_pattern.then(|| path.with_file_name("").join(fixed))
}

/// What a file is, whatever it is called.
fn identity(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("names {}, which cannot be read: {error}", path.display())
}
