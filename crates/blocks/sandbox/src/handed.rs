//! What a command is handed by a descriptor: its environment, which whatever confines it must not go by.
//!
//! A dynamic loader obeys variables before a program begins, and so do the C library and others. What confines starts
//! without any, and has those of the command from a file in memory, which is in no list of processes either.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Seek as _, Write as _},
    os::{
        fd::OwnedFd,
        unix::ffi::{OsStrExt as _, OsStringExt as _},
    },
};

use close_fds::set_fds_cloexec_threadsafe;
use command_fds::{CommandFdExt as _, FdMapping};
use rustix::fs::{MemfdFlags, memfd_create};
use tokio::process::Command;

/// The descriptor of the file: the first that is neither input nor output.
pub(crate) const DESCRIPTOR: i32 = 3;

/// Variables by their names.
pub(crate) type Variables = BTreeMap<OsString, OsString>;

/// Hands these words to a command that is to be started. Each ends with a zero byte, which none of them has.
///
/// # Errors
///
/// What keeps the file from being made.
pub(crate) fn hand<'a>(
    command: &mut Command,
    words: impl IntoIterator<Item = &'a OsStr>,
) -> io::Result<()> {
    let file = memfd_create("handed", MemfdFlags::CLOEXEC)?;
    let mut file = File::from(file);
    let mut bytes = Vec::new();
    for word in words {
        bytes.extend_from_slice(word.as_bytes());
        bytes.push(0);
    }
    file.write_all(&bytes)?;
    file.rewind()?;
    let mapping = FdMapping {
        parent_fd: OwnedFd::from(file),
        child_fd: DESCRIPTOR,
    };
    let command = command.as_std_mut();
    let mapped = command.fd_mappings(vec![mapping]);
    mapped.map_err(io::Error::other).map(drop)
}

/// The names and values of variables, one after the other.
pub(crate) fn words(variables: &Variables) -> impl Iterator<Item = &OsStr> {
    let variables = variables.iter();
    variables.flat_map(|(name, value)| [name.as_os_str(), value.as_os_str()])
}

/// Reads the variables that this process was handed.
///
/// # Errors
///
/// There are none.
pub(crate) fn variables() -> io::Result<Variables> {
    let bytes = fs::read(format!("/proc/self/fd/{DESCRIPTOR}"))?;
    let mut words = bytes.split(|byte| *byte == 0);
    let mut variables = Variables::new();
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        let word = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        variables.insert(word(name), word(value));
    }
    Ok(variables)
}

/// Keeps what this process inherited, or has opened for its children to inherit, from the commands that it starts.
pub(crate) fn keep_descriptors() {
    set_fds_cloexec_threadsafe(DESCRIPTOR, &[]);
}
