//! The orders for the programs that confine. An order is neither on their command lines, which everybody reads, nor in
//! their environments, which the loader and the system's library obey before anything confines: it is in memory, and
//! they inherit a descriptor of it.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _, Seek as _, Write as _},
    os::{
        fd::OwnedFd,
        unix::ffi::{OsStrExt as _, OsStringExt as _},
    },
    path::PathBuf,
};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use crate::environment::Environment;

/// What a helper does for a command.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// In the helper's own words.
    pub(crate) task: String,
    /// Where the command works.
    pub(crate) cwd: PathBuf,
    /// The command's.
    pub(crate) environment: Environment,
}

impl Order {
    /// Returns a descriptor to hand down; see [`sealed`].
    pub(crate) fn sealed(&self) -> io::Result<OwnedFd> {
        let variables = self.environment.iter().map(|(name, value)| {
            let mut word = name.to_owned();
            word.push("=");
            word.push(value);
            word
        });
        let words = [OsString::from(&self.task), self.cwd.clone().into()];
        sealed(words.into_iter().chain(variables))
    }

    /// Reads what was handed down as the descriptor with this number.
    pub(crate) fn read(number: &OsStr) -> io::Result<Self> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        let number: u32 = number
            .to_str()
            .and_then(|text| text.parse().ok())
            .ok_or_else(invalid)?;
        let mut bytes = Vec::new();
        File::open(format!("/proc/self/fd/{number}"))?.read_to_end(&mut bytes)?;
        let mut words = bytes
            .strip_suffix(&[0])
            .unwrap_or_default()
            .split(|b| *b == 0);
        let mut word = || Some(OsString::from_vec(words.next()?.to_vec()));
        let (task, cwd) = word().zip(word()).ok_or_else(invalid)?;
        let mut environment = Environment::default();
        while let Some(word) = word() {
            let bytes = word.as_bytes();
            let at = bytes.iter().position(|byte| *byte == b'=');
            let (name, value) = at
                .and_then(|at| Some((bytes.get(..at)?, bytes.get(at + 1..)?)))
                .ok_or_else(invalid)?;
            environment.set(OsStr::from_bytes(name), OsStr::from_bytes(value));
        }
        Ok(Self {
            task: task.into_string().map_err(|_| invalid())?,
            cwd: cwd.into(),
            environment,
        })
    }
}

/// Returns a descriptor of memory that holds these words, each with a zero byte after it, and that no process changes
/// any more. It is closed in programs that are started, unless it is handed down.
///
/// # Errors
///
/// A word has a zero byte in it, or the system gives no memory.
pub(crate) fn sealed(words: impl IntoIterator<Item = OsString>) -> io::Result<OwnedFd> {
    let mut bytes = Vec::new();
    for word in words {
        if word.as_bytes().contains(&0) {
            let message = "a path or a variable has a zero byte in it";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        bytes.extend_from_slice(word.as_bytes());
        bytes.push(0);
    }
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create("neuron-sandbox", flags)?);
    file.write_all(&bytes)?;
    file.rewind()?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;

    use proptest::prelude::*;

    use super::*;

    fn word(least: usize) -> impl Strategy<Value = OsString> {
        prop::collection::vec(1..=u8::MAX, least..9).prop_map(OsString::from_vec)
    }

    fn name() -> impl Strategy<Value = OsString> {
        word(1).prop_filter("a name", |name| !name.as_bytes().contains(&b'='))
    }

    proptest! {
        #[test]
        fn is_read_as_it_was_given(
            task in "[^\0]*",
            cwd in word(0),
            variables in prop::collection::btree_map(name(), word(0), 0..5),
        ) {
            let mut order = Order { task, cwd: cwd.into(), ..Order::default() };
            for (name, value) in &variables {
                order.environment.set(name, value);
            }
            let descriptor = order.sealed().unwrap();
            let number = descriptor.as_raw_fd().to_string();
            let read = Order::read(OsStr::new(&number)).unwrap();
            prop_assert_eq!(read.task, order.task);
            prop_assert_eq!(read.cwd, order.cwd);
            prop_assert!(read.environment.iter().eq(order.environment.iter()));
        }
    }

    #[test]
    fn nobody_changes_it() {
        let mut file = File::from(sealed(["word".into()]).unwrap());
        assert!(file.write(b"x").is_err());
    }

    #[test]
    fn a_word_with_a_zero_byte_is_refused() {
        let error = sealed(["a\0b".into()]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
