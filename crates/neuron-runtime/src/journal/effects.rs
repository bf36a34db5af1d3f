//! Steps: replayed if the journal has them, else performed and journaled.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;
use neuron_types::{ActivityOptions, DurableError, StepFailure, ToolEffects};

use super::{
    JournaledContext,
    column::{later, remaining, wall_clock},
    core::Core,
    request::Request,
    steps::{self, Asked, Progress, Recorded},
    supervise::supervise,
};
use crate::{
    attempts::{AttemptLog, Attempts},
    local::no_options,
    retry::lost_write,
};

/// One call of a batch.
struct Step<'a, E> {
    effect: &'a E,
    options: &'a ActivityOptions,
    asked: Asked,
    progress: Option<Progress>,
}

impl JournaledContext {
    /// Performs the steps concurrently; one commit each, as they finish.
    pub(crate) async fn steps<E: Request>(
        &self,
        effects: &[E],
        options: &[ActivityOptions],
    ) -> Vec<Result<E::Output, DurableError>> {
        if effects.len() != options.len() {
            return effects.iter().map(|_| Err(no_options().into())).collect();
        }
        match self.prepare(effects, options).await {
            Ok((steps, verdict)) => {
                let each = steps.into_iter().map(|step| self.step(step, &verdict));
                supervise(&self.core, join_all(each)).await
            }
            Err(error) => repeat(error, effects.len()),
        }
    }

    /// Reads what the journal has of the steps, and readies what is to be performed: hooks are told what
    /// led to it, and the start of writes is journaled.
    async fn prepare<'a, E: Request>(
        &self,
        effects: &'a [E],
        options: &'a [ActivityOptions],
    ) -> Result<(Vec<Step<'a, E>>, Result<(), StepFailure>), DurableError> {
        let core = &self.core;
        let ops = core.next_ops(effects.len());
        let last = ops.end - 1;
        let recorded = core.recall(ops.clone()).await?;
        let mut steps = Vec::with_capacity(effects.len());
        for (((effect, options), op), recorded) in
            effects.iter().zip(options).zip(ops).zip(recorded)
        {
            let asked = effect.asked(op, options.step);
            let progress = matching(&asked, recorded)?;
            let is_done = matches!(progress, Some(Progress::Done { .. }));
            if !is_done && last < core.last_recorded {
                return Err(left_out(&asked));
            }
            steps.push(Step {
                effect,
                options,
                asked,
                progress,
            });
        }
        let has_news = steps
            .iter()
            .any(|step| matches!(step.progress, None | Some(Progress::Due { .. })));
        let mut verdict = Ok(());
        if has_news && core.stop.error().is_none() {
            verdict = self.observe().await;
            if verdict.is_ok() {
                self.start_writes(&steps).await?;
            }
        }
        Ok((steps, verdict))
    }

    /// A write that has no row in the journal has not been started.
    async fn start_writes<E>(&self, steps: &[Step<'_, E>]) -> Result<(), DurableError> {
        let writes: Vec<Asked> = steps
            .iter()
            .filter(|step| step.options.effects == ToolEffects::Write && step.progress.is_none())
            .map(|step| step.asked.clone())
            .collect();
        if writes.is_empty() || self.core.stop.error().is_some() {
            return Ok(());
        }
        let start = move |transaction: &rusqlite::Transaction<'_>, run| {
            for asked in &writes {
                steps::begin(transaction, run, asked, None)?;
                steps::attempt(transaction, run, asked.op, 1, wall_clock(), None)?;
            }
            Ok(())
        };
        Ok(self.core.commit(start).await?)
    }

    async fn step<E: Request>(
        &self,
        step: Step<'_, E>,
        verdict: &Result<(), StepFailure>,
    ) -> Result<E::Output, DurableError> {
        let Step {
            effect,
            options,
            asked,
            progress,
        } = step;
        let core = &self.core;
        if let Some(Progress::Done { result, at }) = progress {
            core.consumed_result(at, result.len());
            let result: Result<E::Output, StepFailure> =
                serde_json::from_str(&result).map_err(DurableError::engine)?;
            return Ok(result?);
        }
        core.stop.check()?;
        let result = match (&progress, verdict) {
            (Some(Progress::Lost), _) => Err(lost_write()),
            (_, Err(failure)) => Err(failure.clone()),
            (_, Ok(())) => {
                let (first, delay) = next_attempt(progress.as_ref());
                let attempts = Attempts {
                    executor: &self.executor,
                    run_id: &core.run_id,
                    options,
                    cancellation: core.stop.token(),
                    sink: self.sink.as_ref(),
                    log: StepLog {
                        core,
                        asked: &asked,
                    },
                };
                let result = attempts.make(effect, first, delay).await?;
                if let (Err(_), Some(stopped)) = (&result, core.stop.error()) {
                    return Err(stopped);
                }
                result
            }
        };
        let written = serde_json::to_string(&result).map_err(DurableError::engine)?;
        core.record(asked, written, None).await?;
        Ok(result?)
    }

    /// Tells the hooks the events that they have not been told yet.
    pub(crate) async fn observe(&self) -> Result<(), StepFailure> {
        let events = self.core.take_unobserved();
        if events.is_empty() {
            return Ok(());
        }
        let verdict = self.executor.observe(&self.core.run_id, &events);
        tokio::select! {
            biased;
            verdict = verdict => verdict,
            // Whoever asked finds that the run was stopped.
            () = self.core.stop.token().cancelled() => Ok(()),
        }
    }
}

/// Where the attempts of a step go on, and after how long.
fn next_attempt(progress: Option<&Progress>) -> (u32, Duration) {
    match progress {
        Some(Progress::Due { attempts, due_at }) => (
            attempts.saturating_add(1),
            due_at.map(remaining).unwrap_or_default(),
        ),
        _ => (1, Duration::ZERO),
    }
}

struct StepLog<'a> {
    core: &'a Arc<Core>,
    asked: &'a Asked,
}

impl AttemptLog for StepLog<'_> {
    async fn failed(
        &self,
        attempt: u32,
        failure: &StepFailure,
        delay: Duration,
    ) -> Result<(), DurableError> {
        let (asked, failure) = (self.asked.clone(), failure.clone());
        let keep = move |transaction: &rusqlite::Transaction<'_>, run| {
            let at = wall_clock();
            steps::begin(transaction, run, &asked, Some(later(at, delay)))?;
            steps::attempt(transaction, run, asked.op, attempt, at, Some(&failure))
        };
        Ok(self.core.commit(keep).await?)
    }
}

/// What the journal has of this operation, if it is this operation.
pub(crate) fn matching(
    asked: &Asked,
    recorded: Option<Recorded>,
) -> Result<Option<Progress>, DurableError> {
    match recorded {
        None => Ok(None),
        Some(recorded) if recorded.fingerprint == asked.fingerprint => Ok(Some(recorded.progress)),
        Some(recorded) => Err(misfit(asked, recorded.fingerprint)),
    }
}

/// The journal goes on behind an operation that it does not have.
pub(crate) fn left_out(asked: &Asked) -> DurableError {
    misfit(asked, "no result of it but later steps".to_owned())
}

fn misfit(asked: &Asked, recorded: String) -> DurableError {
    DurableError::NonDeterminism {
        step: format!("{} (operation {})", asked.label, asked.op),
        recorded,
        requested: asked.fingerprint.clone(),
    }
}

/// The same error for every call of a batch.
fn repeat<T>(error: DurableError, count: usize) -> Vec<Result<T, DurableError>> {
    let copies: Vec<_> = (1..count).map(|_| Err(copy(&error))).collect();
    let first = (count > 0).then_some(Err(error));
    first.into_iter().chain(copies).collect()
}

fn copy(error: &DurableError) -> DurableError {
    match error {
        DurableError::Step(failure) => failure.clone().into(),
        DurableError::Cancelled { reason } => DurableError::Cancelled {
            reason: reason.clone(),
        },
        DurableError::Suspended => DurableError::Suspended,
        DurableError::NonDeterminism {
            step,
            recorded,
            requested,
        } => DurableError::NonDeterminism {
            step: step.clone(),
            recorded: recorded.clone(),
            requested: requested.clone(),
        },
        other => DurableError::engine(other.to_string()),
    }
}
