use std::{future::Future, time::Duration};

use neuron_types::{ToolCall, ToolContext, ToolError};
use tokio::time::timeout;

/// Waits until it is the call's turn. The call is not made if its run is cancelled before, or if it has waited too
/// long: `going` says what too many others do.
pub(crate) async fn await_turn<T>(
    turn: impl Future<Output = T>,
    max_wait: Option<Duration>,
    call: &ToolCall,
    ctx: &ToolContext,
    going: &str,
) -> Result<T, ToolError> {
    let in_time = async {
        match max_wait {
            None => Ok(turn.await),
            Some(wait) => timeout(wait, turn)
                .await
                .map_err(|_| ToolError::Unavailable {
                    message: format!(
                        "too many calls of {} {going}: this one waited for {wait:?} and was not made",
                        call.name
                    ),
                    retry_after: None,
                    source: None,
                }),
        }
    };
    tokio::select! {
        biased;
        () = ctx.cancellation_token.cancelled() => Err(ToolError::Cancelled),
        turn = in_time => turn,
    }
}
