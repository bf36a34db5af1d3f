//! Several calls at once, as a loop makes them.

use neuron_types::{
    ActivityOptions, DurableContext, DurableError, Effect, End, FailureKind, Handle, Observed,
    Outcome, Step, ToolCall, ToolOutput,
};

/// Calls several tools side by side: `options[i]` belongs to `calls[i]`, and so does the result. All are started before any
/// is awaited. A run that is cancelled meanwhile gives up all of them, and waits for the writes that are in flight.
pub async fn execute_tools(
    door: &impl DurableContext,
    calls: &[ToolCall],
    options: &[ActivityOptions],
) -> Vec<Result<ToolOutput, DurableError>> {
    let steps = calls.iter().cloned().zip(options.iter().cloned());
    let steps = steps.map(|(call, options)| Step::new(Effect::Tool(call), options));
    let started: Vec<Handle> = steps.map(|step| door.start(step.into())).collect();
    let mut open = started.clone();
    let mut results = Vec::with_capacity(started.len());
    for handle in started {
        let mut ended = door.next(&[handle], &[]).await;
        if let Err(DurableError::Cancelled { .. }) = &ended {
            open.retain(|handle| door.leave(*handle));
            if open.contains(&handle) {
                ended = door.next(&[handle], &[]).await;
            }
        }
        open.retain(|other| *other != handle);
        results.push(match ended {
            Ok(Observed::Ended(_, End::Effect(Ok(Outcome::Tool(output))))) => Ok(output),
            Ok(Observed::Ended(_, End::Effect(Err(failure))))
                if failure.kind == FailureKind::Cancelled =>
            {
                // A call may end as cancelled by itself, in a run that goes on.
                Err(match door.poll(&[]).await {
                    Err(cancelled @ DurableError::Cancelled { .. }) => cancelled,
                    _ => failure.into(),
                })
            }
            Ok(Observed::Ended(_, End::Effect(Err(failure)))) => Err(failure.into()),
            Ok(other) => Err(other.unexpected()),
            Err(error) => Err(error),
        });
    }
    results
}
