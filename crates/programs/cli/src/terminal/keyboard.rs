//! The input of a person: standard input, or the terminal if standard input is something else.

use std::{
    fs::File,
    io::{self, IsTerminal as _, Stdin, stderr, stdin},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::FileTypeExt as _,
    },
    process::Stdio,
};

use rustix::{
    process::getpgrp,
    termios::{tcgetpgrp, tcgetwinsize},
};

/// The terminal of this process, if it has one.
const TERMINAL: &str = "/dev/tty";

/// The number of lines of a terminal that does not report it.
const USUAL_ROWS: usize = 24;

/// The source of typed answers.
#[derive(Debug)]
pub(crate) enum Keyboard {
    /// Standard input.
    Standard(Stdin),
    /// The terminal: standard input is a pipe or a file, which may hold the prompt.
    Terminal(File),
}

impl Keyboard {
    /// Opens the source.
    ///
    /// # Errors
    ///
    /// The system's error if there is no terminal.
    pub(crate) fn open() -> io::Result<Self> {
        let standard = stdin();
        match standard.is_terminal() {
            true => Ok(Self::Standard(standard)),
            false => File::options()
                .read(true)
                .write(true)
                .open(TERMINAL)
                .map(Self::Terminal),
        }
    }
}

impl AsFd for Keyboard {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Standard(standard) => standard.as_fd(),
            Self::Terminal(terminal) => terminal.as_fd(),
        }
    }
}

/// Returns standard input for a program that the person uses, such as an editor.
///
/// # Errors
///
/// The errors of [`Keyboard::open`].
pub(crate) fn for_program() -> io::Result<Stdio> {
    Ok(match Keyboard::open()? {
        Keyboard::Standard(_) => Stdio::inherit(),
        Keyboard::Terminal(terminal) => terminal.into(),
    })
}

/// Returns whether a person can be asked here: they see standard error, and type at standard input, or at the terminal
/// if standard input is a pipe or a file. A user who gives `/dev/null` as input does not want to be asked.
pub(crate) fn can_ask() -> bool {
    stderr().is_terminal() && (stdin().is_terminal() || (is_given_text() && has_terminal()))
}

/// Returns how many lines the terminal has on which questions are shown; a usual number if that is unknown.
pub(crate) fn rows() -> usize {
    let size = tcgetwinsize(stderr());
    let rows = size.map_or(0, |size| usize::from(size.ws_row));
    if rows == 0 { USUAL_ROWS } else { rows }
}

/// Returns whether standard input is a pipe or a file.
fn is_given_text() -> bool {
    let standard = stdin().as_fd().try_clone_to_owned().map(File::from);
    let found = standard.and_then(|standard| standard.metadata());
    found.is_ok_and(|found| !found.file_type().is_char_device())
}

/// Returns whether this process may read from its terminal: the system stops a background process that does.
fn has_terminal() -> bool {
    let terminal = File::open(TERMINAL);
    terminal.is_ok_and(|terminal| tcgetpgrp(&terminal).is_ok_and(|group| group == getpgrp()))
}
