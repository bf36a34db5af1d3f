//! Files and directories that are their owner's alone.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::Path,
};

/// Creates a directory that only its owner can read, if it is missing, and those above it.
pub(crate) fn make_dir(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Opens a file for writing, and creates it for its owner alone if it is missing.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    options().read(true).create(true).truncate(false).open(path)
}

/// Returns the options for writing files that are their owner's alone.
pub(crate) fn options() -> OpenOptions {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
