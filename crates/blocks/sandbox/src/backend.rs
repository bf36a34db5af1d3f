//! Which means of the system confine here.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    sync::OnceLock,
    thread,
};

use crate::{
    error::SandboxError,
    filter::{Filter, Shared},
    helper,
    kind::Backend,
    landlock,
    programs::{self, SYSTEM},
};

pub(crate) const NO_BWRAP: &str =
    "there is no program bwrap in a directory of the system, nor one on PATH that is safe to start";

impl Backend {
    /// The one that is asked for, or else the first that works here. What works is found out once.
    ///
    /// # Errors
    ///
    /// It does not work, or none does; or it needs a helper that this program is not.
    pub fn choose(asked: Option<Self>) -> Result<Self, SandboxError> {
        let backend = match asked {
            Some(backend) => {
                let works = backend.works();
                works.map_err(|reason| SandboxError::Backend { backend, reason })?;
                backend
            }
            None => match (Self::Bubblewrap.works(), Self::Landlock.works()) {
                (Ok(()), _) => Self::Bubblewrap,
                (_, Ok(())) => Self::Landlock,
                (Err(bubblewrap), Err(landlock)) => {
                    return Err(SandboxError::NoBackend {
                        bubblewrap,
                        landlock,
                    });
                }
            },
        };
        if backend == Self::Landlock {
            helper::program()?;
        }
        Ok(backend)
    }

    /// Whether it works on this machine, or why it does not. Found out once.
    ///
    /// # Errors
    ///
    /// Why it does not.
    pub fn works(self) -> Result<(), String> {
        static BUBBLEWRAP: OnceLock<Result<(), String>> = OnceLock::new();
        static LANDLOCK: OnceLock<Result<(), String>> = OnceLock::new();
        match self {
            Self::Bubblewrap => BUBBLEWRAP.get_or_init(try_bubblewrap).clone(),
            Self::Landlock => LANDLOCK
                .get_or_init(|| {
                    Filter::program(Filter::Closed).map_err(|error| error.to_string())?;
                    landlock::supported()
                })
                .clone(),
        }
    }
}

/// Where `bwrap` is. Found once.
pub(crate) fn bwrap() -> Option<&'static PathBuf> {
    static BWRAP: OnceLock<Option<PathBuf>> = OnceLock::new();
    BWRAP.get_or_init(|| programs::find("bwrap")).as_ref()
}

/// Where `prlimit` is. Found once.
pub(crate) fn prlimit() -> Option<&'static PathBuf> {
    static PRLIMIT: OnceLock<Option<PathBuf>> = OnceLock::new();
    PRLIMIT.get_or_init(|| programs::find("prlimit")).as_ref()
}

fn try_bubblewrap() -> Result<(), String> {
    let bwrap = bwrap().ok_or(NO_BWRAP)?;
    Filter::program(Filter::Closed).map_err(|error| error.to_string())?;
    // As it is used: behind the filter, which lets a program gain no privileges, and without variables.
    let attempt = move || {
        Filter::Closed
            .apply(Shared::Own)
            .map_err(|error| error.to_string())?;
        let mut command = Command::new(bwrap);
        command
            .args([
                "--ro-bind",
                "/",
                "/",
                "--proc",
                "/proc",
                "--unshare-pid",
                "--unshare-ipc",
            ])
            .args(["--cap-drop", "ALL", "--die-with-parent", "true"])
            .env_clear()
            .env("PATH", SYSTEM.join(":"))
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command.output().map_err(|error| error.to_string())
    };
    // A filter holds for its thread for good.
    let tried = thread::spawn(attempt).join();
    let tried = tried.map_err(|_| "bwrap could not be tried".to_owned())??;
    if tried.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&tried.stderr);
    Err(said.lines().next().unwrap_or("bwrap failed").to_owned())
}
