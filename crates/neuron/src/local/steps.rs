//! A local run that its caller executes step by step.

use std::{fmt, marker::PhantomData, sync::Arc};

use neuron_context::Strategy;
#[cfg(feature = "local")]
use neuron_local::JournaledContext;
use neuron_local::LocalDurableContext;
use neuron_loop::{AgentLoop, MachineError, TurnResult};
use neuron_types::{DurableContext as _, DurableError, Message, RunId, RunOutput, RunStart};
use neuron_workflows::{agent_loop, begin};

#[cfg(feature = "local")]
use super::below::BelowTask;
use crate::run::{Finished, RunFailure};

/// A local run that its caller executes step by step, made by [`AgentOn::steps`](crate::AgentOn::steps).
///
/// The runs that it starts, those of sub-agents, are executed beside it, also between two steps. They end when this is
/// dropped, and in a journal resume with the run.
///
/// The caller's changes between two steps are not journaled: in a journal make such changes deterministic, since a
/// resumed run repeats them.
pub struct Steps<O = String> {
    run: Stepped,
    run_id: RunId,
    output: Option<RunOutput>,
    types: PhantomData<fn() -> O>,
}

enum Stepped {
    Memory(Box<AgentLoop<LocalDurableContext, Strategy>>),
    #[cfg(feature = "local")]
    Journal(
        Box<AgentLoop<JournaledContext, Strategy>>,
        /// Executes the runs below it, if it can start any.
        Option<BelowTask>,
    ),
    /// The run ended before it began, with this output, until that is returned.
    Over(Option<Box<RunOutput>>),
}

impl Stepped {
    fn over(output: RunOutput) -> Self {
        Self::Over(Some(Box::new(output)))
    }
}

fn stuck(run_id: &RunId, error: impl Into<Arc<DurableError>>) -> RunFailure {
    RunFailure::Stuck {
        run_id: run_id.clone(),
        source: error.into(),
    }
}

impl<O> Steps<O> {
    pub(crate) async fn in_memory(
        door: LocalDurableContext,
        start: RunStart,
    ) -> Result<Self, RunFailure> {
        let run_id = door.run_id().clone();
        let agent = start.agent().to_owned();
        let run = match begin(&door, start).await {
            Ok(start) => agent_loop(door, start)
                .await
                .map(|run| Stepped::Memory(Box::new(run))),
            Err(error) => door.end_with(&agent, error).await.map(Stepped::over),
        };
        let run = run.map_err(|error| stuck(&run_id, error))?;
        Ok(Self::of(run, run_id))
    }

    #[cfg(feature = "local")]
    pub(crate) async fn in_journal(
        door: JournaledContext,
        below: Option<BelowTask>,
    ) -> Result<Self, RunFailure> {
        let run_id = door.run_id().clone();
        let start = door.run_start().await?;
        let run = match begin(&door, start).await {
            Ok(start) => agent_loop(door, start)
                .await
                .map(|run| Stepped::Journal(Box::new(run), below)),
            Err(error) => door.end_with(error).await.map(Stepped::over),
        };
        let run = run.map_err(|error| stuck(&run_id, error))?;
        Ok(Self::of(run, run_id))
    }

    const fn of(run: Stepped, run_id: RunId) -> Self {
        Self {
            run,
            run_id,
            output: None,
            types: PhantomData,
        }
    }

    /// Executes the run to its next result: a tool call that was made, a conversation that was made smaller, or the
    /// end. Returns `None` after the end.
    ///
    /// # Errors
    ///
    /// [`RunFailure::Stuck`]: the run cannot continue here. In a journal it can be resumed.
    pub async fn next(&mut self) -> Option<Result<TurnResult, RunFailure>> {
        if self.output.is_some() {
            return None;
        }
        let result = match &mut self.run {
            Stepped::Memory(run) => run.run_step().next().await?,
            #[cfg(feature = "local")]
            Stepped::Journal(run, None) => run.run_step().next().await?,
            #[cfg(feature = "local")]
            Stepped::Journal(run, Some(below)) => match below.beside(run.run_step().next()).await {
                Ok(result) => result?,
                Err(error) => return Some(Err(stuck(&self.run_id, error))),
            },
            Stepped::Over(output) => Ok(TurnResult::Ended(output.take()?)),
        };
        Some(match result {
            Ok(TurnResult::Ended(output)) => self.end(output).await,
            Ok(other) => Ok(other),
            Err(error) => Err(stuck(&self.run_id, error)),
        })
    }

    async fn end(&mut self, output: Box<RunOutput>) -> Result<TurnResult, RunFailure> {
        match &mut self.run {
            Stepped::Memory(run) => {
                run.door().finish().await;
                run.door().ended_below().await;
            }
            #[cfg(feature = "local")]
            Stepped::Journal(run, below) => {
                let finished = run.door().finish(&output).await;
                finished.map_err(|error| stuck(&self.run_id, error))?;
                if let Some(below) = below {
                    let ended = below.end().await;
                    ended.map_err(|error| stuck(&self.run_id, error))?;
                }
            }
            Stepped::Over(_) => {}
        }
        self.output = Some(RunOutput::clone(&output));
        Ok(TurnResult::Ended(output))
    }

    /// Returns the conversation so far.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        match &self.run {
            Stepped::Memory(run) => run.machine().messages(),
            #[cfg(feature = "local")]
            Stepped::Journal(run, _) => run.machine().messages(),
            Stepped::Over(_) => &[],
        }
    }

    /// Adds a message before the next turn.
    ///
    /// # Errors
    ///
    /// [`MachineError::Unexpected`] while calls of a turn are unanswered, or a person is asked about an answer.
    pub fn inject(&mut self, message: Message) -> Result<(), MachineError> {
        match &mut self.run {
            Stepped::Memory(run) => run.run_step().inject_message(message),
            #[cfg(feature = "local")]
            Stepped::Journal(run, _) => run.run_step().inject_message(message),
            Stepped::Over(_) => Err(MachineError::Unexpected {
                action: "end",
                observation: "a message",
            }),
        }
    }

    /// Returns the result of the run, after its last step.
    ///
    /// # Errors
    ///
    /// [`RunFailure::NotOver`] before that.
    pub fn finished(&self) -> Result<Finished<O>, RunFailure> {
        let output = self.output.clone().ok_or_else(|| RunFailure::NotOver {
            run_id: self.run_id.clone(),
            state: neuron_types::RunPhase::Running,
        })?;
        Ok(Finished::new(output))
    }
}

impl<O> fmt::Debug for Steps<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steps")
            .field("run_id", &self.run_id)
            .field("output", &self.output)
            .finish_non_exhaustive()
    }
}
