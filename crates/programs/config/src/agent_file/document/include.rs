//! `include`: the files that an agent file consists of besides itself.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::agent_file::{
    document::{INCLUDE, Part},
    tables::file::FileKeys,
    text::{
        keys::Keys,
        patterns::{self, unreadable},
        problem::Problems,
        table::Table,
    },
};

/// A file that another includes.
pub(crate) struct Included {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// The folder in which the pattern would match further files, too.
    pub(crate) folder: Option<PathBuf>,
}

/// Reads the files that `include` names, each once, in the order of the patterns and of their names.
pub(crate) fn read(file: &Part<'_>, path: &Path, problems: &Problems<'_>) -> Vec<Included> {
    let table = Table::file(&file.tables, problems, file.offset);
    let own = identity(path);
    let here = path.parent().unwrap_or_else(|| Path::new(""));
    let mut known = BTreeSet::new();
    let mut included = Vec::new();
    for pattern in FileKeys::of(&table).include() {
        let refuse = |message: &str| table.problem(INCLUDE, pattern.offset, message);
        let mut found = match patterns::find(here, pattern.value) {
            Ok(found) => found,
            Err(message) => {
                refuse(&message);
                continue;
            }
        };
        let folder = patterns::folder(here, pattern.value);
        // `*.toml` means the other files, not this one.
        found.retain(|it| !it.is_dir() && identity(it) != own);
        if found.is_empty() {
            refuse(&format!("has {:?}, which matches no file", pattern.value));
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

/// Returns the identity of a file, whatever path names it.
fn identity(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
