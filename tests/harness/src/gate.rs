//! Holding something until the test lets it go.

use std::{
    fs::{File, OpenOptions},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex},
};

use neuron_patience::patience;
use rustix::fs::{CWD, Mode, OFlags, mkfifoat};

use crate::eventually;

/// Holds threads of the test, such as answers of a fake server. Cloning it makes another handle of the same
/// gate.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    open: bool,
    waiting: usize,
}

impl Gate {
    /// A gate that is shut.
    #[must_use]
    pub fn shut() -> Self {
        Self::default()
    }

    /// Lets everybody through, now and later.
    ///
    /// # Panics
    ///
    /// If a thread that it holds panicked.
    pub fn open(&self) {
        let (state, changed) = &*self.0;
        state.lock().unwrap().open = true;
        changed.notify_all();
    }

    /// Waits until it is open.
    ///
    /// # Panics
    ///
    /// If nobody opens it in time.
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

    /// Waits until somebody waits at it.
    ///
    /// # Panics
    ///
    /// If nobody comes in time.
    pub fn reached(&self) {
        let (state, changed) = &*self.0;
        let held = state.lock().unwrap();
        let (_guard, timeout) = changed
            .wait_timeout_while(held, patience(), |state| state.waiting == 0)
            .unwrap();
        assert!(!timeout.timed_out(), "nobody came to a gate in time");
    }
}

/// A named pipe that another process stops at when it reads it as a file.
#[derive(Debug)]
pub struct PipeGate {
    path: PathBuf,
}

/// A reader that a [`PipeGate`] holds. Dropping it lets the reader go on: it finds an empty file.
#[derive(Debug)]
#[must_use]
pub struct HeldReader(#[expect(dead_code, reason = "the open end is what holds")] File);

impl PipeGate {
    /// Makes the pipe.
    ///
    /// # Panics
    ///
    /// If that fails.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
        Self {
            path: path.to_path_buf(),
        }
    }

    /// Waits until a process reads it, and holds that process.
    ///
    /// # Panics
    ///
    /// If none comes in time.
    pub fn reader(&self) -> HeldReader {
        // A pipe that nobody reads cannot be opened for writing without waiting.
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
