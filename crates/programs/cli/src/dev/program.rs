//! The location of an engine's program.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::CliError;

/// A program that has to be installed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    /// The program's name on PATH.
    pub(super) name: &'static str,
    /// The variable with the program's path.
    pub(super) variable: &'static str,
    /// The program's path in a folder of `target/engines/NAME`, one for each version, of the `target` that this program
    /// was built in.
    pub(super) fetched: &'static str,
    /// The command that installs it.
    pub(super) install: &'static str,
}

impl Program {
    /// Returns the path that the variable names, or that of the program on PATH, or of the one that `cargo xtask
    /// engines` fetched in the checkout that this program was built in. The working directory may belong to another
    /// user: nothing there is started.
    ///
    /// # Errors
    ///
    /// [`CliError::NoProgram`].
    pub(super) fn find(self) -> Result<PathBuf, CliError> {
        if let Some(path) = neuron_worker::variable(self.variable) {
            return Ok(path.into());
        }
        self.on_path()
            .or_else(|| self.fetched_here())
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

    fn fetched_here(self) -> Option<PathBuf> {
        let program = env::current_exe().ok()?;
        let mut folders = program.ancestors();
        let target = folders.find(|folder| folder.ends_with("target"))?;
        let versions = fs::read_dir(target.join("engines").join(self.name)).ok()?;
        let programs = versions.flatten();
        let programs = programs.map(|version| version.path().join(self.fetched));
        programs.filter(|path| is_executable(path)).max()
    }
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    path.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
