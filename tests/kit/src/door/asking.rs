//! The calls that cases make through a door, and checks of the results.

use std::time::Duration;

use neuron_types::{
    ActivityOptions, CompletionRequest, DurableContext, DurableError, Effect, End, FailureKind,
    Handle, Message, Observed, Outcome, RequestHead, Step, StepId, ToolCall,
};
use serde::{Deserialize, Serialize};

use crate::effects::{options_of, text_of};

/// The timeout of calls: no door treats them as quick ones.
const HOUR: Duration = Duration::from_secs(3600); // Every case ends long before.

/// The behaviour of a call.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Asked {
    /// The name by which the call is known.
    pub(super) name: String,
    pub(super) act: String,
}

/// A call that answers at once.
pub(super) const ANSWER: &str = "answer";
/// A call that is held until the outer half releases it.
pub(super) const HOLD: &str = "hold";
/// The same, and it blocks its thread meanwhile.
pub(super) const BLOCK: &str = "block";

/// Returns a call of this tool. Its name is the tool's name and its place in the turn.
pub(super) fn tool(name: &str, position: u32, act: &str) -> (ToolCall, ActivityOptions) {
    let asked = Asked {
        name: format!("{name}-{position}"),
        act: act.to_owned(),
    };
    let call = ToolCall {
        id: asked.name.clone(),
        name: name.into(),
        input: serde_json::to_value(&asked).unwrap(),
        ..ToolCall::default()
    };
    (call, options(name, position))
}

pub(super) fn start(door: &impl DurableContext, name: &str, position: u32, act: &str) -> Handle {
    let (call, options) = tool(name, position, act);
    door.start(Step::new(Effect::Tool(call), options).into())
}

/// Returns a model call, whose name is `model`.
pub(super) fn model(door: &impl DurableContext, act: &str) -> (CompletionRequest, ActivityOptions) {
    let asked = Asked {
        name: "model".to_owned(),
        act: act.to_owned(),
    };
    let asked = serde_json::to_string(&asked).unwrap();
    let message = Message::user(format!("{}\n{asked}", door.run_id()));
    let mut head = RequestHead::new("m");
    head.provider = Some("room".into());
    let request = CompletionRequest::new(head, vec![message]);
    (request, options("model", 0))
}

pub(super) fn start_model(door: &impl DurableContext, act: &str) -> Handle {
    let (request, options) = model(door, act);
    door.start(Step::new(Effect::Model(request), options).into())
}

fn options(name: &str, position: u32) -> ActivityOptions {
    options_of(name, StepId::new(1, position), HOUR)
}

type Next = Result<Observed, DurableError>;

/// Returns whether this is the result of the call.
pub(super) fn is_result(next: &Next, handle: Handle, name: &str) -> bool {
    matches!(next, Ok(Observed::Ended(ended, End::Effect(Ok(Outcome::Tool(output))))) if *ended == handle && text_of(output) == name)
}

/// Returns whether this is the end of the call as a cancelled one.
pub(super) fn is_given_up(next: &Next, handle: Handle) -> bool {
    let Ok(Observed::Ended(ended, End::Effect(Err(failure)))) = next else {
        return false;
    };
    *ended == handle && failure.kind == FailureKind::Cancelled
}

pub(super) fn is_over(next: &Next, deadline: Handle) -> bool {
    matches!(next, Ok(Observed::Ended(handle, End::Deadline)) if *handle == deadline)
}

pub(super) fn is_signal(next: &Next, wanted: &str) -> bool {
    matches!(next, Ok(Observed::Signal(signal)) if signal.name == wanted)
}

/// Returns whether there is nothing to wait for.
pub(super) fn is_nothing(next: &Next) -> bool {
    matches!(next, Err(DurableError::Engine { .. }))
}

/// Returns whether the run is cancelled, for the reason that the outer half gives.
pub(super) fn is_cancelled<T>(result: &Result<T, DurableError>) -> bool {
    matches!(result, Err(DurableError::Cancelled { reason }) if reason.as_deref() == Some("enough"))
}
