//! A deadline counts from its start, whatever else is awaited meanwhile.

use std::time::Duration;

use neuron_types::{DurableContext, Started};
use serde_json::json;

use crate::door::{
    asking::{HOLD, is_over, is_signal, start},
    outside::Outside,
    verdict::{Verdict, check},
};

const A_WHILE: Duration = Duration::from_secs(2); // A signal takes less, on any door.

pub(super) const CALLS: &[&str] = &["read-1"];

pub(super) async fn inside<D: DurableContext>(door: &D) -> Verdict {
    let start_of_run = door.now();
    let deadline = door.start(Started::Deadline(A_WHILE));
    let withdrawn = door.start(Started::Deadline(A_WHILE / 2));
    check!(!door.leave(withdrawn), "a deadline is withdrawn");
    let held = start(door, "read", 1, HOLD);
    let arrived = door.next(&[held, deadline], &["go"]).await;
    check!(is_signal(&arrived, "go"), "{arrived:?}");
    let over = door.next(&[held, deadline], &["go"]).await;
    check!(is_over(&over, deadline), "{over:?}");
    check!(
        door.now() >= start_of_run + A_WHILE,
        "{} after {start_of_run}",
        door.now()
    );
    check!(!door.leave(held), "a read is dropped");
    Ok(())
}

pub(super) async fn outside(outside: &Outside) {
    outside.begun(&["read-1"]).await;
    outside.signal("go", json!(1)).await;
}
