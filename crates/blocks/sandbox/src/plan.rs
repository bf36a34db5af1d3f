//! What one command may reach, as paths of this machine.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    error::SandboxError,
    git,
    grants::Grants,
    places::Places,
    protect::{Protected, locate, make_journal, make_records},
    protection::Protection,
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
        let grants = Grants::new(rules, cwd, own, places)?;
        let protection = Protection::of(protected, cwd, &grants, places);
        let mut plan = Self {
            read: grants.read,
            write: grants.write,
            hidden: places.hidden.iter().cloned().collect(),
            links: places.links.clone(),
            temp: temp.to_owned(),
            network: rules.network,
            memory: rules.memory,
            processes: rules.processes,
            ..Self::default()
        };
        if rules.network {
            // Often a link to what a service of the system writes.
            plan.read
                .extend(Path::new("/etc/resolv.conf").canonicalize());
        }
        let home = places.home.as_deref();
        let writes = plan.write.iter().any(|root| cwd.starts_with(root));
        if open && writes && home != Some(cwd) {
            make_journal(cwd);
        }
        plan.protect(cwd, protected, protection.records())?;
        let roots = plan.write.iter().chain(&plan.read);
        let roots: Vec<&Path> = roots.map(PathBuf::as_path).collect();
        let closed = protection.closed_in(&roots);
        plan.hidden.extend(closed);
        plan.keep_home(&protection);
        Ok(plan)
    }

    fn protect(
        &mut self,
        cwd: &Path,
        protected: &Protected,
        records: Option<&Path>,
    ) -> Result<(), SandboxError> {
        for root in &self.write {
            for path in git::tree_parts(root)
                .into_iter()
                .chain(git::own_parts(root))
                .chain(protected.read_only_in(cwd))
            {
                self.read_only.extend(locate(root, &path)?);
            }
            if let Some(records) = records {
                // Never through a link: that is an error.
                locate(root, records)?;
                make_records(root, records);
            }
        }
        for root in self.write.iter().chain(&self.read) {
            for path in protected.hidden_in(cwd).chain(records.map(Path::to_owned)) {
                self.hidden.extend(locate(root, &path)?);
            }
        }
        Ok(())
    }

    /// Restricts what may be written if a directory that may be written is or holds the home directory: then only
    /// entries of it that are not kept can be written, since what is not there could not be kept otherwise.
    fn keep_home(&mut self, protection: &Protection) {
        let Some(home) = protection.home() else {
            return;
        };
        if !self.write.iter().any(|root| home.starts_with(root)) {
            return;
        }
        let holds = |root: &PathBuf| root != home && home.starts_with(root);
        let above = self.write.iter().any(holds);
        self.write.retain(|root| root != home);
        self.read.push(home.to_owned());
        let asked = self.write.clone();
        if above {
            self.read_only.insert(home.to_owned());
        }
        for path in protection.free_entries() {
            if !self.write.contains(&path) {
                self.write.push(path);
            }
        }
        // What the rules name by itself is as they say.
        let programs = protection.programs().filter(|path| !asked.contains(path));
        let programs: Vec<_> = programs.filter(|path| path.exists()).cloned().collect();
        self.read_only.extend(programs);
    }
}
