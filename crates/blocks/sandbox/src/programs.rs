//! Where the programs are that confine others: not where those may have put another.

use std::{
    env, fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use rustix::process::geteuid;

/// Directories of the system, before any on PATH.
const SYSTEM: &[&str] = &[
    "/usr/bin",
    "/bin",
    "/usr/local/bin",
    "/run/current-system/sw/bin",
    "/run/wrappers/bin",
];

/// Returns where `bwrap` is. Found once.
pub(crate) fn bwrap() -> Option<&'static PathBuf> {
    static BWRAP: OnceLock<Option<PathBuf>> = OnceLock::new();
    BWRAP.get_or_init(|| find("bwrap")).as_ref()
}

/// Returns the real path of a program: in a directory of the system, or else in one on PATH that only root and this
/// user change, and that is not in the working directory of this process.
fn find(name: &str) -> Option<PathBuf> {
    let system = SYSTEM.iter().map(Path::new);
    let mut system = system.filter_map(|directory| file_in(directory, name));
    system.next().or_else(|| {
        let path = env::var_os("PATH")?;
        let here = env::current_dir().and_then(|here| here.canonicalize());
        let here = here.ok()?;
        env::split_paths(&path).find_map(|directory| on_path(&directory, name, &here))
    })
}

fn file_in(directory: &Path, name: &str) -> Option<PathBuf> {
    let real = directory.join(name).canonicalize().ok()?;
    real.is_file().then_some(real)
}

fn on_path(directory: &Path, name: &str, here: &Path) -> Option<PathBuf> {
    if !directory.is_absolute() {
        return None;
    }
    let directory = directory.canonicalize().ok()?;
    let real = file_in(&directory, name)?;
    let parent = real.parent()?;
    let paths = [&*directory, parent, &*real];
    let safe = paths
        .iter()
        .all(|path| is_ours(path) && !path.starts_with(here));
    safe.then_some(real)
}

/// Returns whether only root and this user change it.
fn is_ours(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| {
        let owner = found.uid();
        (owner == 0 || owner == geteuid().as_raw()) && found.mode() & 0o022 == 0
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_directory_of_the_system_comes_before_path() {
        let found = find("sh").unwrap();
        let system = SYSTEM.iter().map(Path::new);
        let mut system = system.filter_map(|directory| file_in(directory, "sh"));
        assert_eq!(system.next(), Some(found));
    }

    #[test]
    fn on_path_only_what_commands_do_not_write() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let (tools, work) = (root.join("tools"), root.join("work"));
        fs::create_dir(&tools).unwrap();
        fs::create_dir(&work).unwrap();
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let program = tools.join("confine");
        fs::write(&program, "").unwrap();
        mode(&program, 0o755);
        mode(&tools, 0o755);
        assert_eq!(on_path(&tools, "confine", &work), Some(program.clone()));
        assert_eq!(on_path(&tools, "confine", &root), None);
        assert_eq!(on_path(Path::new("tools"), "confine", &work), None);
        std::os::unix::fs::symlink(&program, work.join("confine")).unwrap();
        assert_eq!(on_path(&work, "confine", &work), None);
        mode(&tools, 0o777);
        assert_eq!(on_path(&tools, "confine", &work), None);
    }
}
