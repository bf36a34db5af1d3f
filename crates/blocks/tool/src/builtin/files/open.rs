//! Opening what was checked, and nothing else.
//!
//! Other programs may change the tree between a check of a path and its use. So what is opened is the real
//! path that was checked, without following any link: where a part of it has become one, opening fails.

use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
    path::{Component, Path},
};

use rustix::{
    fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, mkdirat, openat, statat},
    io::Errno,
};

/// Enough of a directory to continue from it, whether it can be listed or not.
#[cfg(any(target_os = "linux", target_os = "android"))]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// What never follows a link at the end, and is not inherited by programs.
const ALWAYS: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

/// What is at a place.
#[derive(Clone, Copy)]
pub(crate) struct Found(Stat);

impl Found {
    pub(crate) fn is_file(&self) -> bool {
        FileType::from_raw_mode(self.0.st_mode).is_file()
    }

    pub(crate) fn is_dir(&self) -> bool {
        FileType::from_raw_mode(self.0.st_mode).is_dir()
    }

    pub(crate) fn is_symlink(&self) -> bool {
        FileType::from_raw_mode(self.0.st_mode).is_symlink()
    }

    /// Returns whether no user may write to it.
    pub(crate) fn is_read_only(&self) -> bool {
        !self
            .mode()
            .intersects(Mode::WUSR.union(Mode::WGRP).union(Mode::WOTH))
    }

    pub(crate) fn mode(&self) -> Mode {
        Mode::from_raw_mode(self.0.st_mode)
    }

    pub(crate) fn size(&self) -> u64 {
        u64::try_from(self.0.st_size).unwrap_or_default()
    }

    /// Its user and its group.
    pub(crate) fn owner(&self) -> (u32, u32) {
        (self.0.st_uid, self.0.st_gid)
    }
}

/// Returns what is at this real path; a link is found as itself.
pub(crate) fn look(real: &Path) -> io::Result<Found> {
    match (real.parent(), real.file_name()) {
        (Some(parent), Some(name)) => look_in(&folder(parent)?, Path::new(name)),
        _ => Ok(Found(statat(CWD, real, AtFlags::SYMLINK_NOFOLLOW)?)),
    }
}

/// Returns what has this name in a directory; a link is found as itself.
pub(crate) fn look_in(folder: &OwnedFd, name: &Path) -> io::Result<Found> {
    Ok(Found(statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?))
}

/// Opens the regular file at this real path for reading. Never waits for a writer of a pipe.
pub(crate) fn file(real: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(open(real, flags)?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a file")),
    }
}

/// Opens the directory at this real path for listing it.
pub(crate) fn listing(real: &Path) -> io::Result<OwnedFd> {
    open(real, OFlags::RDONLY | OFlags::DIRECTORY)
}

/// Opens the directory at this real path, for names in it.
fn folder(real: &Path) -> io::Result<OwnedFd> {
    open(real, FOLDER)
}

/// As opening the directory at this real path, for names in it; those that are missing are made.
pub(crate) fn made_folder(real: &Path) -> io::Result<OwnedFd> {
    let missing = match folder(real) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => error,
        other => return other,
    };
    let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(missing);
    };
    let parent = made_folder(parent)?;
    match mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
        // Another process made it.
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(openat(&parent, name, FOLDER | ALWAYS, Mode::empty())?)
}

fn open(real: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    match open_without_links(real, flags | ALWAYS) {
        Err(Errno::LOOP) => Err(io::Error::other(
            "a part of the path became a link while it was opened",
        )),
        other => Ok(other?),
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_without_links(real: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};

    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(CWD, real, flags, Mode::empty(), resolve) {
        // Kernels before 5.6 do not know the call, and filters of some containers forbid it.
        Err(Errno::NOSYS | Errno::PERM) => open_by_parts(real, flags),
        other => other,
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn open_without_links(real: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    open_by_parts(real, flags)
}

/// Opens one directory after the other, none of them through a link.
fn open_by_parts(real: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let mut parts = real.components().peekable();
    if parts.next() != Some(Component::RootDir) {
        return Err(Errno::INVAL);
    }
    let mut folder = openat(CWD, "/", FOLDER | ALWAYS, Mode::empty())?;
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else {
            return Err(Errno::INVAL);
        };
        if parts.peek().is_none() {
            return openat(&folder, name, flags, Mode::empty());
        }
        folder = openat(&folder, name, FOLDER | ALWAYS, Mode::empty())?;
    }
    openat(&folder, ".", flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    type Open = fn(&Path, OFlags) -> rustix::io::Result<OwnedFd>;

    /// With the kernel's help and without it.
    const WAYS: [Open; 2] = [open_without_links, open_by_parts];

    #[test]
    fn opens_real_paths_only() {
        let temp = tempfile::tempdir().unwrap();
        let real = temp.path().canonicalize().unwrap();
        fs::create_dir(real.join("dir")).unwrap();
        fs::write(real.join("dir/file"), "f").unwrap();
        symlink("dir", real.join("link")).unwrap();
        symlink("file", real.join("dir/link")).unwrap();
        for open in WAYS {
            let open = |path: &str| open(&real.join(path), OFlags::RDONLY | ALWAYS);
            let text = io::read_to_string(File::from(open("dir/file").unwrap())).unwrap();
            assert_eq!(text, "f");
            drop(open("dir").unwrap());
            drop(open("/").unwrap());
            open("link/file").unwrap_err();
            assert_eq!(open("dir/link").unwrap_err(), Errno::LOOP);
            assert_eq!(open("link").unwrap_err(), Errno::LOOP);
            assert_eq!(open("dir/nothing").unwrap_err(), Errno::NOENT);
            assert_eq!(open("dir/file/x").unwrap_err(), Errno::NOTDIR);
        }
    }

    #[test]
    fn makes_directories_but_not_through_links() {
        let temp = tempfile::tempdir().unwrap();
        let real = temp.path().canonicalize().unwrap();
        drop(made_folder(&real.join("a/b/c")).unwrap());
        assert!(real.join("a/b/c").is_dir());
        symlink("a", real.join("link")).unwrap();
        drop(made_folder(&real.join("link/d/e")).unwrap_err());
        assert!(!real.join("a/d").exists());
    }
}
