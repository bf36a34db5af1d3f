//! What one command may reach, as paths of this machine.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    error::SandboxError,
    git,
    links::Way,
    places::Places,
    protect::{Protected, locate, make_journal},
    sandbox::SandboxRules,
};

/// All paths are real ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    /// In what may be written.
    pub(crate) read_only: BTreeSet<PathBuf>,
    /// In what may be read or written.
    pub(crate) hidden: BTreeSet<PathBuf>,
    /// Symbolic links to what may be read, and their targets.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// The temporary directory.
    pub(crate) temp: PathBuf,
    pub(crate) network: bool,
    pub(crate) memory: Option<u64>,
    pub(crate) processes: Option<u64>,
}

/// What a plan is made for.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    /// The working directory, a real path.
    pub(crate) cwd: &'a Path,
    pub(crate) temp: &'a Path,
    /// Further directories that may be written.
    pub(crate) own: &'a [PathBuf],
    pub(crate) protected: &'a Protected,
    /// Whether new entries can be made beside what is protected. Then `.neuron` is made here.
    pub(crate) open: bool,
}

impl Plan {
    /// # Errors
    ///
    /// The working directory is `/`, a protected path is a symbolic link, or one that commands may replace is on the way
    /// to what the rules name.
    pub(crate) fn new(
        rules: &SandboxRules,
        place: &Place<'_>,
        places: &Places,
    ) -> Result<Self, SandboxError> {
        let Place {
            cwd,
            temp,
            own,
            protected,
            open,
        } = *place;
        if cwd == Path::new("/") {
            return Err(SandboxError::RootDirectory);
        }
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
        let mut plan = Self {
            read: known,
            write,
            hidden: places.hidden.iter().cloned().collect(),
            links: places.links.clone(),
            temp: temp.to_owned(),
            network: rules.network,
            memory: rules.memory,
            processes: rules.processes,
            ..Self::default()
        };
        plan.read.extend(asked.into_iter().map(|way| way.real));
        plan.read.push(cwd.to_owned());
        if plan.write.iter().any(|root| root == Path::new("/")) {
            return Err(SandboxError::RootDirectory);
        }
        if rules.network {
            // Often a link to what a service of the system writes.
            plan.read
                .extend(Path::new("/etc/resolv.conf").canonicalize());
        }
        if let Some(git) = git::elsewhere(cwd) {
            match plan.write.iter().any(|root| root == cwd) {
                true => plan.write.push(git),
                false => plan.read.push(git),
            }
        }
        let writes = plan.write.iter().any(|root| cwd.starts_with(root));
        if open && writes && home != Some(cwd) {
            make_journal(cwd);
        }
        plan.protect(cwd, protected)?;
        if let Some(home) = home {
            plan.hide_home(home);
            plan.keep_home(home, places);
        }
        Ok(plan)
    }

    fn protect(&mut self, cwd: &Path, protected: &Protected) -> Result<(), SandboxError> {
        for root in &self.write {
            for path in Protected::git_in(root)
                .into_iter()
                .chain(git::own_parts(root))
                .chain(protected.read_only_in(cwd))
            {
                self.read_only.extend(locate(root, &path)?);
            }
        }
        for root in self.write.iter().chain(&self.read) {
            for path in protected.hidden_in(cwd) {
                self.hidden.extend(locate(root, &path)?);
            }
        }
        Ok(())
    }

    /// Where a directory that may be used holds the home directory, or is it, hidden entries of the home
    /// directory stay hidden: keys and settings have names like that.
    fn hide_home(&mut self, home: &Path) {
        let holds = |root: &&PathBuf| home.starts_with(root);
        let roots: Vec<_> = self.write.iter().chain(&self.read).filter(holds).collect();
        let all = roots.iter().any(|root| *root != home);
        if roots.is_empty() || is_system(home) {
            return;
        }
        let entries = fs::read_dir(home).into_iter().flatten().flatten();
        for entry in entries {
            let dotted = entry.file_name().as_encoded_bytes().starts_with(b".");
            let link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let path = entry.path();
            let used = |root: &PathBuf| *root == path;
            let granted = self.read.iter().chain(&self.write).any(used);
            let git = path.ends_with(".git");
            if (dotted || all) && !link && !granted && !git {
                self.hidden.insert(path);
            }
        }
    }

    /// Where a directory that may be written holds the home directory, or is it, the home directory gets no new entries:
    /// shells and other programs start what has certain names there. Nor do the directories in it on PATH change.
    fn keep_home(&mut self, home: &Path, places: &Places) {
        if is_system(home) || !self.write.iter().any(|root| home.starts_with(root)) {
            return;
        }
        let all = self
            .write
            .iter()
            .any(|root| root != home && home.starts_with(root));
        self.write.retain(|root| root != home);
        self.read.push(home.to_owned());
        let asked = self.write.clone();
        if all {
            self.read_only.insert(home.to_owned());
        }
        let entries = fs::read_dir(home).into_iter().flatten().flatten();
        for entry in entries {
            let path = entry.path();
            let dotted = entry.file_name().as_encoded_bytes().starts_with(b".");
            let link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let kept = self.read_only.contains(&path) || self.hidden.contains(&path);
            if !dotted && !link && !kept && !self.write.contains(&path) {
                self.write.push(path);
            }
        }
        let programs = places.read.iter().cloned().chain([home.join("bin")]);
        let programs = programs.filter(|path| path.starts_with(home) && path.exists());
        // What the rules name by itself is as they say.
        let programs: Vec<_> = programs.filter(|path| !asked.contains(path)).collect();
        self.read_only.extend(programs);
    }
}

/// Services that have no home directory are given one of the system's.
fn is_system(home: &Path) -> bool {
    home == Path::new("/")
}

fn absolute(path: &Path, cwd: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => cwd.join(path),
    }
}
