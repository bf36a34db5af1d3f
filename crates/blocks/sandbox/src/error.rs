//! Why a command is not confined, and therefore not started.

use std::{io, path::PathBuf};

use crate::kind::Backend;

/// Why a sandbox cannot be had. What it was for is not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// Neither back end works on this machine.
    #[error(
        "no sandbox works on this machine (bubblewrap: {bubblewrap}; landlock: {landlock}): install bubblewrap and \
         allow user namespaces, or run Linux 6.12 or newer with Landlock, or set sandbox = \"off\" where something \
         else confines the tools"
    )]
    NoBackend {
        /// Why bubblewrap does not.
        bubblewrap: String,
        /// Why Landlock does not.
        landlock: String,
    },
    /// The back end that was asked for does not work on this machine.
    #[error("the sandbox's back end {backend} does not work on this machine: {reason}")]
    Backend {
        /// Which.
        backend: Backend,
        /// Why.
        reason: String,
    },
    /// The back end needs a helper, and this program cannot be started as one.
    #[error(
        "the sandbox's back end landlock starts this program again as its helper, and this program does not know it: \
         call neuron::sandbox::dispatch() first in main, or install bubblewrap"
    )]
    NoHelper,
    /// The back end needs a helper, and this program does not start as one.
    #[error(
        "the sandbox's back end landlock starts this program again as its helper, in / and without an environment, and \
         it does not start so: {0}"
    )]
    HelperFails(String),
    /// A protected path is a symbolic link, which a command could put another one in the place of.
    #[error("{} is protected from commands and is a symbolic link, which cannot be: put what it leads to in its place", path.display())]
    ProtectedLink {
        /// The path.
        path: PathBuf,
    },
    /// What the sandbox reads or writes is reached through a symbolic link that its commands may replace.
    #[error(
        "{} leads a sandbox somewhere else, and its commands can put another symbolic link in its place: name what it \
         leads to instead",
        link.display()
    )]
    WritableLink {
        /// The link.
        link: PathBuf,
    },
    /// The working directory is the root of the file system.
    #[error("a sandbox needs a working directory of its own, not /")]
    RootDirectory,
    /// A directory or file that the sandbox is made of.
    #[error("cannot use {} for a sandbox", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A directory that was to be the commands' home, or one above it, is not this user's own.
    #[error(
        "{} is {what}: programs would keep in it what they start next time, so it has to be a directory of this user's own. \
         Remove it, or set XDG_CACHE_HOME to another directory",
        path.display()
    )]
    NotOwn {
        /// The directory.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// The filter of system calls cannot be made for this processor.
    #[error("cannot make a filter of system calls: {0}")]
    Filter(String),
    /// A path or an argument that is no text, where the helper needs text.
    #[error("a path of the sandbox is not UTF-8")]
    NotText,
}

impl From<SandboxError> for io::Error {
    fn from(error: SandboxError) -> Self {
        Self::other(error)
    }
}
