//! What goes on beside a step that takes long.

use std::{convert::Infallible, future::Future, sync::Arc, time::Duration};

use super::core::Core;

/// How long a step may take before what led to it is written: who follows the run sees that it began.
const FIRST_LOOK: Duration = Duration::from_millis(50);

/// How often it is looked whether the run is to be cancelled.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// Awaits the work, and writes pending events and looks for a cancellation meanwhile.
pub(crate) async fn supervise<T>(core: &Arc<Core>, work: impl Future<Output = T>) -> T {
    tokio::select! {
        biased;
        result = work => result,
        never = watch(core) => match never {},
    }
}

async fn watch(core: &Arc<Core>) -> Infallible {
    tokio::time::sleep(FIRST_LOOK).await;
    loop {
        // The step's own commit meets the same error and reports it.
        if let Err(error) = core.look().await {
            tracing::debug!(%error, run_id = %core.run_id, "the journal cannot be written just now");
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}
