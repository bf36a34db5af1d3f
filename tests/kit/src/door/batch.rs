//! Several calls at once, as a loop makes them.

use std::collections::VecDeque;

use neuron_types::{
    ActivityOptions, DurableContext, DurableError, Effect, End, FailureKind, Handle, Observed,
    Outcome, Step, ToolCall, ToolOutput,
};

/// Calls several tools side by side: `options[i]` belongs to `calls[i]`, and so does the result. All calls are started
/// before any is awaited. If the run is cancelled meanwhile, the writes in flight are asked to end, and are awaited.
pub async fn execute_tools(
    door: &impl DurableContext,
    calls: &[ToolCall],
    options: &[ActivityOptions],
) -> Vec<Result<ToolOutput, DurableError>> {
    let steps = calls.iter().cloned().zip(options.iter().cloned());
    let steps = steps.map(|(call, options)| Step::new(Effect::Tool(call), options));
    let mut started: VecDeque<(Handle, bool)> = steps
        .map(|step| {
            let is_write = step.is_write();
            (door.start(step.into()), is_write)
        })
        .collect();
    let mut results = Vec::with_capacity(started.len());
    while let Some((handle, _)) = started.pop_front() {
        let mut ended = door.next(&[handle], &[]).await;
        if let Err(DurableError::Cancelled { .. }) = &ended {
            let is_owed = door.leave(handle);
            // All writes are asked to end before any is awaited.
            started.retain(|(other, is_write)| !is_write || door.leave(*other));
            if is_owed {
                ended = door.next(&[handle], &[]).await;
            }
        }
        results.push(match ended {
            Ok(Observed::Ended(_, End::Effect(Ok(Outcome::Tool(output))))) => Ok(output),
            Ok(Observed::Ended(_, End::Effect(Err(failure))))
                if failure.kind == FailureKind::Cancelled =>
            {
                // A call may end as cancelled by itself, in a run that continues.
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
