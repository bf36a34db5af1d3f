//! What the fuzz targets check of texts that strangers write, beside that reading them does not panic.

use std::{fs, io, path::Path};

mod canonical;
mod pattern;
mod shell;

pub use canonical::check_canonical;
pub use pattern::check_pattern;
pub use shell::check_shell;

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

/// The first line and what follows it, of a text.
fn first_line(input: &[u8]) -> Option<(&str, &str)> {
    std::str::from_utf8(input).ok()?.split_once('\n')
}
