//! A wait for one call of a cancelled run reports that the run is cancelled, and not that the call was.

use neuron_types::DurableContext;

use crate::door::{
    asking::{ANSWER, HOLD, is_cancelled, model, tool},
    outside::Outside,
    verdict::{Verdict, check},
};

pub(super) const CALLS: &[&str] = &["write-1"];

pub(super) async fn inside<D: DurableContext>(door: &D) -> Verdict {
    let (call, options) = tool("write", 1, HOLD);
    let cancelled = door.execute_tool(&call, &options).await;
    check!(
        is_cancelled(&cancelled) || cancelled.is_ok(),
        "{cancelled:?}"
    );
    for (number, name) in (2..).zip(["read", "put", "write"]) {
        let (call, options) = tool(name, number, ANSWER);
        let cancelled = door.execute_tool(&call, &options).await;
        check!(is_cancelled(&cancelled), "{cancelled:?}");
    }
    let (request, options) = model(door, ANSWER);
    let cancelled = door.execute_llm_call(&request, &options).await;
    check!(is_cancelled(&cancelled), "{cancelled:?}");
    Ok(())
}

pub(super) async fn outside(outside: &Outside) {
    outside.begun(&["write-1"]).await;
    outside.cancel().await;
    outside.let_go("write-1");
}
