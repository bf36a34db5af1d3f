//! What the fuzz targets check of texts that strangers write, beside that reading them does not panic.

use std::{fs, io, path::Path};

mod canonical;

pub use canonical::check_canonical;

/// Gives every file of a corpus to a check, and returns how many there are.
///
/// # Errors
///
/// The folder or a file cannot be read.
#[allow(clippy::disallowed_methods, reason = "nothing that replays does this")]
pub fn replay(corpus: &Path, check: impl Fn(&[u8])) -> io::Result<usize> {
    let mut count = 0;
    for file in fs::read_dir(corpus)? {
        check(&fs::read(file?.path())?);
        count += 1;
    }
    Ok(count)
}
