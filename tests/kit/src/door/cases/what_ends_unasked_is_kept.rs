//! Ends that are not awaited are kept, each once.

use neuron_types::DurableContext;
use serde_json::json;

use crate::door::{
    asking::{ANSWER, HOLD, is_nothing, is_result, is_signal, start},
    outside::Outside,
    verdict::{Verdict, check},
};

pub(super) const CALLS: &[&str] = &["put-3", "read-1", "write-2"];

pub(super) async fn inside<D: DurableContext>(door: &D) -> Verdict {
    let (first, second) = (
        start(door, "read", 1, ANSWER),
        start(door, "write", 2, ANSWER),
    );
    let third = start(door, "put", 3, HOLD);
    let ended = door.next(&[third], &[]).await;
    check!(is_result(&ended, third, "put-3"), "{ended:?}");
    let arrived = door.next(&[], &["go"]).await;
    check!(is_signal(&arrived, "go"), "{arrived:?}");
    let both = [second, first];
    let ended = [
        door.next(&both, &["go"]).await,
        door.next(&both, &["go"]).await,
    ];
    check!(
        ended.iter().any(|end| is_result(end, first, "read-1")),
        "{ended:?}"
    );
    check!(
        ended.iter().any(|end| is_result(end, second, "write-2")),
        "{ended:?}"
    );
    let nothing = door.next(&both, &[]).await;
    check!(is_nothing(&nothing), "{nothing:?}");
    Ok(())
}

pub(super) async fn outside(outside: &Outside) {
    outside.ended("read-1").await;
    outside.ended("write-2").await;
    outside.let_go("put-3");
    outside.signal("go", json!(1)).await;
}
