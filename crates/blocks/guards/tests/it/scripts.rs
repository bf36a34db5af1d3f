//! Small programs for tests.

use std::{fs, path::Path};

use neuron_guards::Program;
use neuron_patience::patience;

/// A program of the shell that has these lines.
pub(crate) struct Script {
    folder: tempfile::TempDir,
}

impl Script {
    pub(crate) fn new(lines: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("check.sh"), lines).unwrap();
        Self { folder }
    }

    /// It is started where it lies.
    pub(crate) fn program(&self) -> Program {
        let program = Program::new(["sh", "check.sh", "a b", "$HOME"]);
        program.directory(self.folder()).timeout(patience())
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns what a file of its folder says.
    pub(crate) fn wrote(&self, file: &str) -> String {
        fs::read_to_string(self.folder().join(file)).unwrap()
    }
}
