//! A step that is started in a cancelled run ends at once, and its end can be awaited.

use neuron_types::DurableContext;

use crate::door::{
    asking::{ANSWER, HOLD, is_cancelled, is_given_up, is_nothing, start, start_model},
    outside::Outside,
    verdict::{Verdict, check},
};

pub(super) const CALLS: &[&str] = &["read-1"];

pub(super) async fn inside<D: DurableContext>(door: &D) -> Verdict {
    let before = start(door, "read", 1, HOLD);
    let cancelled = door.next(&[before], &[]).await;
    check!(is_cancelled(&cancelled), "{cancelled:?}");
    let (read, write) = (
        start(door, "read", 2, ANSWER),
        start(door, "write", 3, ANSWER),
    );
    let asked = start_model(door, ANSWER);
    for handle in [write, asked, read] {
        let ended = door.next(&[handle], &[]).await;
        check!(is_given_up(&ended, handle), "{ended:?}");
        check!(!door.leave(handle), "its end was observed");
    }
    let mixed = start(door, "read", 4, ANSWER);
    let cancelled = door.next(&[before, mixed], &[]).await;
    check!(is_cancelled(&cancelled), "{cancelled:?}");
    check!(!door.leave(mixed), "a read that has ended is dropped");
    check!(!door.leave(before), "a read is dropped");
    let (first, second) = (
        start(door, "write", 5, ANSWER),
        start(door, "put", 6, ANSWER),
    );
    check!(door.leave(first), "the end of a write is to be observed");
    for handle in [first, second] {
        let ended = door.next(&[second, first], &[]).await;
        check!(is_given_up(&ended, handle), "{ended:?}");
    }
    let nothing = door.next(&[first, second], &[]).await;
    check!(is_nothing(&nothing), "{nothing:?}");
    Ok(())
}

pub(super) async fn outside(outside: &Outside) {
    outside.begun(&["read-1"]).await;
    outside.cancel().await;
}
