//! Where a call of the turn stands: the table of its states. A call begins as unjudged.

use neuron_types::{Asking, CallState, FailureKind, RunError, ToolResultBlock};

use crate::AgentMachine;

/// What happens to a call.
#[derive(Debug, Clone)]
pub(crate) enum CallEvent {
    /// It may be made: the policy says so, or a person does or did.
    Allowed,
    /// A person is asked about it in this way, once it is known what it would do.
    Doubted(Asking),
    /// A ticket about it opens.
    TicketOpened,
    /// The step that it needs next is being started.
    Started,
    /// Nobody waits for its step in flight any more, which is made again.
    Left,
    /// Nobody knows whether it took effect, and its tool may. The model reads this if the tool does not know either.
    Lost(String),
    /// Its outcome is known, or it is known that nobody knows it.
    Answered(ToolResultBlock),
    /// It is not made, or nothing more is done about it.
    Refused(ToolResultBlock),
}

impl CallEvent {
    const fn name(&self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Doubted(_) => "doubted",
            Self::TicketOpened => "ticket opened",
            Self::Started => "started",
            Self::Left => "left",
            Self::Lost(_) => "lost",
            Self::Answered(_) => "answered",
            Self::Refused(_) => "refused",
        }
    }
}

/// The table: the state that a call of this one comes to; `None` if that does not happen to it.
fn on(state: &CallState, event: CallEvent) -> Option<CallState> {
    use CallState::{
        Asked, Done, Inquiring, Previewing, Ready, Running, Unjudged, Unknown, Unseen,
    };
    let next = match (state, event) {
        (Unjudged | Running | Asked, CallEvent::Allowed) => Ready,
        (Unjudged | Running, CallEvent::Doubted(asking)) => Unseen(asking),
        (Unjudged | Running | Previewing(_) | Inquiring(_), CallEvent::TicketOpened) => Asked,
        (Ready, CallEvent::Started) => Running,
        (Unseen(asking), CallEvent::Started) => Previewing(asking.clone()),
        (Unknown(message), CallEvent::Started) => Inquiring(message.clone()),
        (Running, CallEvent::Left) => Ready,
        (Previewing(asking), CallEvent::Left) => Unseen(asking.clone()),
        (Inquiring(message), CallEvent::Left) => Unknown(message.clone()),
        (Running, CallEvent::Lost(message)) => Unknown(message),
        (Running | Asked | Unknown(_) | Inquiring(_), CallEvent::Answered(result)) => Done(result),
        (
            Unjudged | Ready | Running | Unseen(_) | Previewing(_) | Asked,
            CallEvent::Refused(result),
        ) => Done(result),
        _ => return None,
    };
    Some(next)
}

impl AgentMachine {
    /// Brings a call to its next state, and returns whether it has one. A run in which what does not happen to a call is to
    /// happen to it ends.
    pub(crate) fn call(&mut self, index: usize, event: CallEvent) -> bool {
        let own = self.next_own_call();
        let Some(slot) = self.state.calls.get_mut(index) else {
            return false;
        };
        let (was, what) = (name(&slot.state), event.name());
        let Some(state) = on(&slot.state, event) else {
            let message = format!("call {} is {was}: it cannot be {what}", slot.position);
            let kind = FailureKind::Internal;
            self.state.ending.get_or_insert(RunError { kind, message });
            return false;
        };
        #[cfg(test)]
        tests::note(was, what);
        slot.in_flight = match state {
            CallState::Running => Some(slot.position),
            CallState::Previewing(_) | CallState::Inquiring(_) => {
                self.state.own_calls = self.state.own_calls.saturating_add(1);
                Some(own)
            }
            _ => None,
        };
        slot.state = state;
        true
    }

    /// As [`call`](Self::call), for all calls in these states.
    pub(crate) fn calls(&mut self, which: fn(&CallState) -> bool, event: &CallEvent) {
        for index in self.positions(which) {
            self.call(index, event.clone());
        }
    }
}

const fn name(state: &CallState) -> &'static str {
    match state {
        CallState::Unjudged => "unjudged",
        CallState::Ready => "ready",
        CallState::Running => "running",
        CallState::Unseen(_) => "unseen",
        CallState::Previewing(_) => "previewing",
        CallState::Asked => "asked",
        CallState::Unknown(_) => "unknown",
        CallState::Inquiring(_) => "inquiring",
        CallState::Done(_) => "done",
    }
}

pub(crate) const fn is_unjudged(state: &CallState) -> bool {
    matches!(state, CallState::Unjudged)
}

pub(crate) const fn is_running(state: &CallState) -> bool {
    matches!(state, CallState::Running)
}

/// A [call of the loop's own](neuron_types::StepId::OWN_CALLS) is in flight for it.
pub(crate) const fn has_own_call(state: &CallState) -> bool {
    matches!(state, CallState::Previewing(_) | CallState::Inquiring(_))
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
    is_open(state) && !is_running(state) && !is_unknown(state)
}

/// Goes on without a person.
pub(crate) const fn is_moving(state: &CallState) -> bool {
    is_open(state) && !matches!(state, CallState::Unjudged | CallState::Asked)
}

#[cfg(test)]
mod tests;
