//! What a command prints.

use std::{
    io::{self, PipeWriter},
    mem,
};

use tokio::net::unix::pipe;

use crate::builtin::shell::head_tail::HeadTail;

/// More than any pipe holds: what a command wrote before it ended is within this.
const MAX_DRAIN_BYTES: usize = 2 * 1024 * 1024;
/// How much is read at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// The pipe of both outputs, and the start and the end of what came out of it.
#[derive(Debug)]
pub(crate) struct Output {
    pipe: pipe::Receiver,
    is_open: bool,
    buffer: Vec<u8>,
    captured: HeadTail,
}

impl Output {
    /// Returns a pipe that keeps at most `max_bytes`, and its other end.
    pub(crate) fn new(max_bytes: usize) -> io::Result<(Self, PipeWriter)> {
        let (reader, writer) = io::pipe()?;
        let output = Self {
            pipe: pipe::Receiver::from_owned_fd(reader.into())?,
            is_open: true,
            buffer: vec![0; BUFFER_BYTES],
            captured: HeadTail::new(max_bytes),
        };
        Ok((output, writer))
    }

    /// Reads for ever. May be dropped and called again.
    pub(crate) async fn read_on(&mut self) {
        while self.is_open && self.pipe.readable().await.is_ok() {
            self.read();
        }
        std::future::pending::<()>().await;
    }

    /// Reads the rest, but not what a process that was left continues to print.
    pub(crate) fn drain(&mut self) {
        let mut drained = 0;
        while self.is_open && drained < MAX_DRAIN_BYTES {
            match self.read() {
                0 => break,
                length => drained += length,
            }
        }
    }

    /// Returns what was printed.
    pub(crate) fn take_text(&mut self) -> String {
        mem::replace(&mut self.captured, HeadTail::new(0)).into_text()
    }

    /// Reads what is there now, and returns how much that was.
    fn read(&mut self) -> usize {
        match self.pipe.try_read(&mut self.buffer) {
            Ok(0) => {
                self.is_open = false;
                0
            }
            Ok(length) => {
                self.captured
                    .push(self.buffer.get(..length).unwrap_or_default());
                length
            }
            Err(error) => {
                self.is_open = error.kind() == io::ErrorKind::WouldBlock;
                0
            }
        }
    }
}
