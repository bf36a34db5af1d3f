//! Asks for the passphrase of a key, at the terminal and not at standard input, which may be anything.

use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
};

use neuron_approvers::Passphrase;
use rustix::{
    io::{Errno, read},
    termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr},
};

use crate::terminal::shown;

/// The longest passphrase that is read.
const LONGEST: usize = 1024;

const INTERRUPT: u8 = 3;
const END: u8 = 4;
const BACKSPACE: u8 = 8;
const DELETE: u8 = 127;

/// Asks for the passphrase of a key file. What is typed is not shown.
///
/// # Errors
///
/// The errors of the terminal, also without a terminal; [`io::ErrorKind::Interrupted`] at Ctrl-C and Ctrl-D.
pub(crate) fn ask(path: &Path) -> io::Result<Passphrase> {
    let mut terminal = File::options().read(true).write(true).open("/dev/tty")?;
    let path = path.to_string_lossy();
    write!(terminal, "passphrase of {}: ", shown::line(&path))?;
    terminal.flush()?;
    let typed = {
        let _silence = Silence::of(&terminal)?;
        line(&terminal)
    };
    writeln!(terminal)?;
    Ok(Passphrase::new(typed?))
}

/// Reads a line byte by byte: no key ends the process while the terminal is silent.
fn line(terminal: &File) -> io::Result<String> {
    let interrupted = || io::Error::new(io::ErrorKind::Interrupted, "nothing was typed");
    // The buffer is large enough not to be reallocated, which would leave a copy of the text behind.
    let mut typed = Vec::with_capacity(LONGEST);
    loop {
        let mut byte = [0];
        let count = match read(terminal, &mut byte) {
            Err(Errno::INTR) => continue,
            result => result?,
        };
        let [byte] = byte;
        match byte {
            _ if count == 0 => return Err(interrupted()),
            INTERRUPT | END => return Err(interrupted()),
            b'\n' | b'\r' => break,
            BACKSPACE | DELETE => while typed.pop().is_some_and(is_continuation) {},
            byte if typed.len() < LONGEST => typed.push(byte),
            _ => return Err(io::Error::other("it is too long")),
        }
    }
    String::from_utf8(typed).map_err(|_| io::Error::other("it is not text"))
}

/// Returns whether a character continues with this byte, and does not begin.
const fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// A terminal that does not show what is typed, and delivers each key. The terminal is restored when this is dropped.
struct Silence<'a> {
    terminal: &'a File,
    before: Termios,
}

impl<'a> Silence<'a> {
    fn of(terminal: &'a File) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut silent = before.clone();
        silent
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        // What was typed before the question is no answer.
        tcsetattr(terminal, OptionalActions::Flush, &silent)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Silence<'_> {
    fn drop(&mut self) {
        // Nothing can be done if that fails.
        tcsetattr(self.terminal, OptionalActions::Now, &self.before).ok();
    }
}
