//! What is protected from all that works in one directory: commands and file tools ask the same.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    git, grants::Grants, links::Way, places::Places, protect::Protected, sandbox::Sandbox,
};

/// What tools that work in one directory leave alone: what commands are kept from by a sandbox, and what file tools look
/// up before they open a path, whether a sandbox confines commands or not.
///
/// Hidden are `.neuron`, what neuron keeps of a person (homes of runs, records of what is trusted), credentials, of the
/// home directory what begins with a dot, and of directories of toolchains what a toolchain does not need.
/// `neuron.toml`, the parts of Git's directories that name programs to run, and at the top of the home directory what
/// is not there are kept from being changed. Both apply to what a [`Protected`] adds, too. What the working directory
/// is in, and what the sandbox's rules name, is not hidden for that.
///
/// It reflects the machine as it is when the value is made: make one for each call.
///
/// # Examples
///
/// ```
/// use neuron_sandbox::{Protected, Protection, Sandbox};
///
/// let protection = Protection::new(&Protected::new(), "/workspace".as_ref(), &Sandbox::Off);
/// assert!(protection.hides("/workspace/.neuron/neuron.db".as_ref()));
/// assert!(protection.keeps("/workspace/neuron.toml".as_ref()));
/// assert!(!protection.hides("/workspace/neuron.toml".as_ref()));
/// ```
#[derive(Debug, Clone)]
pub struct Protection {
    hidden: Vec<PathBuf>,
    read_only: Vec<PathBuf>,
    /// Directories in which only what is granted by itself is shown.
    closed: Vec<PathBuf>,
    home: Option<PathBuf>,
    /// The home directory is only a part of what may be used: then all its entries are closed.
    above_home: bool,
    /// What is granted, and the working directory.
    granted: Vec<PathBuf>,
    /// Those of them that may be written.
    written: Vec<PathBuf>,
    /// Directories in the home directory that programs are started from.
    programs: Vec<PathBuf>,
    records: Option<PathBuf>,
}

impl Protection {
    /// Takes what is protected besides what always is, the working directory, and the sandbox whose rules say what else may
    /// be used. A sandbox that is off protects what [`Sandbox::Workspace`] does.
    #[must_use]
    pub fn new(protected: &Protected, cwd: &Path, sandbox: &Sandbox) -> Self {
        let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let places = Places::get();
        let rules = sandbox.rules().unwrap_or_default();
        let grants = Grants::new(&rules, &cwd, &[], places)
            .unwrap_or_else(|_| Grants::of_directory(&cwd, places));
        Self::of(protected, &cwd, &grants, places)
    }

    /// Makes the protection that a sandbox with these grants has. The working directory is a real path.
    pub(crate) fn of(protected: &Protected, cwd: &Path, grants: &Grants, places: &Places) -> Self {
        let home = places.home.as_deref().filter(|home| !is_system(home));
        let holds =
            |root: &&PathBuf| home.is_some_and(|home| home != *root && home.starts_with(root));
        let records = records(places, cwd, &grants.write);
        let mut hidden: Vec<_> = protected.hidden_in(cwd).chain(records.clone()).collect();
        let mut read_only: Vec<_> = protected.read_only_in(cwd).collect();
        for paths in [&mut hidden, &mut read_only] {
            let real: Vec<_> = paths.iter().filter_map(|path| real(path)).collect();
            paths.extend(real);
        }
        hidden.extend(places.hidden.iter().cloned());
        let mut closed = places.closed.clone();
        let linked = home.into_iter().flat_map(linked);
        closed.extend(linked.filter(|target| {
            // Where a tool is to work on what they lead to, it is its own.
            let within =
                |root: &&PathBuf| home.is_some_and(|home| home != *root && root.starts_with(home));
            !grants
                .all()
                .filter(within)
                .any(|root| target.starts_with(root))
        }));
        let programs = home.into_iter().flat_map(|home| {
            let known = places.read.iter().cloned().chain([home.join("bin")]);
            known.filter(move |path| path.starts_with(home))
        });
        Self {
            hidden,
            read_only,
            closed,
            home: home.map(Path::to_owned),
            above_home: grants.all().any(|root| holds(&root)),
            granted: grants.all().cloned().collect(),
            written: grants
                .write
                .iter()
                .cloned()
                .chain([cwd.to_owned()])
                .collect(),
            programs: programs.collect(),
            records,
        }
    }

    /// Returns whether what is at this real path, or would be, may not be read.
    #[must_use]
    pub fn hides(&self, path: &Path) -> bool {
        self.hidden.iter().any(|hidden| path.starts_with(hidden))
            || self.closed.iter().any(|closed| self.closes(closed, path))
            || self
                .closed_entry(path)
                .is_some_and(|entry| self.closes(&entry, path))
    }

    /// Returns whether what is at this real path, or would be, may not be changed: nothing that is
    /// [hidden](Self::hides) may.
    #[must_use]
    pub fn keeps(&self, path: &Path) -> bool {
        self.hides(path)
            || git::is_part(path)
            || self.read_only.iter().any(|kept| path.starts_with(kept))
            || self.keeps_home(path)
    }

    /// Returns what is closed in these directories, as it is there now. What is granted in it is granted by itself.
    pub(crate) fn closed_in(&self, roots: &[&Path]) -> Vec<PathBuf> {
        let used = |path: &Path| roots.iter().any(|root| path.starts_with(root));
        let closed = self.closed.iter().filter(|path| used(path)).cloned();
        // A link leads elsewhere, and what it leads to is hidden by itself.
        let entries = self
            .home
            .iter()
            .filter(|home| used(home))
            .flat_map(|home| entries(home));
        closed
            .chain(entries)
            .filter(|path| self.hides(path))
            .collect()
    }

    /// Returns the home directory, if it is a person's own.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Returns the entries at the top of the home directory that may be written.
    pub(crate) fn free_entries(&self) -> Vec<PathBuf> {
        let entries = self.home.iter().flat_map(|home| entries(home));
        entries.filter(|path| !self.keeps(path)).collect()
    }

    /// Returns where it is recorded what a person trusts, if nothing else keeps commands from making that: the home
    /// directory does.
    pub(crate) fn records(&self) -> Option<&Path> {
        self.records
            .as_deref()
            .filter(|path| !self.keeps_home(path))
    }

    /// Directories in the home directory that programs are started from, whether they exist or not.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &PathBuf> {
        self.programs.iter()
    }

    /// Returns whether a directory that is closed closes this path.
    fn closes(&self, closed: &Path, path: &Path) -> bool {
        let opens = |root: &PathBuf| root.starts_with(closed) && path.starts_with(root);
        path.starts_with(closed) && !self.granted.iter().any(opens)
    }

    /// Returns the entry of the home directory that the path is in, if it is closed: keys and settings have names that
    /// begin with a dot. Git's directory is protected by its parts.
    fn closed_entry(&self, path: &Path) -> Option<PathBuf> {
        let home = self.home.as_deref()?;
        let name = path
            .strip_prefix(home)
            .ok()?
            .components()
            .next()?
            .as_os_str();
        let closed = (self.above_home || is_dotted(name.as_encoded_bytes())) && name != ".git";
        closed.then(|| home.join(name))
    }

    /// Returns whether the protection of the home directory keeps a path from being changed. The home directory gets no
    /// new entries: shells and other programs start what has certain names there. Nor do the directories in it change
    /// that programs are started from. What may be written by itself is as the rules say.
    fn keeps_home(&self, path: &Path) -> bool {
        let Some(home) = self.home.as_deref() else {
            return false;
        };
        let Ok(rest) = path.strip_prefix(home) else {
            return false;
        };
        let within = |root: &&PathBuf| *root != home && root.starts_with(home);
        if self
            .written
            .iter()
            .filter(within)
            .any(|root| path.starts_with(root))
        {
            return false;
        }
        let Some(name) = rest.components().next() else {
            return true;
        };
        is_dotted(name.as_os_str().as_encoded_bytes())
            || fs::symlink_metadata(home.join(name)).is_err()
            || self.programs.iter().any(|kept| path.starts_with(kept))
    }
}

impl Protected {
    /// Returns whether a tool that works in `cwd` may not write there, in the default sandbox. `path` is a real path.
    /// For many paths make one [`Protection`].
    #[must_use]
    pub fn refuses_write(&self, cwd: &Path, path: &Path) -> bool {
        Protection::new(self, cwd, &Sandbox::Workspace).keeps(path)
    }

    /// Returns whether a tool that works in `cwd` may not read there, in the default sandbox. `path` is a real path.
    /// For many paths make one [`Protection`].
    #[must_use]
    pub fn refuses_read(&self, cwd: &Path, path: &Path) -> bool {
        Protection::new(self, cwd, &Sandbox::Workspace).hides(path)
    }
}

/// Returns where it is recorded what a person trusts, unless a tool is to work in it: the real path, or the one through
/// links where commands that write these directories could put others in their place.
fn records(places: &Places, cwd: &Path, write: &[PathBuf]) -> Option<PathBuf> {
    let named = places.records.as_deref()?;
    let real = named.ancestors().find_map(|there| {
        let way = Way::of(there)?;
        let rest = named.strip_prefix(there).ok()?;
        let real: PathBuf = way.real.join(rest).components().collect();
        let led = way.writable(write).is_some();
        Some((real, led))
    });
    let (real, led) = real?;
    let path = if led { named.to_owned() } else { real };
    (!cwd.starts_with(&path)).then_some(path)
}

/// Returns what is in a directory, but for links.
fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    entries.map(|entry| entry.path())
}

/// Returns where links lead within the home directory whose names begin with a dot: they stand for what would be closed
/// there.
fn linked(home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    let links = entries.filter(|entry| {
        is_dotted(entry.file_name().as_encoded_bytes())
            && entry.file_type().is_ok_and(|kind| kind.is_symlink())
    });
    let targets = links.filter_map(|entry| entry.path().canonicalize().ok());
    let inside = |target: &PathBuf| target != home && target.starts_with(home);
    targets.filter(inside).collect()
}

fn is_dotted(name: &[u8]) -> bool {
    name.starts_with(b".")
}

/// Services that have no home directory are given one of the system's.
fn is_system(home: &Path) -> bool {
    home == Path::new("/")
}

/// Returns the path with the links followed of as much of it as exists.
fn real(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|there| {
        let real = there.canonicalize().ok()?;
        Some(
            real.join(path.strip_prefix(there).ok()?)
                .components()
                .collect(),
        )
    })
}
