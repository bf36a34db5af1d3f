//! A server that is a program of this machine.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use super::engine_settings::Settings;
use crate::{Addresses, EngineError, Process};

/// How much of a log is shown.
const LINES: usize = 20;

#[derive(Debug)]
pub(crate) struct Native {
    // The order matters: the process ends before its data is removed.
    process: Process,
    data: TempDir,
    program: PathBuf,
    settings: Settings,
}

impl Native {
    pub(crate) fn start(
        program: PathBuf,
        settings: impl FnOnce(&Path) -> Settings,
    ) -> Result<Self, EngineError> {
        let data = TempDir::new().map_err(|source| EngineError::Data { source })?;
        let settings = settings(data.path());
        Ok(Self {
            process: run(&program, &settings, data.path())?,
            data,
            program,
            settings,
        })
    }

    pub(crate) fn addresses(&self) -> &Addresses {
        &self.settings.addresses
    }

    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    pub(crate) fn kill(&mut self) -> Result<(), EngineError> {
        self.process.kill().map_err(|source| EngineError::Start {
            program: self.program.clone(),
            source,
        })
    }

    pub(crate) fn revive(&mut self) -> Result<(), EngineError> {
        self.process = run(&self.program, &self.settings, self.data.path())?;
        Ok(())
    }

    /// Returns an error if the process has ended by itself.
    pub(crate) fn check(&mut self) -> Result<(), EngineError> {
        match self.process.ended() {
            Ok(Some(status)) => Err(EngineError::Ended {
                status,
                log: self.end_of_log(),
            }),
            _ => Ok(()),
        }
    }

    pub(crate) fn end_of_log(&self) -> String {
        let text = fs::read(log_of(self.data.path())).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

fn log_of(data: &Path) -> PathBuf {
    data.join("log")
}

fn run(program: &Path, settings: &Settings, data: &Path) -> Result<Process, EngineError> {
    let start = || {
        let output = File::options()
            .create(true)
            .append(true)
            .open(log_of(data))?;
        let mut command = Command::new(program);
        command.args(&settings.arguments);
        command.envs(settings.variables.iter().cloned());
        command.stdout(output.try_clone()?);
        command.stderr(output);
        Process::start(&mut command)
    };
    start().map_err(|source| EngineError::Start {
        program: program.to_owned(),
        source,
    })
}
