//! Gates that block something until the test opens them.

use std::{
    fs::{File, OpenOptions},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex},
};

use neuron_patience::patience;
use rustix::fs::{CWD, Mode, OFlags, mkfifoat};

use crate::eventually;

/// Blocks threads of the test, such as answers of a fake server. A clone is another handle of the same gate.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    open: bool,
    waiting: usize,
}

impl Gate {
    /// Returns a gate that is shut.
    #[must_use]
    pub fn shut() -> Self {
        Self::default()
    }

    /// Opens the gate for all threads, now and later.
    ///
    /// # Panics
    ///
    /// If a thread that waits at the gate panicked.
    pub fn open(&self) {
        let (state, changed) = &*self.0;
        state.lock().unwrap().open = true;
        changed.notify_all();
    }

    /// Waits until the gate is open.
    ///
    /// # Panics
    ///
    /// If the gate is not opened in time.
    pub fn pass(&self) {
        let (state, changed) = &*self.0;
        let mut held = state.lock().unwrap();
        held.waiting += 1;
        changed.notify_all();
        let (_guard, timeout) = changed
            .wait_timeout_while(held, patience(), |state| !state.open)
            .unwrap();
        assert!(!timeout.timed_out(), "a gate was not opened in time");
    }

    /// Waits until a thread waits at the gate.
    ///
    /// # Panics
    ///
    /// If no thread arrives in time.
    pub fn reached(&self) {
        let (state, changed) = &*self.0;
        let held = state.lock().unwrap();
        let (_guard, timeout) = changed
            .wait_timeout_while(held, patience(), |state| state.waiting == 0)
            .unwrap();
        assert!(!timeout.timed_out(), "nobody came to a gate in time");
    }
}

/// A named pipe that blocks another process which reads it as a file.
#[derive(Debug)]
pub struct PipeGate {
    path: PathBuf,
}

/// A reader that a [`PipeGate`] blocks. Dropping it lets the reader continue: it finds an empty file.
#[derive(Debug)]
#[must_use]
pub struct HeldReader(#[expect(dead_code, reason = "the open end is what holds")] File);

impl PipeGate {
    /// Makes the pipe.
    ///
    /// # Panics
    ///
    /// If the pipe cannot be made.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
        Self {
            path: path.to_path_buf(),
        }
    }

    /// Waits until a process reads the pipe, and blocks that process.
    ///
    /// # Panics
    ///
    /// If no process reads it in time.
    pub fn reader(&self) -> HeldReader {
        // A pipe without a reader cannot be opened for writing without waiting.
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap();
        let open = || {
            OpenOptions::new()
                .write(true)
                .custom_flags(flags)
                .open(&self.path)
                .ok()
        };
        HeldReader(eventually("reader of the pipe", open))
    }
}
