//! Standard output: the answer, or one JSON value, and nothing else.

use std::io::{self, IsTerminal as _, Write as _};

use neuron_types::shown_json;
use serde::Serialize;

use crate::{CliError, terminal::shown};

/// Writes to standard output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
    terminal: bool,
}

impl Output {
    /// Writes JSON if `json`.
    pub(crate) fn new(json: bool) -> Self {
        Self {
            json,
            terminal: io::stdout().is_terminal(),
        }
    }

    /// Whether programs read it.
    pub(crate) const fn is_json(self) -> bool {
        self.json
    }

    /// Whether a person reads the answer here while it comes.
    pub(crate) const fn is_watched(self) -> bool {
        self.terminal && !self.json
    }

    /// Writes a value on one line. What a terminal would obey is escaped in it, and it is the same JSON.
    ///
    /// # Errors
    ///
    /// [`CliError::Stdout`].
    pub(crate) fn value(self, value: &impl Serialize) -> Result<(), CliError> {
        let line = serde_json::to_string(value)
            .map_err(io::Error::from)
            .map_err(CliError::Stdout)?;
        let mut line = shown_json(line);
        line.push('\n');
        write(&line)
    }

    /// Writes a text and a line break. What a terminal would obey is escaped; files and pipes get the
    /// text as it is.
    ///
    /// # Errors
    ///
    /// [`CliError::Stdout`].
    pub(crate) fn text(self, text: &str) -> Result<(), CliError> {
        let shown = if self.terminal {
            shown::text(text)
        } else {
            text.into()
        };
        let end = if shown.ends_with('\n') { "" } else { "\n" };
        write(&format!("{shown}{end}"))
    }
}

fn write(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(CliError::Stdout)
}

/// Writes a piece of an answer to a terminal. Nothing can be done where that fails.
pub(crate) fn piece(text: &str) {
    write(&shown::text(text)).ok();
}

/// Writes a line to standard error. Nothing can be done where that fails.
pub(crate) fn note(line: &str) {
    // Not `eprintln!`, which panics when the reader is gone.
    writeln!(io::stderr().lock(), "{}", shown::text(line)).ok();
}
