//! The result of a run.

use std::{any::TypeId, marker::PhantomData, sync::Arc};

use neuron_types::{ExitReason, RunOutput, RunPhase};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::RunFailure;

/// The result of a run.
#[derive(Debug, Clone)]
pub struct Finished<O = String> {
    output: RunOutput,
    value: PhantomData<fn() -> O>,
}

impl<O> Finished<O> {
    pub(crate) fn new(output: RunOutput) -> Self {
        Self {
            output,
            value: PhantomData,
        }
    }

    /// Returns everything that is known of the run: usage, cost, turns, why it ended.
    #[must_use]
    pub fn output(&self) -> &RunOutput {
        &self.output
    }

    /// Returns the answer's text.
    ///
    /// # Errors
    ///
    /// [`RunFailure::Ended`] if the run failed, was cancelled or met a limit; [`RunFailure::NotOver`] if it is parked.
    pub fn into_text(self) -> Result<String, RunFailure> {
        let output = self.output;
        match output.exit_reason {
            Some(ExitReason::Complete) => Ok(output.output.unwrap_or_default()),
            Some(exit_reason) => Err(RunFailure::Ended {
                run_id: output.run_id,
                exit_reason,
                error: output.error,
            }),
            None => Err(not_over(output)),
        }
    }
}

impl<O: DeserializeOwned + 'static> Finished<O> {
    /// Returns the answer's value: the text itself for a `String`, otherwise the text parsed as JSON.
    ///
    /// # Errors
    ///
    /// The errors of [`into_text`](Self::into_text); [`RunFailure::Output`] if the text is not of the requested type.
    pub fn into_value(self) -> Result<O, RunFailure> {
        let run_id = self.output.run_id.clone();
        let text = self.into_text()?;
        let value = if TypeId::of::<O>() == TypeId::of::<String>() {
            serde_json::from_value(Value::String(text))
        } else {
            serde_json::from_str(&text)
        };
        value.map_err(|source| RunFailure::Output {
            run_id,
            source: Arc::new(source),
        })
    }
}

fn not_over(output: RunOutput) -> RunFailure {
    let state = match output.state {
        state if state.is_final() => RunPhase::Running,
        state => state,
    };
    RunFailure::NotOver {
        run_id: output.run_id,
        state,
    }
}
