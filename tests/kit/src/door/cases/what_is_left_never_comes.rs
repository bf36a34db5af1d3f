//! An end is handed out before what arrives later, and a step that was dropped is not handed out.

use neuron_types::DurableContext;
use serde_json::json;

use crate::door::{
    asking::{ANSWER, HOLD, is_nothing, is_result, is_signal, start},
    outside::Outside,
    verdict::{Verdict, check},
};

pub(super) const CALLS: &[&str] = &["put-2", "read-1"];

pub(super) async fn inside<D: DurableContext>(door: &D) -> Verdict {
    let (held, quick) = (start(door, "read", 1, HOLD), start(door, "put", 2, ANSWER));
    let ready = door.next(&[], &["ready"]).await;
    check!(is_signal(&ready, "ready"), "{ready:?}");
    let ended = door.next(&[held, quick], &["go"]).await;
    check!(is_result(&ended, quick, "put-2"), "{ended:?}");
    let arrived = door.next(&[held, quick], &["go"]).await;
    check!(is_signal(&arrived, "go"), "{arrived:?}");
    check!(!door.leave(held), "a read is dropped");
    check!(!door.leave(quick), "its end was observed");
    let nothing = door.next(&[held, quick], &[]).await;
    check!(is_nothing(&nothing), "{nothing:?}");
    let nothing = door.next(&[], &[]).await;
    check!(is_nothing(&nothing), "{nothing:?}");
    Ok(())
}

pub(super) async fn outside(outside: &Outside) {
    outside.begun(&["put-2", "read-1"]).await;
    outside.ended("put-2").await;
    outside.signal("go", json!(1)).await;
    outside.signal("ready", json!(1)).await;
}
