//! Running a custom workflow from its start to its end.

use neuron_types::{DurableContext, DurableError, ExitReason, RunEvent, RunOutput, RunStart};
use serde::de::Error as _;

use crate::{
    begin, not_begun,
    parent::{parent_of, tell_parent},
};

use super::{
    door::Door,
    text::{from_text, to_text},
    workflow::Workflow,
    workflow_error::WorkflowError,
};

/// Runs a custom workflow to its end. A run that failed or was cancelled has an output too, with that reason as its
/// `exit_reason`. Runs that it started and that are still open when it ends are cancelled, however it ends.
///
/// # Errors
///
/// As [`agent`](crate::agent); [`DurableError::Engine`] for a run that continued as new, which such a workflow does
/// not do.
pub async fn run<W: Workflow, D: DurableContext>(
    door: D,
    start: impl Into<RunStart>,
) -> Result<RunOutput, DurableError> {
    let start = start.into();
    let parent = parent_of(&start);
    let ended = run_to_its_end::<W, &D>(&door, start).await;
    tell_parent(&door, parent, ended).await
}

/// Runs a workflow as [`run`] does, or the agent of a run that a workflow has started: for programs in which the same
/// function executes all runs of a tree.
///
/// # Errors
///
/// As [`run`].
pub async fn run_of_tree<W: Workflow, D: DurableContext>(
    door: D,
    start: RunStart,
) -> Result<RunOutput, DurableError> {
    if start.agent() == W::NAME {
        run::<W, D>(door, start).await
    } else {
        crate::agent(door, start).await
    }
}

async fn run_to_its_end<W: Workflow, D: DurableContext>(
    door: D,
    start: RunStart,
) -> Result<RunOutput, DurableError> {
    let input = match begin(&door, start).await? {
        RunStart::New(input) => input,
        RunStart::Request { .. } => return Err(not_begun()),
        RunStart::Continued(_) => {
            let text = format!("the workflow {} does not continue as new", W::NAME);
            return Err(DurableError::engine(text));
        }
    };
    let prompt = input.prompt.text();
    let nonce = door.uuid();
    let door = Door::new(door, &input.agent, input.parent);
    door.record(RunEvent::RunStarted {
        agent: input.agent.name.clone(),
        model: String::new(),
        prompt: prompt.clone(),
        definition: input.agent.fingerprint(),
        tags: input.tags,
        nonce: Some(nonce),
        trace: input.trace,
        directory: input.directory,
        signed: input.agent.signed,
    });
    let ended = match input.rejected {
        Some(rejected) => Err(WorkflowError::Rejected(rejected)),
        None => outcome::<W, D>(&door, &prompt, input.mismatch).await,
    };
    let (exit_reason, output, error) = match ended {
        Ok(output) => (ExitReason::Complete, Some(output), None),
        Err(error) => {
            let (exit_reason, error) = error.end()?;
            let said = door.turns().status.last_message.clone();
            (exit_reason, said, Some(error))
        }
    };
    door.record(RunEvent::RunEnded {
        exit_reason,
        output,
        error,
        pools: None,
    });
    door.cancel_children().await?;
    let output = door.turns().status.output(Some(exit_reason));
    Ok(output)
}

async fn outcome<W: Workflow, D: DurableContext>(
    door: &Door<D>,
    prompt: &str,
    mismatch: Option<String>,
) -> Result<String, WorkflowError> {
    if let Some(reason) = mismatch {
        return Err(WorkflowError::Input(serde_json::Error::custom(reason)));
    }
    let input = from_text(prompt).map_err(WorkflowError::Input)?;
    let output = W::run(door, input).await?;
    to_text(&output).map_err(WorkflowError::Output)
}
