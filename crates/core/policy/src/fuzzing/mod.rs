//! What the fuzz targets check of texts that strangers write, beside that reading them does not panic.

mod pattern;
mod shell;

pub use pattern::check_pattern;
pub use shell::check_shell;

/// The first line and what follows it, of a text.
fn first_line(input: &[u8]) -> Option<(&str, &str)> {
    std::str::from_utf8(input).ok()?.split_once('\n')
}
