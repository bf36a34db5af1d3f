//! Signals are received in the order in which they arrived, whatever their names.

use neuron_types::DurableContext;
use serde_json::json;

use crate::door::{
    asking::{HOLD, is_signal, start},
    outside::Outside,
    verdict::{Verdict, check},
};

pub(super) const CALLS: &[&str] = &["read-1"];

pub(super) async fn inside<D: DurableContext>(door: &D) -> Verdict {
    let held = start(door, "read", 1, HOLD);
    let ready = door.next(&[held], &["ready"]).await;
    check!(is_signal(&ready, "ready"), "{ready:?}");
    let names = ["a", "b", "c"];
    let first = door.poll(&names).await;
    check!(
        matches!(&first, Ok(Some(signal)) if signal.name == "b"),
        "{first:?}"
    );
    let second = door.next(&[held], &names).await;
    check!(is_signal(&second, "c"), "{second:?}");
    let third = door.next(&[held], &names).await;
    check!(is_signal(&third, "a"), "{third:?}");
    let fourth = door.poll(&names).await;
    check!(
        matches!(&fourth, Ok(Some(signal)) if signal.name == "b"),
        "{fourth:?}"
    );
    check!(!door.leave(held), "a read is dropped");
    Ok(())
}

pub(super) async fn outside(outside: &Outside) {
    outside.begun(&["read-1"]).await;
    for name in ["b", "c", "a", "b", "ready"] {
        outside.signal(name, json!(1)).await;
    }
}
