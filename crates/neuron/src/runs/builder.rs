//! Connects to the runs on one of the engines.

#[cfg(feature = "local")]
use std::path::PathBuf;

use neuron_engine::RunClientError;

use super::Runs;
#[cfg(feature = "local")]
use crate::worker::HOME;
use crate::{EngineKind, worker::QUEUE};

/// The builder of [`Runs`], made by [`Runs::on`]. Settings of other engines than the runs' are ignored, so that a program
/// sets them all and chooses the engine when it starts.
#[derive(Debug, Clone)]
#[must_use]
pub struct RunsBuilder {
    kind: EngineKind,
    queue: String,
    #[cfg(feature = "local")]
    home: PathBuf,
    #[cfg(feature = "local")]
    directory: Option<PathBuf>,
}

impl Runs {
    /// Starts connecting to the runs on this engine: for a program that starts and follows runs, and serves none.
    ///
    /// ```no_run
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use neuron::prelude::*;
    ///
    /// let engine: EngineKind = std::env::args().nth(1).as_deref().unwrap_or("local").parse()?;
    /// let runs = Runs::on(engine).task_queue("reports").connect().await?;
    /// let run = runs.agent::<str, String>("analyst").start("q3", "How many rows are there?").await?;
    /// println!("{}", run.result().await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on(engine: EngineKind) -> RunsBuilder {
        RunsBuilder {
            kind: engine,
            queue: QUEUE.to_owned(),
            #[cfg(feature = "local")]
            home: HOME.into(),
            #[cfg(feature = "local")]
            directory: None,
        }
    }
}

impl RunsBuilder {
    /// Sets the task queue on Temporal and the prefix of the services' names on Restate: that of the workers. Default is
    /// `neuron`. For local runs it has no meaning.
    pub fn task_queue(mut self, name: impl Into<String>) -> Self {
        self.queue = name.into();
        self
    }

    /// Sets the folder with the journal of local runs. Default is `.neuron` in the working directory. The first run that
    /// is started creates the journal if it is missing.
    #[cfg(feature = "local")]
    pub fn home(mut self, folder: impl Into<PathBuf>) -> Self {
        self.home = folder.into();
        self
    }

    /// Sets the directory that the local runs which are started here name. The command `neuron worker` executes them
    /// there, and leaves a run that names none; a [`Worker`](crate::Worker) has the directory of its agent. Default is
    /// no directory.
    #[cfg(feature = "local")]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Connects. The server is the one that the environment names, as the engine's own tools read it. On Restate and in
    /// a journal, the first request shows whether the runs can be reached.
    ///
    /// # Errors
    ///
    /// [`RunClientError::Unreachable`] if Temporal does not answer, [`RunClientError::Settings`] if a setting cannot be
    /// used, such as a task queue that is no name for services in Restate.
    #[cfg_attr(
        not(feature = "temporal"),
        expect(clippy::unused_async, reason = "only Temporal is asked at once")
    )]
    pub async fn connect(self) -> Result<Runs, RunClientError> {
        match self.kind {
            #[cfg(feature = "local")]
            EngineKind::Local => Ok(self.local()),
            #[cfg(feature = "temporal")]
            EngineKind::Temporal => {
                let client = crate::temporal::Client::connect().await?;
                Ok(Runs::from(client.task_queue(self.queue)))
            }
            #[cfg(feature = "restate")]
            EngineKind::Restate => self.restate(),
        }
    }

    #[cfg(feature = "local")]
    fn local(self) -> Runs {
        use std::sync::Arc;

        use neuron_engine::RunClient;
        use neuron_local::LocalClient;

        let client = LocalClient::new(self.home);
        let client = match self.directory {
            Some(directory) => client.with_directory(directory),
            None => client,
        };
        let client: Arc<dyn RunClient> = Arc::new(client);
        Runs::from(client)
    }

    #[cfg(feature = "restate")]
    fn restate(self) -> Result<Runs, RunClientError> {
        use neuron_restate::{RestateClient, ServerAddress, ServiceNames};

        let names = ServiceNames::new(self.queue).map_err(|error| RunClientError::Settings {
            engine: self.kind.name(),
            source: error.into(),
        })?;
        let server = ServerAddress::from_environment(|name| std::env::var(name).ok());
        let client = RestateClient::new(server, names)?;
        Ok(Runs::from(crate::restate::Client::from(client)))
    }
}
