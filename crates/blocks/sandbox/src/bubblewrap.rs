//! Confinement with the program `bwrap`.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::{environment::Environment, limits::Told, plan::Plan};

/// What is where.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mount {
    Read,
    Write,
    /// Writable, and mounted so that it cannot be moved away with what is protected in it.
    Pin,
    /// Another directory of this machine.
    From(PathBuf),
    EmptyDirectory,
    EmptyFile,
    Link(PathBuf),
}

/// Returns the options of `bwrap` for this plan, and for a command with this environment, which it sets once it has
/// begun. They hold values that others must not see, and are handed down by a descriptor.
pub(crate) fn options(plan: &Plan, cwd: &Path, environment: &Environment) -> Vec<OsString> {
    let mut arguments = Arguments::default();
    let namespaces = ["--unshare-pid", "--unshare-ipc", "--die-with-parent"];
    namespaces
        .into_iter()
        .for_each(|word| arguments.add([word]));
    // Root would keep them, and could take the mounts away.
    arguments.add(["--cap-drop", "ALL"]);
    for (path, mount) in mounts(plan) {
        match mount {
            Mount::Read => arguments.paths("--ro-bind", &path, &path),
            Mount::Write | Mount::Pin => arguments.paths("--bind", &path, &path),
            Mount::From(source) => arguments.paths("--bind", &source, &path),
            Mount::EmptyDirectory => arguments.path("--tmpfs", &path),
            Mount::EmptyFile => arguments.paths("--ro-bind", Path::new("/dev/null"), &path),
            Mount::Link(target) => arguments.paths("--symlink", &target, &path),
        }
    }
    // Each mount takes time: a few devices, and no file system for them.
    for device in ["/dev/null", "/dev/zero", "/dev/urandom"] {
        arguments.add(["--dev-bind", device, device]);
    }
    for (target, link) in [
        ("urandom", "/dev/random"),
        ("/proc/self/fd", "/dev/fd"),
        ("/proc/self/fd/0", "/dev/stdin"),
        ("/proc/self/fd/1", "/dev/stdout"),
        ("/proc/self/fd/2", "/dev/stderr"),
    ] {
        arguments.add(["--symlink", target, link]);
    }
    arguments.add(["--perms", "1777", "--dir", "/dev/shm"]);
    arguments.add(["--proc", "/proc"]);
    arguments.path("--chdir", cwd);
    for (name, value) in environment.iter() {
        arguments
            .0
            .extend(["--setenv".into(), name.into(), value.into()]);
    }
    arguments.0
}

/// Returns the arguments of `bwrap` up to the command, where its options are those of a descriptor. Where limits are
/// set, it reports by one descriptor which process is in the sandbox, and waits for the other before it starts anything
/// there.
pub(crate) fn arguments(options: i32, limits: Option<Told>) -> Vec<OsString> {
    let mut arguments = Arguments::default();
    arguments.add(["--args", &options.to_string()]);
    if let Some(Told { says, waits }) = limits {
        arguments.add(["--info-fd", &says.to_string()]);
        arguments.add(["--block-fd", &waits.to_string()]);
    }
    arguments.add(["--"]);
    arguments.0
}

/// Returns what is mounted, each after what it is in.
fn mounts(plan: &Plan) -> BTreeMap<PathBuf, Mount> {
    let mut mounts = BTreeMap::new();
    for path in &plan.read {
        mounts.insert(path.clone(), Mount::Read);
    }
    mounts.insert(PathBuf::from("/tmp"), Mount::From(plan.temp.clone()));
    for path in &plan.write {
        mounts.insert(path.clone(), Mount::Write);
    }
    for path in &plan.read_only {
        pin(&mut mounts, plan, path);
        mounts.insert(path.clone(), Mount::Read);
    }
    for path in &plan.hidden {
        pin(&mut mounts, plan, path);
        let empty = match path.is_dir() {
            true => Mount::EmptyDirectory,
            false => Mount::EmptyFile,
        };
        mounts.insert(path.clone(), empty);
    }
    let protected = |path: &PathBuf| plan.read_only.contains(path);
    let all = mounts.clone();
    mounts.retain(|path, mount| {
        let around = path.ancestors().skip(1).find_map(|parent| all.get(parent));
        match (around, &*mount) {
            // It is in one that is mounted the same way.
            (Some(Mount::Read), Mount::Read) => protected(path),
            (Some(Mount::Write | Mount::Pin), Mount::Write) => false,
            // What is read anyway is not hidden by its place in a hidden directory, and what is hidden stays so.
            (
                Some(Mount::EmptyDirectory | Mount::EmptyFile),
                Mount::EmptyDirectory | Mount::EmptyFile,
            ) => false,
            _ => true,
        }
    });
    for (path, target) in &plan.links {
        let inside = path.ancestors().any(|parent| mounts.contains_key(parent));
        if !inside {
            mounts.insert(path.clone(), Mount::Link(target.clone()));
        }
    }
    mounts
}

/// Mounts the directories between a protected path and the one that may be written, so that none of them is replaced.
fn pin(mounts: &mut BTreeMap<PathBuf, Mount>, plan: &Plan, path: &Path) {
    let parents = path.ancestors().skip(1);
    for parent in parents {
        match mounts.get(parent) {
            Some(Mount::Write) => return,
            Some(Mount::Pin) => {}
            Some(_) => return,
            None if plan.write.iter().any(|root| parent.starts_with(root)) => {
                mounts.insert(parent.to_owned(), Mount::Pin);
            }
            None => return,
        }
    }
}

#[derive(Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    fn add<const N: usize>(&mut self, words: [&str; N]) {
        self.0.extend(words.map(OsString::from));
    }

    fn path(&mut self, word: &str, path: &Path) {
        self.0.extend([word.into(), path.into()]);
    }

    fn paths(&mut self, word: &str, from: &Path, to: &Path) {
        self.0.extend([word.into(), from.into(), to.into()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set<const N: usize>(paths: [&str; N]) -> std::collections::BTreeSet<PathBuf> {
        paths.map(PathBuf::from).into()
    }

    #[test]
    fn mounts_as_little_as_possible_and_pins_the_way_to_what_is_protected() {
        let plan = Plan {
            read: ["/usr", "/usr/local/bin", "/workspace", "/home/u/.cargo"]
                .map(PathBuf::from)
                .into(),
            write: vec!["/workspace".into(), "/workspace/target".into()],
            read_only: set(["/workspace/.git/config", "/workspace/a/b/neuron.toml"]),
            hidden: set(["/home/u/.cargo/credentials", "/workspace/.neuron"]),
            links: vec![
                ("/bin".into(), "/usr/bin".into()),
                ("/usr/x".into(), "/usr/bin".into()),
            ],
            temp: "/var/tmp/own".into(),
            ..Plan::default()
        };
        let mounts: Vec<_> = mounts(&plan)
            .into_iter()
            .map(|(path, mount)| (path.to_str().unwrap().to_owned(), mount))
            .collect();
        let expected = [
            ("/bin", Mount::Link("/usr/bin".into())),
            ("/home/u/.cargo", Mount::Read),
            ("/home/u/.cargo/credentials", Mount::EmptyFile),
            ("/tmp", Mount::From("/var/tmp/own".into())),
            ("/usr", Mount::Read),
            ("/workspace", Mount::Write),
            ("/workspace/.git", Mount::Pin),
            ("/workspace/.git/config", Mount::Read),
            ("/workspace/.neuron", Mount::EmptyFile),
            ("/workspace/a", Mount::Pin),
            ("/workspace/a/b", Mount::Pin),
            ("/workspace/a/b/neuron.toml", Mount::Read),
        ];
        assert_eq!(
            mounts,
            expected.map(|(path, mount)| (path.to_owned(), mount))
        );
    }
}
