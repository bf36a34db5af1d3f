//! Confinement of a thread with Landlock.

use std::{
    fs,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};

use crate::plan::Plan;

/// The first that keeps commands from sending signals to other processes.
const NEEDED: ABI = ABI::V6;

/// What every command reads of the kernel's files. Those of processes are not among them, its own neither: which that
/// is, is not known before it runs.
const KERNEL: &[&str] = &[
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/uptime",
    "/proc/loadavg",
    "/proc/version",
    "/proc/filesystems",
    "/proc/sys",
    "/sys/devices/system/cpu",
];
/// Devices that hold nothing.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// Checks whether this kernel can do what is needed, or why not.
pub(crate) fn supported() -> Result<(), String> {
    ruleset().map(drop).map_err(|error| {
        format!("the kernel lacks what Linux 6.12 has, or Landlock is not switched on: {error}")
    })
}

fn ruleset() -> Result<RulesetCreated, landlock::RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))?
        .scope(Scope::from_all(NEEDED))?
        .create()
}

/// What a path is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grant {
    /// The names in a directory, and in those under it.
    Names,
    Read,
    Write,
    Device,
}

impl Grant {
    fn access(self, directory: bool) -> BitFlags<AccessFs> {
        let access = match self {
            Self::Names => AccessFs::ReadDir.into(),
            Self::Read => AccessFs::from_read(NEEDED),
            Self::Write => AccessFs::from_all(NEEDED) & !BitFlags::from(AccessFs::IoctlDev),
            Self::Device => AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev,
        };
        match directory {
            true => access,
            false => access & AccessFs::from_file(NEEDED),
        }
    }
}

/// Restricts this thread, what it starts and what that starts, for good.
pub(crate) fn restrict(plan: &Plan) -> Result<(), String> {
    let mut rules = Rules {
        plan,
        ruleset: ruleset().map_err(|error| error.to_string())?,
    };
    for path in KERNEL {
        rules.grant(Path::new(path), Grant::Read)?;
    }
    for path in DEVICES {
        rules.grant(Path::new(path), Grant::Device)?;
    }
    for path in &plan.read {
        rules.grant_tree(path, Grant::Read)?;
    }
    for path in plan.write.iter().chain([&plan.temp]) {
        rules.grant_tree(path, Grant::Write)?;
    }
    let status = rules
        .ruleset
        .restrict_self()
        .map_err(|error| error.to_string())?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        other => Err(format!("the kernel enforces {other:?}")),
    }
}

struct Rules<'a> {
    plan: &'a Plan,
    ruleset: RulesetCreated,
}

impl Rules<'_> {
    /// Grants a tree without what is protected in it: a part of a granted tree cannot be taken out of it, so its
    /// entries are granted one by one where something in it is protected, and it gets no new ones.
    fn grant_tree(&mut self, path: &Path, grant: Grant) -> Result<(), String> {
        let Some(found) = open(path) else {
            return Ok(());
        };
        self.grant_opened(path, found, grant)
    }

    fn grant_opened(&mut self, path: &Path, found: OwnedFd, grant: Grant) -> Result<(), String> {
        if self.plan.hidden.contains(path) {
            return Ok(());
        }
        let grant = match self.plan.read_only.contains(path) {
            true if grant == Grant::Write => Grant::Read,
            _ => grant,
        };
        let below = |protected: &PathBuf| protected != path && protected.starts_with(path);
        let writes = grant == Grant::Write;
        let split =
            self.plan.hidden.iter().any(below) || writes && self.plan.read_only.iter().any(below);
        if !split {
            return self.add(found, grant);
        }
        let names = fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
        for entry in names.flatten() {
            let name = entry.file_name();
            // A link leads elsewhere; what it leads to is granted by itself or not at all.
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let Ok(entry) = openat(&found, &name, flags, Mode::empty()) else {
                continue;
            };
            if kind(&entry) != Some(FileType::Symlink) {
                self.grant_opened(&path.join(name), entry, grant)?;
            }
        }
        self.add(found, Grant::Names)
    }

    fn grant(&mut self, path: &Path, grant: Grant) -> Result<(), String> {
        open(path).map_or(Ok(()), |found| self.add(found, grant))
    }

    fn add(&mut self, found: OwnedFd, grant: Grant) -> Result<(), String> {
        let directory = kind(&found) == Some(FileType::Directory);
        let rule = PathBeneath::new(found, grant.access(directory));
        (&mut self.ruleset)
            .add_rule(rule)
            .map(drop)
            .map_err(|error| error.to_string())
    }
}

/// Returns the file or directory at a real path; `None` if it is gone, or has become a link.
fn open(path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = openat(CWD, path, flags, Mode::empty()).ok()?;
    (kind(&found) != Some(FileType::Symlink)).then_some(found)
}

fn kind(found: &OwnedFd) -> Option<FileType> {
    let found = fstat(found).ok()?;
    Some(FileType::from_raw_mode(found.st_mode))
}
