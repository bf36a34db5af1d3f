//! A step that has ended, and whose end was not observed, is left like one in flight: a write is still to be observed,
//! and nothing else is.

use neuron_types::DurableContext;
use serde_json::json;

use crate::door::{
    asking::{ANSWER, HOLD, is_nothing, is_result, is_signal, start, start_model},
    outside::Outside,
    verdict::{Verdict, check},
};

pub(super) const CALLS: &[&str] = &["model", "put-2", "put-4", "put-5", "read-1", "write-3"];

pub(super) async fn inside<D: DurableContext>(door: &D) -> Verdict {
    let read = start(door, "read", 1, ANSWER);
    let (put, write) = (
        start(door, "put", 2, ANSWER),
        start(door, "write", 3, ANSWER),
    );
    let asked = start_model(door, ANSWER);
    let ready = door.next(&[], &["ready"]).await;
    check!(is_signal(&ready, "ready"), "{ready:?}");
    // Steps that ended before these are known with their ends.
    for position in [4, 5] {
        let other = start(door, "put", position, HOLD);
        let ended = door.next(&[other], &[]).await;
        let name = format!("put-{position}");
        check!(is_result(&ended, other, &name), "{ended:?}");
    }
    for (handle, what) in [(read, "read"), (put, "put"), (asked, "model call")] {
        check!(!door.leave(handle), "a {what} that has ended is dropped");
        let nothing = door.next(&[handle], &[]).await;
        check!(is_nothing(&nothing), "{nothing:?}");
    }
    check!(door.leave(write), "what a write came to is to be observed");
    let ended = door.next(&[read, write, put, asked], &[]).await;
    check!(is_result(&ended, write, "write-3"), "{ended:?}");
    check!(!door.leave(write), "its end was observed");
    Ok(())
}

pub(super) async fn outside(outside: &Outside) {
    for name in ["model", "put-2", "read-1", "write-3"] {
        outside.ended(name).await;
    }
    outside.signal("ready", json!(1)).await;
    for name in ["put-4", "put-5"] {
        outside.begun(&[name]).await;
        outside.let_go(name);
    }
}
