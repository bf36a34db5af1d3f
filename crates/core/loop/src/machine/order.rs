//! Which calls of a turn wait for others.

use neuron_types::{CallState, PendingCall, ToolEffects};

use crate::AgentMachine;

/// What a call is for the order of its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It changes nothing: it waits for the writes before it.
    Read,
    /// It may change something: it waits for all calls before it.
    Write,
    /// It may change something and has no order: it waits for none, and none waits for it.
    Unordered,
}

/// What there is before a call that has not ended.
#[derive(Debug, Default, Clone, Copy)]
struct Ahead {
    reads: bool,
    writes: bool,
}

impl Ahead {
    const fn holds(self, kind: Kind) -> bool {
        match kind {
            Kind::Read => self.writes,
            Kind::Write => self.reads || self.writes,
            Kind::Unordered => false,
        }
    }

    const fn add(&mut self, kind: Kind) {
        match kind {
            Kind::Read => self.reads = true,
            Kind::Write => self.writes = true,
            Kind::Unordered => {}
        }
    }
}

impl AgentMachine {
    /// The calls of the turn in their order, but for those that wait for others before them.
    ///
    /// Reads of a turn run together. A write begins when every call before it has ended, and a read when every write
    /// before it has, so that each call finds what the calls before it left behind and nothing else. A call that waits
    /// for a person or for a result from elsewhere may wait for days: it holds no other call back, and begins at once
    /// when it is approved. From then on the calls behind it that have not begun wait for it.
    ///
    /// What a call would do is found out by a read in its place.
    pub(crate) fn unheld(&self) -> impl Iterator<Item = &PendingCall> {
        let mut ahead = Ahead::default();
        self.state.calls.iter().filter(move |slot| {
            let kind = self.kind_of(slot);
            let is_held = match &slot.state {
                CallState::Unseen(_) => ahead.holds(Kind::Read),
                // A person was asked about the call, and approved it.
                CallState::Ready if slot.tickets > 0 => false,
                _ => ahead.holds(kind),
            };
            if holds_others(&slot.state) {
                ahead.add(kind);
            }
            !is_held
        })
    }

    fn kind_of(&self, slot: &PendingCall) -> Kind {
        let agent = &self.state.agent;
        let name = &slot.call.name;
        match agent.effects_of(name) {
            ToolEffects::ReadOnly => Kind::Read,
            _ if agent.has_parallel_writes(name) => Kind::Unordered,
            _ => Kind::Write,
        }
    }
}

/// Returns whether those behind a call wait for it. One whose outcome is being asked for has not ended either.
const fn holds_others(state: &CallState) -> bool {
    matches!(
        state,
        CallState::Ready | CallState::Running | CallState::Unknown(_) | CallState::Inquiring(_)
    )
}
