//! What the rules of a sandbox grant in a working directory.

use std::path::{Path, PathBuf};

use crate::{error::SandboxError, git, links::Way, places::Places, sandbox::SandboxRules};

/// Files and directories, with what is in them. All paths are real ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Grants {
    /// The working directory is one.
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
}

impl Grants {
    /// Takes rules, the working directory as a real path, and further directories that may be written.
    ///
    /// # Errors
    ///
    /// The working directory or what is written is `/`, or a link that commands may replace is on the way to what the rules
    /// name.
    pub(crate) fn new(
        rules: &SandboxRules,
        cwd: &Path,
        own: &[PathBuf],
        places: &Places,
    ) -> Result<Self, SandboxError> {
        let home = places.home.as_deref();
        let way = |path: &PathBuf| Way::of(&absolute(path, cwd, home));
        let here = [PathBuf::from(".")];
        let write = rules.write.as_deref().unwrap_or(&here);
        let written: Vec<Way> = write.iter().chain(own).filter_map(way).collect();
        let asked: Vec<Way> = rules.read.iter().filter_map(way).collect();
        let write: Vec<_> = written.iter().map(|way| way.real.clone()).collect();
        let known = places.unless_led_by(&write);
        // What is read anyway may be named through any link: nothing is granted for it.
        let anyway = |way: &Way| {
            let mut roots = known.iter().chain(&write).map(PathBuf::as_path);
            way.real.starts_with(cwd) || roots.any(|root| way.real.starts_with(root))
        };
        let asked = asked
            .into_iter()
            .filter(|way| way.writable(&write).is_none() || !anyway(way));
        let asked: Vec<_> = asked.collect();
        for way in written.iter().chain(&asked) {
            if let Some(link) = way.writable(&write) {
                return Err(SandboxError::WritableLink { link: link.clone() });
            }
        }
        let is_root = |path: &Path| path == Path::new("/");
        if is_root(cwd) || write.iter().any(|root| is_root(root)) {
            return Err(SandboxError::RootDirectory);
        }
        let mut grants = Self { read: known, write };
        grants.read.extend(asked.into_iter().map(|way| way.real));
        grants.read.push(cwd.to_owned());
        if let Some(git) = git::elsewhere(cwd) {
            match grants.write.iter().any(|root| root == cwd) {
                true => grants.write.push(git),
                false => grants.read.push(git),
            }
        }
        Ok(grants)
    }

    /// Returns the grants of a working directory where no rules can be followed.
    pub(crate) fn of_directory(cwd: &Path, places: &Places) -> Self {
        let write = vec![cwd.to_owned()];
        let mut read = places.unless_led_by(&write);
        read.push(cwd.to_owned());
        Self { read, write }
    }

    /// Returns all paths that are granted something.
    pub(crate) fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.write.iter().chain(&self.read)
    }
}

fn absolute(path: &Path, cwd: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => cwd.join(path),
    }
}
