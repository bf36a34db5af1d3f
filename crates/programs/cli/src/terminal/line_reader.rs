//! Reads a person's answers so that a question can be taken back.

use std::io::{self, PipeReader, PipeWriter, Write as _, stderr};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::{Errno, read},
    termios::{QueueSelector, tcflush},
};
use tokio::sync::{Mutex, MutexGuard};

use crate::terminal::{keyboard::Keyboard, output::note};

/// The lock of the terminal: one question at a time.
static FLOOR: Mutex<()> = Mutex::const_new(());

/// A typed line, or the reason for its absence.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// What was typed, without the line break.
    Text(String),
    /// Nothing more will be typed.
    Ended,
    /// The question was taken back.
    TakenBack,
}

/// Reads lines from the terminal until the other half is dropped.
#[derive(Debug)]
pub(crate) struct LineReader {
    keyboard: Keyboard,
    taken_back: PipeReader,
}

/// An open question. It is taken back when this is dropped, and then others may ask.
#[derive(Debug)]
pub(crate) struct Question {
    open: Option<PipeWriter>,
    _floor: MutexGuard<'static, ()>,
}

impl Question {
    /// Takes the question back: no answer is needed any more.
    pub(crate) fn take_back(&mut self) {
        self.open.take();
    }
}

impl LineReader {
    /// Returns a reader and the question that ends it, as soon as no other question is open.
    ///
    /// # Errors
    ///
    /// The system's error if it has no more files, or there is no terminal.
    pub(crate) async fn new() -> io::Result<(Self, Question)> {
        let floor = FLOOR.lock().await;
        let (taken_back, open) = io::pipe()?;
        let question = Question {
            open: Some(open),
            _floor: floor,
        };
        let keyboard = Keyboard::open()?;
        let reader = Self {
            keyboard,
            taken_back,
        };
        Ok((reader, question))
    }

    /// Puts a question at the beginning of a line and waits for a typed answer.
    ///
    /// # Errors
    ///
    /// The errors of the terminal.
    pub(crate) fn answer(&self, question: &str) -> io::Result<Line> {
        let mut terminal = stderr().lock();
        terminal.write_all(question.as_bytes())?;
        terminal.flush()?;
        drop(terminal);
        let line = self.line()?;
        if line == Line::Ended {
            // The line break was not typed.
            note("");
        }
        Ok(line)
    }

    /// Discards what was typed before the question could be read: that is no answer.
    pub(crate) fn forget_typed(&self) {
        // It is a terminal, or there is nothing to discard.
        tcflush(&self.keyboard, QueueSelector::IFlush).ok();
    }

    /// Waits for a line.
    ///
    /// # Errors
    ///
    /// The error of the system.
    fn line(&self) -> io::Result<Line> {
        let mut typed = Vec::new();
        let mut buffer = [0; 1024];
        loop {
            let mut ready = [
                PollFd::new(&self.keyboard, PollFlags::IN),
                PollFd::new(&self.taken_back, PollFlags::IN),
            ];
            match poll(&mut ready, None) {
                Err(Errno::INTR) => continue,
                result => result?,
            };
            let [input, taken_back] = &ready;
            if !taken_back.revents().is_empty() {
                return Ok(Line::TakenBack);
            }
            if input.revents().is_empty() {
                continue;
            }
            let count = match read(&self.keyboard, &mut buffer) {
                Err(Errno::INTR) => continue,
                result => result?,
            };
            let (read, _) = buffer.split_at(count);
            typed.extend_from_slice(read);
            let ended = count == 0;
            if ended && typed.is_empty() {
                return Ok(Line::Ended);
            }
            // A terminal delivers a line at a time.
            if ended || typed.contains(&b'\n') {
                let text = String::from_utf8_lossy(&typed);
                let line = text.lines().next().unwrap_or_default();
                return Ok(Line::Text(line.to_owned()));
            }
        }
    }
}
