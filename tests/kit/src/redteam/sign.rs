//! By what the success of an attack is seen.

/// What is seen from outside when an attack has succeeded. Texts have variables, as in `$home/.bashrc`: those of the script,
/// and secrets, which no script is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// The call's result has this text.
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
    /// One of the sockets outside was sent the attempt's name.
    Arrives,
    /// The process `$victim` has ended.
    Ends,
    /// A process that holds this file open lives on.
    Lives(&'static str),
    /// A run that was put into this directory is gone on with there, when a person types `neuron resume`.
    Resumes(&'static str),
}

impl Sign {
    /// The script has written `$mark` there.
    pub(crate) const fn marked(at: &'static str) -> Self {
        Self::Holds { at, text: "$mark" }
    }
}
