//! A step that was observed is not handed out again, and is not awaited.

use std::time::Duration;

use neuron_types::{DurableContext, Started};
use serde_json::json;

use crate::door::{
    asking::{ANSWER, is_nothing, is_over, is_result, is_signal, start},
    outside::Outside,
    verdict::{Verdict, check},
};

const MOMENT: Duration = Duration::from_millis(10); // Any length would do.

pub(super) const CALLS: &[&str] = &["put-1"];

pub(super) async fn inside<D: DurableContext>(door: &D) -> Verdict {
    let put = start(door, "put", 1, ANSWER);
    let ended = door.next(&[put], &[]).await;
    check!(is_result(&ended, put, "put-1"), "{ended:?}");
    let deadline = door.start(Started::Deadline(MOMENT));
    let over = door.next(&[put, deadline], &[]).await;
    check!(is_over(&over, deadline), "{over:?}");
    let withdrawn = door.start(Started::Deadline(MOMENT));
    check!(!door.leave(withdrawn), "a deadline is withdrawn");
    let gone = [put, deadline, withdrawn];
    let nothing = door.next(&gone, &[]).await;
    check!(is_nothing(&nothing), "{nothing:?}");
    check!(
        !gone.iter().any(|handle| door.leave(*handle)),
        "they are no more"
    );
    let arrived = door.next(&gone, &["go"]).await;
    check!(is_signal(&arrived, "go"), "{arrived:?}");
    Ok(())
}

pub(super) async fn outside(outside: &Outside) {
    outside.ended("put-1").await;
    outside.signal("go", json!(1)).await;
}
