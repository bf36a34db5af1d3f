use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a folder is no skill.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// The folder, or something in it, cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// What cannot be read.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is no folder, or has no `SKILL.md`.
    #[error("{} has no SKILL.md: a skill is a folder with one", path.display())]
    NoSkillFile {
        /// The folder.
        path: PathBuf,
    },
    /// There is something in the folder that is neither a file nor a folder: a link, a pipe, a device.
    #[error("{} is {what}: a skill has files and folders only", path.display())]
    NoFile {
        /// Where it is.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The name of a file is not UTF-8.
    #[error("{} has a name that is no text: rename it", path.display())]
    FileName {
        /// Where it is.
        path: PathBuf,
    },
    /// There is more in the folder than a skill may have.
    #[error("{} has more than {most}", path.display())]
    TooLarge {
        /// The folder.
        path: PathBuf,
        /// The most that it may have.
        most: String,
    },
    /// What `SKILL.md` begins with does not say what the skill is.
    #[error("{}:{line}: {problem}", path.display())]
    FrontMatter {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong and what to do.
        problem: String,
    },
}

impl SkillError {
    /// For `map_err`: what could not be read.
    pub(crate) fn reading(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Read {
            path: path.to_owned(),
            source,
        }
    }
}
