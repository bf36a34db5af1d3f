//! A cancel and an end become known together: the cancel counts first, and the end of the write can be observed after
//! leaving the write and waiting.

use neuron_types::DurableContext;

use crate::door::{
    asking::{BLOCK, HOLD, is_cancelled, is_nothing, is_result, start},
    outside::Outside,
    verdict::{Verdict, check},
};

pub(super) const CALLS: &[&str] = &["read-1", "write-2"];

pub(super) async fn inside<D: DurableContext>(door: &D) -> Verdict {
    let (read, write) = (start(door, "read", 1, HOLD), start(door, "write", 2, BLOCK));
    let first = door.next(&[read, write], &[]).await;
    // Restate answers the caller of a cancel before the run learns of it: there the end may arrive alone.
    if door.engine() == "restate" && is_result(&first, write, "write-2") {
        let cancelled = door.next(&[read], &[]).await;
        check!(is_cancelled(&cancelled), "{cancelled:?}");
        check!(!door.leave(read), "a read is dropped");
        return Ok(());
    }
    check!(is_cancelled(&first), "{first:?}");
    check!(!door.leave(read), "a read is dropped");
    check!(door.leave(write), "what a write came to is to be observed");
    let ended = door.next(&[read, write], &[]).await;
    check!(is_result(&ended, write, "write-2"), "{ended:?}");
    check!(!door.leave(write), "its end was observed");
    let nothing = door.next(&[read, write], &[]).await;
    check!(is_nothing(&nothing), "{nothing:?}");
    Ok(())
}

pub(super) async fn outside(outside: &Outside) {
    outside.begun(&["read-1", "write-2"]).await;
    outside.cancel().await;
    outside.let_go("write-2");
}
