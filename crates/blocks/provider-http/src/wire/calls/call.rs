use std::collections::VecDeque;

use neuron_types::StreamEvent;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{arguments::Arguments, finished::FinishedCall, fragment::Fragment, nesting::Nesting};

/// One call, as far as its fragments have come.
#[derive(Debug, Default)]
pub(super) struct Call {
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) arguments: Arguments,
    pub(super) extra: Map<String, Value>,
    /// The id that was emitted with the start, once the name was known.
    pub(super) told: Option<String>,
    pub(super) ended: bool,
    /// It says once more what another call of the same id says.
    pub(super) is_repeat: bool,
    /// The call that it turned out to be a piece of.
    pub(super) merged: Option<usize>,
    /// In which of the lists of fragments it began.
    pub(super) begun_in: usize,
    /// Its name came with several fragments.
    pub(super) is_named_again: bool,
    /// Each of its fragments has an id or index of its own.
    pub(super) is_redrawn: bool,
}

impl Call {
    /// Returns whether the fragment says once more what is known: servers send a call that is whole again.
    pub(super) fn is_repeated_by(&self, fragment: &Fragment) -> bool {
        self.arguments.is_whole()
            && fragment.id.is_some()
            && fragment.id == self.id
            && fragment.name == self.name
            && self.arguments.say(&fragment.arguments)
    }

    /// Returns whether a fragment that stands in this call's place is more of it.
    pub(super) fn goes_on_with(&self, fragment: &Fragment) -> bool {
        let is_other = |known: &Option<String>, said: &Option<String>| matches!((known, said), (Some(known), Some(said)) if known != said);
        let is_new_id = is_other(&self.id, &fragment.id);
        let is_whole = self.arguments.is_whole();
        let said = fragment.arguments.as_str();
        if fragment.name.is_none() {
            // Servers make up an id for each fragment. Only whole arguments behind whole ones are another call's.
            let is_apart = is_whole && !said.starts_with(self.arguments.as_str());
            let is_other = is_new_id && is_apart && Nesting::of(said).is_whole();
            return !is_other || self.arguments.say(said);
        }
        let is_new_id = is_new_id && !self.is_redrawn;
        let is_new_name = is_other(&self.name, &fragment.name);
        let is_same_id = self.id.is_some() && self.id == fragment.id;
        let stands_in = is_same_id && self.arguments.is_empty_object();
        let begins_again = is_whole && !stands_in && !said.trim().is_empty();
        !(is_new_id || is_new_name || begins_again)
    }

    pub(super) fn take(&mut self, fragment: Fragment) {
        self.is_named_again |= self.name.is_some() && fragment.name.is_some();
        self.id = self.id.take().or(fragment.id);
        self.name = self.name.take().or(fragment.name);
        self.extra.extend(fragment.extra);
        if fragment.is_plain {
            self.arguments.set_plain();
        }
        self.arguments.take(&fragment.arguments);
    }

    /// Returns whether both are one call that was sent twice.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.id.is_some()
            && self.id == other.id
            && self.name == other.name
            && self.arguments.are(&other.arguments)
    }

    /// Returns whether the arguments of both are the same value.
    pub(super) fn says(&self, other: &Self) -> bool {
        self.arguments.say(other.arguments.once())
    }

    /// Emits what is new to a reader, once the name is known.
    pub(super) fn tell(&mut self, seen: &mut VecDeque<StreamEvent>) {
        let Some(id) = self.begin(seen) else { return };
        let delta = self.arguments.tell();
        if !delta.is_empty() {
            seen.push_back(StreamEvent::ToolUseInputDelta { id, delta });
        }
    }

    fn begin(&mut self, seen: &mut VecDeque<StreamEvent>) -> Option<String> {
        if let Some(id) = &self.told {
            return Some(id.clone());
        }
        let name = self.name.clone()?;
        let id = self.id.clone().unwrap_or_else(new_call_id);
        self.told = Some(id.clone());
        let start = id.clone();
        seen.push_back(StreamEvent::ToolUseStart { id: start, name });
        Some(id)
    }

    /// Emits what is left to a reader, and the end.
    pub(super) fn end(&mut self, seen: &mut VecDeque<StreamEvent>) {
        if self.ended || self.is_repeat || self.merged.is_some() {
            return;
        }
        let Some(id) = self.begin(seen) else { return };
        self.ended = true;
        let delta = self.arguments.tell_rest();
        if !delta.is_empty() {
            let id = id.clone();
            seen.push_back(StreamEvent::ToolUseInputDelta { id, delta });
        }
        seen.push_back(StreamEvent::ToolUseEnd { id });
    }

    pub(super) fn finish(self) -> Option<FinishedCall> {
        Some(FinishedCall {
            name: self.name?,
            id: self.told.or(self.id).unwrap_or_else(new_call_id),
            arguments: self.arguments.finish(),
            extra: self.extra,
        })
    }
}

/// Makes an id for a call whose server gave it none.
#[must_use]
pub fn new_call_id() -> String {
    format!("call_{}", Uuid::new_v4().simple())
}
