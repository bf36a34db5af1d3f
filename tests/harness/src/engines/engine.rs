//! Engine servers for tests.

use std::{
    path::Path,
    sync::{Arc, Weak},
    time::Duration,
};

use neuron_patience::patience;
use tokio::{sync::Mutex, time::Instant};

use super::{engine_settings::Settings, native::Native};
use crate::{Addresses, Engine, EngineError, Launcher, http, ports::free_ports};

const BETWEEN_LOOKS: Duration = Duration::from_millis(25); // Between two looks.

/// A server that is starting may accept a request and never answer it: the request is repeated after this time.
const SILENCE: Duration = Duration::from_secs(2); // It is asked again, as often as it takes.

/// Another process may have taken a port that was free a moment before.
const TRIES: u32 = 3;

/// A Temporal or Restate server that a test uses.
///
/// A server that is started here listens on free ports of this machine, keeps its data until it is dropped, and is
/// killed then. Temporal's takes as many steps a second as it can, where the dev server's default is 20, and begins a
/// run's next history at once, where the default is a second after the one before.
#[derive(Debug)]
pub struct EngineServer {
    engine: Engine,
    addresses: Addresses,
    runs: Runs,
}

/// The process or container of a server.
#[derive(Debug)]
enum Runs {
    Native(Native),
    #[cfg(feature = "docker")]
    Docker(Box<super::docker::Container>),
    Elsewhere,
}

/// A server that the tests of this process share.
type Shared = Mutex<Weak<EngineServer>>;

static TEMPORAL: Shared = Mutex::const_new(Weak::new());
static RESTATE: Shared = Mutex::const_new(Weak::new());

impl EngineServer {
    /// Starts the engine that the environment names: see [`Launcher::find`].
    ///
    /// # Errors
    ///
    /// The errors of [`start`](Self::start), or if the program is missing.
    pub async fn find(engine: Engine) -> Result<Self, EngineError> {
        Self::start(engine, Launcher::find(engine)?).await
    }

    /// Returns the server that the tests of this process share. It ends when the last of them drops it.
    ///
    /// # Errors
    ///
    /// The errors of [`find`](Self::find).
    pub async fn shared(engine: Engine) -> Result<Arc<Self>, EngineError> {
        let shared = match engine {
            Engine::Temporal => &TEMPORAL,
            Engine::Restate => &RESTATE,
        };
        let mut shared = shared.lock().await;
        if let Some(server) = shared.upgrade() {
            return Ok(server);
        }
        let server = Arc::new(Self::find(engine).await?);
        *shared = Arc::downgrade(&server);
        Ok(server)
    }

    /// Starts the engine that the environment names, with additional variables.
    ///
    /// # Errors
    ///
    /// The errors of [`find`](Self::find), or [`EngineError::External`] if the environment names a running server.
    pub async fn find_with(
        engine: Engine,
        variables: &[(&str, &str)],
    ) -> Result<Self, EngineError> {
        match Launcher::find(engine)? {
            Launcher::External(_) => Err(EngineError::External),
            launcher => Self::start_with(engine, launcher, variables).await,
        }
    }

    /// Starts a server and waits until it answers.
    ///
    /// # Errors
    ///
    /// [`EngineError`] if it cannot be started or does not answer within [`patience`].
    pub async fn start(engine: Engine, launcher: Launcher) -> Result<Self, EngineError> {
        Self::start_with(engine, launcher, &[]).await
    }

    async fn start_with(
        engine: Engine,
        launcher: Launcher,
        variables: &[(&str, &str)],
    ) -> Result<Self, EngineError> {
        let variables: Vec<_> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let mut tries = 1;
        loop {
            let started = Self::start_once(engine, launcher.clone(), &variables).await;
            match started {
                Err(EngineError::Ended { .. }) if tries < TRIES => tries += 1,
                started => return started,
            }
        }
    }

    async fn start_once(
        engine: Engine,
        launcher: Launcher,
        variables: &[(String, String)],
    ) -> Result<Self, EngineError> {
        let ports = || free_ports().map_err(|source| EngineError::Data { source });
        let (addresses, runs) = match launcher {
            Launcher::External(addresses) => (addresses, Runs::Elsewhere),
            Launcher::Native(program) => {
                let ports = ports()?;
                let settings = |data: &Path| Settings::of(engine, data, ports).with(variables);
                let native = Native::start(program, settings)?;
                (native.addresses().clone(), Runs::Native(native))
            }
            #[cfg(feature = "docker")]
            Launcher::Docker(image) => {
                let settings =
                    Settings::of(engine, super::docker::DATA.as_ref(), ports()?).with(variables);
                let addresses = settings.addresses.clone();
                let container = super::docker::Container::start(image, settings).await?;
                (addresses, Runs::Docker(Box::new(container)))
            }
        };
        let mut server = Self {
            engine,
            addresses,
            runs,
        };
        server.until_ready().await?;
        Ok(server)
    }

    /// Returns the addresses at which the server listens.
    #[must_use]
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Returns the folder of its data and its log; `None` if it is not on this machine.
    #[must_use]
    pub fn data(&self) -> Option<&Path> {
        match &self.runs {
            Runs::Native(native) => Some(native.data()),
            _ => None,
        }
    }

    /// Kills the server with `SIGKILL`, starts it again on the same data and ports, and waits until it answers.
    ///
    /// # Errors
    ///
    /// [`EngineError::External`] for a server that was not started here, or the errors of [`start`](Self::start).
    pub async fn restart(&mut self) -> Result<(), EngineError> {
        self.kill().await?;
        self.revive().await
    }

    /// Kills the server with `SIGKILL`.
    ///
    /// # Errors
    ///
    /// [`EngineError::External`] for a server that was not started here.
    pub async fn kill(&mut self) -> Result<(), EngineError> {
        match &mut self.runs {
            Runs::Native(native) => native.kill(),
            #[cfg(feature = "docker")]
            Runs::Docker(container) => container.kill().await,
            Runs::Elsewhere => Err(EngineError::External),
        }
    }

    /// Starts the server again after [`kill`](Self::kill), on the same data and ports, and waits until it answers.
    ///
    /// # Errors
    ///
    /// The errors of [`restart`](Self::restart).
    pub async fn revive(&mut self) -> Result<(), EngineError> {
        match &mut self.runs {
            Runs::Native(native) => native.revive()?,
            #[cfg(feature = "docker")]
            Runs::Docker(container) => container.revive().await?,
            Runs::Elsewhere => return Err(EngineError::External),
        }
        self.until_ready().await
    }

    async fn until_ready(&mut self) -> Result<(), EngineError> {
        let path = match self.engine {
            Engine::Temporal => "/api/v1/namespaces/default",
            Engine::Restate => "/health",
        };
        let deadline = Instant::now() + patience();
        while !gets(&self.addresses.http, path) {
            if let Runs::Native(native) = &mut self.runs {
                native.check()?;
            }
            if Instant::now() > deadline {
                let log = match &self.runs {
                    Runs::Native(native) => native.end_of_log(),
                    _ => String::new(),
                };
                return Err(EngineError::Silent { log });
            }
            tokio::time::sleep(BETWEEN_LOOKS).await; // Between two looks.
        }
        Ok(())
    }
}

/// Returns whether a plain GET succeeds.
fn gets(url: &str, path: &str) -> bool {
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    let answer = http::exchange(host, &format!("GET {path}"), "", Some(SILENCE));
    answer.is_ok_and(|answer| http::has_status(&answer, 200))
}
