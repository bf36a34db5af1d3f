//! Work that may block its thread.

use std::{
    future::{Future, poll_fn},
    pin::pin,
};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::block_in_place,
};

/// Awaits work that may block its thread, without stopping the other tasks of the thread.
///
/// Nothing distinguishes a blocked thread from a thread that works for long: the runtime wakes no other thread for the
/// tasks that wait, and the connection to the server and the heartbeats stop with it. So the thread hands all its tasks
/// over to another thread whenever the work is polled. A current-thread runtime has no other thread: there a tool must
/// not block.
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
