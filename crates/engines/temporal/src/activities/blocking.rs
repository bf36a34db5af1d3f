//! Work that may block its thread.

use std::{
    future::{Future, poll_fn},
    pin::pin,
};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::block_in_place,
};

/// Awaits work of which nobody knows whether it blocks its thread, without stopping what else runs on the thread.
///
/// A thread that is blocked cannot be told from one that works for long: the runtime wakes no other one for what waits, and
/// the connection to the server and the heartbeats stand still with it. So the thread hands all that it has over to another
/// one whenever the work goes on. A runtime of the current thread alone has no other: there a tool must not block.
pub(crate) async fn beside_others<T>(work: impl Future<Output = T>) -> T {
    let runtime = Handle::try_current();
    let has_others =
        runtime.is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    let mut work = pin!(work);
    poll_fn(|context| {
        if has_others {
            block_in_place(|| work.as_mut().poll(context))
        } else {
            work.as_mut().poll(context)
        }
    })
    .await
}
