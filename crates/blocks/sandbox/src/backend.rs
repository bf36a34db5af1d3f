//! Which means of the system confine here.

use std::{
    env, io,
    process::{Child, Stdio},
    sync::OnceLock,
};

use crate::{
    environment::Environment,
    error::SandboxError,
    filter::Filter,
    helper,
    kind::Backend,
    landlock,
    places::Places,
    plan::Plan,
    programs::bwrap,
    start::{Means, Words},
};

pub(crate) const NO_BWRAP: &str =
    "there is no program bwrap in a directory of the system, nor one on PATH that is safe to start";

impl Backend {
    /// Returns the back end that is asked for, or else the first that works here. What works is found out once.
    ///
    /// # Errors
    ///
    /// It does not work, or no back end does; or it needs a helper that this program is not.
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

    /// Checks whether it works on this machine, or why it does not. Found out once.
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

/// Starts a command with bubblewrap as all commands are: behind the filter, with which no program gets privileges of
/// its own, its options by a descriptor, and with the same means of the system.
fn try_bubblewrap() -> Result<(), String> {
    let bwrap = bwrap().ok_or(NO_BWRAP)?;
    let text = |error: io::Error| error.to_string();
    Filter::program(Filter::Closed).map_err(|error| error.to_string())?;
    let places = Places::get();
    let plan = Plan {
        read: places.read.clone(),
        links: places.links.clone(),
        temp: env::temp_dir().canonicalize().map_err(text)?,
        ..Plan::default()
    };
    let means = Means::Bubblewrap {
        bwrap: bwrap.clone(),
        plan: Box::new(plan),
        helper: helper::program().ok(),
    };
    let words = Words {
        program: "true".into(),
        args: Vec::new(),
        environment: Environment::inherited(&[]),
        cwd: "/tmp".into(),
    };
    let tried = means.start(&words, |mut command| {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
    });
    let tried = tried.and_then(Child::wait_with_output).map_err(text)?;
    if tried.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&tried.stderr);
    Err(said.lines().next().unwrap_or("bwrap failed").to_owned())
}
