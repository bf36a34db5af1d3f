//! The end of a run, as a signal to the run that started it.

use neuron_types::{
    ActivityOptions, ChildEnd, DurableContext, DurableError, Effect, ExitReason, FailureKind,
    Observed, Parent, RetryPolicy, RunError, RunOutput, RunSignal, RunStart, RunTags, Started,
    StepId, ToolEffects, signal, with_causes,
};

/// Returns the run that started the one which begins here, if one did.
pub(crate) fn parent_of(start: &RunStart) -> Option<Box<Parent>> {
    match start {
        RunStart::Request { request, .. } => request.parent.clone(),
        RunStart::New(input) => input.parent.clone(),
        RunStart::Continued(state) => state.tree.parent.clone(),
    }
}

/// Sends the result of this run to the run that started it, if this one has ended. Nothing is sent to a parent that is
/// gone.
///
/// # Errors
///
/// The error that the run ended with or is put away for, or the error that kept the door from sending.
pub(crate) async fn tell_parent<D: DurableContext>(
    door: &D,
    parent: Option<Box<Parent>>,
    ended: Result<RunOutput, DurableError>,
) -> Result<RunOutput, DurableError> {
    let end = parent.and_then(|parent| end_of(door, &parent, &ended).zip(Some(parent.run)));
    let Some((end, parent)) = end else {
        return ended;
    };
    let signal = RunSignal {
        run: parent,
        name: signal::CHILD.to_owned(),
        payload: serde_json::to_value(end).map_err(DurableError::engine)?,
    };
    let told = door.start(Started::step(Effect::Signal(Box::new(signal)), &options()));
    match door.next(&[told], &[]).await? {
        Observed::Ended(..) => ended,
        other => Err(other.unexpected()),
    }
}

fn end_of<D: DurableContext>(
    door: &D,
    parent: &Parent,
    ended: &Result<RunOutput, DurableError>,
) -> Option<ChildEnd> {
    let error = match ended {
        Ok(output) => return Some(ChildEnd::of(output, parent)),
        Err(error) => error,
    };
    let (exit_reason, kind) = match error {
        DurableError::Cancelled { .. } => (ExitReason::Cancelled, FailureKind::Cancelled),
        DurableError::Step(failure) => (ExitReason::Failed, failure.kind),
        DurableError::BadSignal { .. } => (ExitReason::Failed, FailureKind::Internal),
        _ => return None,
    };
    let message = with_causes(error);
    let error = RunError { kind, message };
    Some(ChildEnd::failed(
        door.run_id().clone(),
        parent,
        exit_reason,
        &error,
    ))
}

/// Returns the options of that step: it is retried until the parent has the signal, for a day.
fn options() -> ActivityOptions {
    ActivityOptions {
        step: StepId::TELL,
        effects: ToolEffects::Idempotent,
        retry_policy: RetryPolicy {
            maximum_attempts: 0,
            ..RetryPolicy::default()
        },
        ..ActivityOptions::of_beginning(&RunTags::default())
    }
}
