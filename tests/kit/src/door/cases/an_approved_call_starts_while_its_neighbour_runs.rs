//! A signal is received, and a call is made, while another call is in flight.

use neuron_types::DurableContext;
use serde_json::json;

use crate::door::{
    asking::{ANSWER, HOLD, is_result, is_signal, start},
    outside::Outside,
    verdict::{Verdict, check},
};

pub(super) const CALLS: &[&str] = &["read-1", "write-2"];

pub(super) async fn inside<D: DurableContext>(door: &D) -> Verdict {
    let held = start(door, "read", 1, HOLD);
    let decided = door.next(&[held], &["approved"]).await;
    check!(is_signal(&decided, "approved"), "{decided:?}");
    let approved = start(door, "write", 2, ANSWER);
    let ended = door.next(&[held, approved], &["approved"]).await;
    check!(is_result(&ended, approved, "write-2"), "{ended:?}");
    check!(!door.leave(held), "a read is dropped");
    Ok(())
}

pub(super) async fn outside(outside: &Outside) {
    outside.begun(&["read-1"]).await;
    outside.signal("approved", json!("yes")).await;
}
