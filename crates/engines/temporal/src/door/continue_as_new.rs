//! Where one history of a run ends and the next begins.

use neuron_flow::still_in_flight;
use neuron_types::{DurableError, RunState, json_bytes};

use crate::{
    door::durable_context::{TemporalDurableContext, unwritable},
    state::fill,
    wire::payload_limits::LARGEST_PAYLOAD,
};

/// The marker for the place in a history where the run left it: nothing more was added.
const LEFT: &str = "neuron-left";
const FULL: &str = "neuron-full";
/// The marker for the place in a history from which on nothing more was started in it.
const CLOSING: &str = "neuron-closing";

impl<W: 'static> TemporalDurableContext<W> {
    /// Returns whether the run should continue as new.
    pub(crate) fn is_history_long(&self) -> bool {
        let events = self.ctx.history_length();
        self.ctx.state_mut(|host| host.view.fill.look(events));
        if self.check().is_err() {
            return false;
        }
        if self.ctx.is_replaying() {
            return self.mark(LEFT) || self.mark(FULL);
        }
        let is_suggested = self.ctx.continue_as_new_suggested();
        self.ctx.state(|host| {
            let fill = &host.view.fill;
            let is_full = self.is_full.get() || fill.is_full();
            let conversation = host.view.encoder.bytes();
            if fill.is_declined(conversation) {
                return is_full;
            }
            // An update that was taken just now is to be answered before the history ends.
            let owes_answer = host.view.updated_at == Some(events);
            (is_suggested || is_full || fill.is_due(conversation))
                && !owes_answer
                && !host.hosting.segments.was_refused(self.ctx.run_id())
        })
    }

    /// Returns whether the history is so full that nothing more may be started in it.
    pub(crate) fn is_history_full(&self) -> bool {
        if !self.is_full.get() {
            let events = self.ctx.history_length();
            let is_full =
                self.ctx.is_replaying() || self.ctx.state(|host| host.view.fill.is_full_at(events));
            self.is_full.set(is_full && self.mark(CLOSING));
        }
        self.is_full.get()
    }

    /// Hands the run's state over to the next history, if that is possible and necessary.
    pub(crate) fn leave_history(&self, state: &RunState) -> Result<(), DurableError> {
        self.check()?;
        // A timer that is withdrawn here would be recorded before the mark now and after it in a replay.
        if !self.flow().is_idle() {
            return Err(still_in_flight());
        }
        let history = self.ctx.run_id();
        let carried = self.ctx.state(|host| host.view.carry(state, history));
        let Some(carried) = carried else {
            return Ok(());
        };
        let bytes = json_bytes(&carried).map_err(unwritable)?;
        let fits = bytes <= LARGEST_PAYLOAD;
        // A replay follows the history, whatever its worker would do now.
        if (fits || self.ctx.is_replaying()) && self.mark(LEFT) {
            return self.ctx.state_mut(|host| {
                host.hosting.segments.attempt(history);
                host.view.left = Some(carried);
                Err(DurableError::ContinuedAsNew)
            });
        }
        let (size, is_full) = self.ctx.state_mut(|host| {
            let conversation = host.view.encoder.bytes();
            let fill = &mut host.view.fill;
            fill.decline(conversation);
            (fill.size(), fill.is_full())
        });
        if (is_full || self.ctx.is_replaying()) && self.mark(FULL) {
            return Err(fill::full(size, bytes).into());
        }
        Ok(())
    }

    /// Marks this place in the history. In a replay, returns whether the history has that mark.
    fn mark(&self, what: &str) -> bool {
        let (place, before) = self.ctx.state(|host| {
            let fill = &host.view.fill;
            (fill.place(), fill.place_with_events())
        });
        // Only a replay looks for a name of older builds: outside of a replay this would make the mark.
        (self.ctx.is_replaying() && self.ctx.patched(&format!("{what}-{before}")))
            || self.ctx.patched(&format!("{what}-at-{place}"))
    }
}
