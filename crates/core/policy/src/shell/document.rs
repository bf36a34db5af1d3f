//! Texts in a script that are given to its commands.

/// A text that begins after the line that names its end.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// The line after it.
    pub(crate) end: String,
    /// Tabs at the start of its lines are left out.
    pub(crate) is_indented: bool,
    /// Nothing in it is expanded.
    pub(crate) is_literal: bool,
}

impl Document {
    /// Splits the text from what follows its last line. `None` if that is not there.
    pub(crate) fn split<'a>(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        let mut start = 0;
        loop {
            let rest = text.get(start..)?;
            let length = rest.find('\n').unwrap_or(rest.len());
            let line = rest.get(..length)?;
            let shown = match self.is_indented {
                true => line.trim_start_matches('\t'),
                false => line,
            };
            if shown == self.end {
                // The end of the last line is that of a command.
                return Some((text.get(..start)?, rest.get(length..)?));
            }
            if length == rest.len() {
                return None;
            }
            start += length + 1;
        }
    }
}
