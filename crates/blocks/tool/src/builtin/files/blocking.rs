use neuron_types::{ToolContext, ToolError};
use tokio_util::sync::CancellationToken;

/// Runs file work on a thread where it may block.
///
/// The work's token is cancelled when the run is, and when this future is dropped; the work must look at
/// it before it changes anything and while it goes through many files. Without a `Cancelled` from the work
/// the result counts, even if the run was cancelled meanwhile.
pub(crate) async fn blocking<T: Send + 'static>(
    ctx: &ToolContext,
    work: impl FnOnce(&CancellationToken) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let stop = ctx.cancellation_token.child_token();
    let on_drop = stop.clone().drop_guard();
    let result = tokio::task::spawn_blocking(move || {
        check(&stop)?;
        work(&stop)
    })
    .await;
    drop(on_drop);
    result.unwrap_or_else(|error| Err(ToolError::ExecutionFailed(Box::new(error))))
}

/// Fails if the work is no longer wanted.
pub(crate) fn check(stop: &CancellationToken) -> Result<(), ToolError> {
    if stop.is_cancelled() {
        Err(ToolError::Cancelled)
    } else {
        Ok(())
    }
}
