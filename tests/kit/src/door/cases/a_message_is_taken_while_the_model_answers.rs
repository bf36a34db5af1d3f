//! A message is received while the model answers, once.

use neuron_types::{DurableContext, signal};
use serde_json::json;

use crate::door::{
    asking::{HOLD, is_signal, start_model},
    outside::Outside,
    verdict::{Verdict, check},
};

pub(super) const CALLS: &[&str] = &["model"];

pub(super) async fn inside<D: DurableContext>(door: &D) -> Verdict {
    let asked = start_model(door, HOLD);
    let arrived = door.next(&[asked], &[signal::USER_MESSAGE]).await;
    check!(is_signal(&arrived, signal::USER_MESSAGE), "{arrived:?}");
    let again = door.poll(&[signal::USER_MESSAGE]).await;
    check!(matches!(again, Ok(None)), "{again:?}");
    check!(!door.leave(asked), "a model call is dropped");
    Ok(())
}

pub(super) async fn outside(outside: &Outside) {
    outside.begun(&["model"]).await;
    let message = json!({ "text": "hi" });
    outside.signal(signal::USER_MESSAGE, message).await;
}
