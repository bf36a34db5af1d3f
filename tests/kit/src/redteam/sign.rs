//! The signs by which the success of an attack is seen.

/// The sign, from outside, that an attack has succeeded. Texts have variables, as in `$home/.bashrc`: those of the
/// script, and secrets, which no script gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// The call's result contains this text.
    Shows(&'static str),
    /// A text is in a file, or in one under a directory.
    Holds {
        /// The file or directory.
        at: &'static str,
        /// The text.
        text: &'static str,
    },
    /// The call of the ticket was made.
    Decides,
    /// One of the sockets outside received the attempt's name.
    Arrives,
    /// The process `$victim` has ended.
    Ends,
    /// A process that holds this file open lives on.
    Lives(&'static str),
    /// A run that was put into this directory is continued there by `neuron resume`.
    Resumes(&'static str),
}

impl Sign {
    /// Returns the sign that the script has written `$mark` there.
    pub(crate) const fn marked(at: &'static str) -> Self {
        Self::Holds { at, text: "$mark" }
    }
}
