//! Where local runs are: in memory or in a journal.

#[cfg(feature = "local")]
use std::path::PathBuf;
use std::{fmt, path::Path, sync::Arc};

#[cfg(feature = "local")]
use neuron_engine::RunClient;
use neuron_types::{RunId, RunRequest};

#[cfg(feature = "local")]
use super::home::{Home, Recovered};
use super::{Steps, memory};
#[cfg(feature = "local")]
use crate::agent::AnyAgent;
use crate::{
    agent::Parts,
    place::{Engine, StartFuture},
    run::RunFailure,
};

/// Runs of this process: in memory, where nothing survives the process, or in a journal in a home directory, where
/// every step does. Cheap to clone.
#[derive(Clone)]
pub struct Local {
    kept: Kept,
}

#[derive(Clone)]
enum Kept {
    Nowhere,
    #[cfg(feature = "local")]
    Journal(Arc<Home>),
}

impl Local {
    /// Returns a place that keeps nothing: a run ends with its process.
    #[must_use]
    pub const fn memory() -> Self {
        Self {
            kept: Kept::Nowhere,
        }
    }

    /// Opens the journal in this home directory, and creates both if they are missing. The built-in tools and the
    /// programs of MCP servers in this process cannot reach the directory, unless they work in it.
    ///
    /// # Errors
    ///
    /// [`RunFailure::Client`] if the directory or the database cannot be used, or belongs to another build.
    #[cfg(feature = "local")]
    pub async fn open(home: impl Into<PathBuf>) -> Result<Self, RunFailure> {
        Ok(Self::from(neuron_local::Journal::open(home).await?))
    }

    /// Resumes every run of these agents that is not over and that no process executes: the runs that a killed process
    /// left behind. They continue in this process, as long as this value or a clone of it lives.
    ///
    /// Runs of other agents stay as they are, and so do runs that work in another directory than the agent's tools do here. In
    /// memory nothing can be resumed.
    ///
    /// # Errors
    ///
    /// [`RunFailure::Client`] if the journal cannot be read. A run that cannot be resumed, because another process was
    /// faster or its build is too new, is left out.
    #[cfg(feature = "local")]
    pub async fn recover(&self, agents: &[&dyn AnyAgent]) -> Result<Vec<Recovered>, RunFailure> {
        match &self.kept {
            Kept::Nowhere => Ok(Vec::new()),
            Kept::Journal(home) => home.recover(agents).await,
        }
    }

    /// Resumes a run for a caller that executes it step by step.
    pub(crate) async fn steps<O>(
        &self,
        agent: &Arc<Parts>,
        run_id: RunId,
        request: RunRequest,
    ) -> Result<Steps<O>, RunFailure> {
        match &self.kept {
            Kept::Nowhere => {
                let door = memory::door(agent, run_id).with_workflow_below(memory::workflow(agent));
                Steps::in_memory(door, memory::start_of(agent, request)).await
            }
            #[cfg(feature = "local")]
            Kept::Journal(home) => home.steps(agent, run_id, request).await,
        }
    }

    /// Returns the client of the runs here, which also reaches runs that other processes execute; `None` in memory.
    #[cfg(feature = "local")]
    #[must_use]
    pub fn client(&self) -> Option<Arc<dyn RunClient>> {
        match &self.kept {
            Kept::Nowhere => None,
            Kept::Journal(home) => Some(home.client()),
        }
    }
}

#[cfg(feature = "local")]
impl From<neuron_local::Journal> for Local {
    fn from(journal: neuron_local::Journal) -> Self {
        Self {
            kept: Kept::Journal(Arc::new(Home::of(journal))),
        }
    }
}

impl Engine for Local {
    fn start_run<'a>(
        &'a self,
        agent: &'a Arc<Parts>,
        run_id: RunId,
        request: RunRequest,
    ) -> StartFuture<'a> {
        Box::pin(async move {
            match &self.kept {
                Kept::Nowhere => Ok(memory::start(agent, run_id, request)),
                #[cfg(feature = "local")]
                Kept::Journal(home) => home.start(agent, run_id, request).await,
            }
        })
    }
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let home = match &self.kept {
            Kept::Nowhere => None::<&Path>,
            #[cfg(feature = "local")]
            Kept::Journal(home) => Some(home.path()),
        };
        f.debug_struct("Local").field("home", &home).finish()
    }
}
