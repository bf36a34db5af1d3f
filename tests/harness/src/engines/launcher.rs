//! The ways to get an engine.

use std::{env, path::PathBuf};

use crate::{EngineError, fetched::fetched};

/// An engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Temporal's dev server.
    Temporal,
    /// Restate's server.
    Restate,
}

/// The addresses at which an engine's server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// Temporal's frontend as `host:port`, or the URL of Restate's ingress.
    pub main: String,
    /// The URL of Temporal's HTTP API or of Restate's admin API.
    pub http: String,
}

/// The way in which a test gets a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Launcher {
    /// This program is started, on free ports and with data of its own.
    Native(PathBuf),
    /// This image is run by Docker on the network of this machine, on free ports and with data of its own.
    #[cfg(feature = "docker")]
    Docker(String),
    /// A running server that was started elsewhere. It is neither killed nor restarted.
    External(Addresses),
}

impl Engine {
    /// Returns the name of the engine's program, in [`Launcher::find`] and in `cargo xtask engines`.
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Temporal => "temporal",
            Self::Restate => "restate-server",
        }
    }

    const fn variables(self) -> [&'static str; 4] {
        match self {
            Self::Temporal => [
                "NEURON_TEMPORAL",
                "NEURON_TEMPORAL_IMAGE",
                "NEURON_TEMPORAL_ADDRESS",
                "NEURON_TEMPORAL_HTTP",
            ],
            Self::Restate => [
                "NEURON_RESTATE",
                "NEURON_RESTATE_IMAGE",
                "NEURON_RESTATE_INGRESS",
                "NEURON_RESTATE_ADMIN",
            ],
        }
    }
}

impl Launcher {
    /// Returns the launcher that the environment names.
    ///
    /// | Variable | Means |
    /// | --- | --- |
    /// | `NEURON_TEMPORAL_ADDRESS` and `NEURON_TEMPORAL_HTTP` | a server that runs: `host:port`, and its HTTP API's URL |
    /// | `NEURON_TEMPORAL_IMAGE` | the image to run: `temporalio/temporal:TAG` |
    /// | `NEURON_TEMPORAL` | the program to start |
    /// | `NEURON_RESTATE_INGRESS` and `NEURON_RESTATE_ADMIN` | a server that runs: both URLs |
    /// | `NEURON_RESTATE_IMAGE` | the image to run: `restatedev/restate:TAG` |
    /// | `NEURON_RESTATE` | the program to start |
    ///
    /// The first one that is set applies. An image needs the feature `docker`. Without any of them the program that
    /// `cargo xtask engines` fetches is started.
    ///
    /// # Errors
    ///
    /// [`EngineError::NoProgram`] if no program was fetched, [`EngineError::NoDocker`] for an image without the
    /// feature.
    pub fn find(engine: Engine) -> Result<Self, EngineError> {
        let [program, image, main, http] = engine.variables().map(env::var_os);
        let text = |value: std::ffi::OsString| value.into_string().ok();
        if let (Some(main), Some(http)) = (main.and_then(text), http.and_then(text)) {
            return Ok(Self::External(Addresses { main, http }));
        }
        if let Some(image) = image.and_then(text) {
            return docker(engine, image);
        }
        match program {
            Some(path) => Ok(Self::Native(path.into())),
            None => fetch(engine).map(Self::Native),
        }
    }
}

#[cfg(feature = "docker")]
fn docker(_: Engine, image: String) -> Result<Launcher, EngineError> {
    Ok(Launcher::Docker(image))
}

#[cfg(not(feature = "docker"))]
fn docker(engine: Engine, _: String) -> Result<Launcher, EngineError> {
    let [program, variable, ..] = engine.variables();
    Err(EngineError::NoDocker { variable, program })
}

fn fetch(engine: Engine) -> Result<PathBuf, EngineError> {
    let name = engine.program();
    fetched(name).map_err(|why| EngineError::NoProgram {
        name,
        variable: engine.variables()[0],
        why,
    })
}
