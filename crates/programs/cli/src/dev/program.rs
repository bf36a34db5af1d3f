//! Where an engine's program is.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::CliError;

/// A program that somebody has to have installed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    /// What it is called on PATH.
    pub(super) name: &'static str,
    /// Names its path.
    pub(super) variable: &'static str,
    /// Where it is in a folder of `target/engines/NAME`, one for each version.
    pub(super) fetched: &'static str,
    /// What installs it.
    pub(super) install: &'static str,
}

impl Program {
    /// The path that the variable names, or that of the program on PATH, or of the one that this
    /// repository's `cargo xtask engines` fetched.
    ///
    /// # Errors
    ///
    /// [`CliError::NoProgram`].
    pub(super) fn find(self) -> Result<PathBuf, CliError> {
        if let Some(path) = neuron_worker::variable(self.variable) {
            return Ok(path.into());
        }
        self.on_path()
            .or_else(|| self.in_repository())
            .ok_or(CliError::NoProgram {
                name: self.name,
                install: self.install,
                variable: self.variable,
            })
    }

    fn on_path(self) -> Option<PathBuf> {
        let folders = env::var_os("PATH")?;
        env::split_paths(&folders)
            .map(|folder| folder.join(self.name))
            .find(|path| is_executable(path))
    }

    fn in_repository(self) -> Option<PathBuf> {
        let cwd = env::current_dir().ok()?;
        cwd.ancestors()
            .filter_map(|folder| {
                let versions = fs::read_dir(folder.join("target/engines").join(self.name)).ok()?;
                let programs = versions.flatten();
                let programs = programs.map(|version| version.path().join(self.fetched));
                programs.filter(|path| is_executable(path)).max()
            })
            .next()
    }
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    path.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
