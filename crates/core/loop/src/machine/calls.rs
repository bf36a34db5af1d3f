//! Bringing the calls of a turn from state to state.

use neuron_types::{CallState, FailureKind, RunError};

use crate::{
    AgentMachine,
    machine::call::{self, CallEvent},
};

impl AgentMachine {
    /// Brings a call to its next state, and returns whether it has one. A run in which what does not happen to a call is to
    /// happen to it ends.
    pub(crate) fn call(&mut self, index: usize, event: CallEvent) -> bool {
        let own = self.next_own_call();
        let Some(slot) = self.state.calls.get_mut(index) else {
            return false;
        };
        let (was, what) = (call::name(&slot.state), event.name());
        let Some(state) = call::on(&slot.state, event) else {
            let message = format!("call {} is {was}: it cannot be {what}", slot.position);
            let kind = FailureKind::Internal;
            self.state.ending.get_or_insert(RunError { kind, message });
            return false;
        };
        #[cfg(test)]
        call::tests::note(was, what);
        slot.in_flight = match state {
            CallState::Running => Some(slot.position),
            _ if call::has_own_call(&state) => {
                self.state.own_calls = self.state.own_calls.saturating_add(1);
                Some(own)
            }
            _ => None,
        };
        let is_asking = |state: &CallState| call::has_judges(state) && call::has_own_call(state);
        let is_to_ask = call::has_judges(&state) && !is_asking(&state);
        // What guards said of it has been settled before, if they said anything.
        let left = slot.held.take_if(|_| !is_asking(&state));
        let was_asked = is_asking(&slot.state);
        slot.state = state;
        if let Some(held) = left.filter(|_| was_asked) {
            self.charge(1, held.amount);
        }
        if is_to_ask {
            self.hold_for_call(index);
        }
        true
    }

    /// As [`call`](Self::call), for all calls in these states.
    pub(crate) fn calls(&mut self, which: fn(&CallState) -> bool, event: &CallEvent) {
        for index in self.positions(which) {
            self.call(index, event.clone());
        }
    }
}
