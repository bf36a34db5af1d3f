//! Where a call of the turn stands: the table of its states. A call begins as unguarded where there are guards or hooks of
//! calls, and as unjudged elsewhere.

use neuron_types::{Asking, CallState, ReturnedResult, ToolResultBlock};

/// What happens to a call.
#[derive(Debug, Clone)]
pub(crate) enum CallEvent {
    /// Guards and hooks let it pass: the policy is asked next.
    Guarded,
    /// A person put in other arguments, at which guards and hooks are to look.
    Edited,
    /// The call may be made: the policy allows it, or a person does or did.
    Allowed,
    /// A person is asked about it in this way, once it is known what it would do.
    Doubted(Asking),
    /// A ticket about it opens.
    TicketOpened,
    /// The step that it needs next is being started.
    Started,
    /// The run that it asks for is there.
    Delegated,
    /// Nothing waits for its step in flight any more, and the step is made again.
    Left,
    /// It is unknown whether the call took effect, and its tool may know. The model reads this if the tool does not
    /// know either.
    Lost(String),
    /// It has a result, at which judges are to look.
    Returned(ReturnedResult),
    /// Its outcome is known, or is known to be unknown.
    Answered(ToolResultBlock),
    /// It is not made, or nothing more is done about it.
    Refused(ToolResultBlock),
}

impl CallEvent {
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Guarded => "guarded",
            Self::Edited => "edited",
            Self::Allowed => "allowed",
            Self::Doubted(_) => "doubted",
            Self::TicketOpened => "ticket opened",
            Self::Started => "started",
            Self::Delegated => "delegated",
            Self::Left => "left",
            Self::Lost(_) => "lost",
            Self::Returned(_) => "returned",
            Self::Answered(_) => "answered",
            Self::Refused(_) => "refused",
        }
    }
}

/// The table: the state that a call of this one comes to; `None` if that does not happen to it.
pub(crate) fn on(state: &CallState, event: CallEvent) -> Option<CallState> {
    use CallState::{
        Asked, Delegated, Done, Guarding, Inquiring, Previewing, Ready, Returned, Running,
        Screening, Unguarded, Unjudged, Unknown, Unseen,
    };
    let next = match (state, event) {
        (Unguarded, CallEvent::Started) => Guarding,
        (Guarding, CallEvent::Left) => Unguarded,
        (Guarding, CallEvent::Guarded) => Unjudged,
        (Asked, CallEvent::Edited) => Unguarded,
        (Unjudged | Guarding | Running | Asked, CallEvent::Allowed) => Ready,
        (Unjudged | Running, CallEvent::Doubted(asking)) => Unseen(asking),
        (
            Unjudged | Running | Previewing(_) | Inquiring(_) | Screening(_),
            CallEvent::TicketOpened,
        ) => Asked,
        (Ready, CallEvent::Started) => Running,
        (Unseen(asking), CallEvent::Started) => Previewing(asking.clone()),
        (Unknown(message), CallEvent::Started) => Inquiring(message.clone()),
        (Running, CallEvent::Delegated) => Delegated,
        (Running, CallEvent::Left) => Ready,
        (Previewing(asking), CallEvent::Left) => Unseen(asking.clone()),
        (Inquiring(message), CallEvent::Left) => Unknown(message.clone()),
        (Running, CallEvent::Lost(message)) => Unknown(message),
        (Running | Inquiring(_), CallEvent::Returned(result)) => Returned(Box::new(result)),
        (Returned(result), CallEvent::Started) => Screening(result.clone()),
        (Screening(result), CallEvent::Left) => Returned(result.clone()),
        (
            Ready | Running | Delegated | Asked | Unknown(_) | Inquiring(_) | Returned(_)
            | Screening(_),
            CallEvent::Answered(result),
        ) => Done(result),
        (
            Unguarded | Guarding | Unjudged | Ready | Running | Delegated | Unseen(_)
            | Previewing(_) | Asked,
            CallEvent::Refused(result),
        ) => Done(result),
        _ => return None,
    };
    Some(next)
}

/// Returns what a state is called in an error.
pub(crate) const fn name(state: &CallState) -> &'static str {
    match state {
        CallState::Unguarded => "unguarded",
        CallState::Guarding => "guarding",
        CallState::Unjudged => "unjudged",
        CallState::Ready => "ready",
        CallState::Running => "running",
        CallState::Delegated => "delegated",
        CallState::Unseen(_) => "unseen",
        CallState::Previewing(_) => "previewing",
        CallState::Asked => "asked",
        CallState::Unknown(_) => "unknown",
        CallState::Inquiring(_) => "inquiring",
        CallState::Returned(_) => "returned",
        CallState::Screening(_) => "screening",
        CallState::Done(_) => "done",
    }
}

pub(crate) const fn is_unjudged(state: &CallState) -> bool {
    matches!(state, CallState::Unjudged)
}

/// Another run continues for it.
pub(crate) const fn is_delegated(state: &CallState) -> bool {
    matches!(state, CallState::Delegated)
}

pub(crate) const fn is_running(state: &CallState) -> bool {
    matches!(state, CallState::Running)
}

/// A [call of the loop's own](neuron_types::StepId::OWN_CALLS) is in flight for it.
pub(crate) const fn has_own_call(state: &CallState) -> bool {
    matches!(
        state,
        CallState::Guarding
            | CallState::Previewing(_)
            | CallState::Inquiring(_)
            | CallState::Screening(_)
    )
}

/// Guards and hooks have not let it pass yet.
pub(crate) const fn is_unguarded(state: &CallState) -> bool {
    matches!(state, CallState::Unguarded | CallState::Guarding)
}

/// Something is put aside for the judges that are asked, or are to be asked, about it.
pub(crate) const fn has_judges(state: &CallState) -> bool {
    is_unguarded(state) || is_returned(state)
}

/// Judges may be asked about it, and have not been.
pub(crate) const fn awaits_judges(state: &CallState) -> bool {
    matches!(state, CallState::Unguarded | CallState::Returned(_))
}

/// Judges have not looked at its result yet.
pub(crate) const fn is_returned(state: &CallState) -> bool {
    matches!(state, CallState::Returned(_) | CallState::Screening(_))
}

pub(crate) const fn is_in_flight(state: &CallState) -> bool {
    is_running(state) || has_own_call(state)
}

/// Its outcome is unknown, and its tool may know it.
pub(crate) const fn is_unknown(state: &CallState) -> bool {
    matches!(state, CallState::Unknown(_) | CallState::Inquiring(_))
}

pub(crate) const fn is_open(state: &CallState) -> bool {
    !matches!(state, CallState::Done(_))
}

/// Neither answered nor made.
pub(crate) const fn is_waiting(state: &CallState) -> bool {
    is_open(state)
        && !is_running(state)
        && !is_delegated(state)
        && !is_unknown(state)
        && !is_returned(state)
}

/// Continues without a person.
pub(crate) const fn is_moving(state: &CallState) -> bool {
    is_open(state) && !matches!(state, CallState::Unjudged | CallState::Asked)
}

#[cfg(test)]
pub(crate) mod tests;
