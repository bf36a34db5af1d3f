//! A deadline of no time has ended when it is started: it is handed out before a signal that is here.

use std::time::Duration;

use neuron_types::{DurableContext, Started};
use serde_json::json;

use crate::door::{
    asking::{HOLD, is_over, is_signal, start},
    outside::Outside,
    verdict::{Verdict, check},
};

pub(super) const CALLS: &[&str] = &["read-1"];

pub(super) async fn inside<D: DurableContext>(door: &D) -> Verdict {
    let held = start(door, "read", 1, HOLD);
    let ready = door.next(&[held], &["ready"]).await;
    check!(is_signal(&ready, "ready"), "{ready:?}");
    let deadline = door.start(Started::Deadline(Duration::ZERO)); // It is over at once.
    let over = door.next(&[held, deadline], &["go"]).await;
    check!(is_over(&over, deadline), "{over:?}");
    let arrived = door.next(&[held, deadline], &["go"]).await;
    check!(is_signal(&arrived, "go"), "{arrived:?}");
    let left = door.start(Started::Deadline(Duration::ZERO)); // It is over at once.
    check!(!door.leave(left), "a deadline that is over is dropped");
    check!(!door.leave(held), "a read is dropped");
    let slept = door.sleep(Duration::ZERO).await; // It ends at once.
    check!(slept.is_ok(), "{slept:?}");
    Ok(())
}

pub(super) async fn outside(outside: &Outside) {
    outside.begun(&["read-1"]).await;
    outside.signal("go", json!(1)).await;
    outside.signal("ready", json!(1)).await;
}
