//! A write that is left is awaited, and nothing else is.

use std::time::Duration;

use neuron_types::{DurableContext, End, Observed};

use crate::door::{
    asking::{ANSWER, HOLD, is_cancelled, is_result, start},
    outside::Outside,
    verdict::{Verdict, check},
};

pub(super) const CALLS: &[&str] = &["put-3", "read-1", "read-4", "write-2"];

pub(super) async fn inside<D: DurableContext>(door: &D) -> Verdict {
    let (read, write) = (start(door, "read", 1, HOLD), start(door, "write", 2, HOLD));
    let put = start(door, "put", 3, ANSWER);
    let ended = door.next(&[put], &[]).await;
    check!(is_result(&ended, put, "put-3"), "{ended:?}");
    let later = start(door, "read", 4, HOLD);
    let cancelled = door.next(&[read, write, later], &[]).await;
    check!(is_cancelled(&cancelled), "{cancelled:?}");
    let still = door.next(&[read, write], &[]).await;
    check!(is_cancelled(&still), "{still:?}");
    let polled = door.poll(&["go"]).await;
    check!(is_cancelled(&polled), "{polled:?}");
    check!(!door.leave(read), "a read is dropped");
    check!(!door.leave(later), "a read is dropped");
    check!(door.leave(write), "a write is to be waited for");
    check!(door.leave(write), "its end is still to come");
    // The write reports its own result, or is asked to end.
    let ended = door.next(&[write], &[]).await;
    check!(
        matches!(ended, Ok(Observed::Ended(handle, End::Effect(_))) if handle == write),
        "{ended:?}"
    );
    check!(!door.leave(write), "its end was observed");
    let slept = door.sleep(Duration::ZERO).await; // It ends at once.
    check!(is_cancelled(&slept), "{slept:?}");
    Ok(())
}

pub(super) async fn outside(outside: &Outside) {
    outside.begun(&["read-1", "read-4", "write-2"]).await;
    outside.cancel().await;
}
