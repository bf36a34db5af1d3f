//! What calls would do, found out before a person is asked about them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::{
    ArgumentKind, Asking, Effect, OpenTicket, PendingCall, Preview, PreviewRequest, Step,
    TicketKind,
};
use serde_json::Value;

use crate::{
    AgentMachine,
    machine::{call::CallEvent, tickets::Opening},
};

/// How long one attempt of a preview may take. It is short, so that an engine that has the choice makes it where the run
/// is.
const PREVIEWING: Duration = Duration::from_secs(5);

/// How many attempts a preview has: the person is asked without one rather than late.
const MOST_ATTEMPTS: u32 = 3;

impl AgentMachine {
    /// Asks a person about a call, once it is known what it would do if its tool can say that.
    pub(crate) fn ask_about_call(&mut self, index: usize, asking: Asking, now: DateTime<Utc>) {
        if self.has_tool_that(index, |tool| tool.previews) {
            self.call(index, CallEvent::Doubted(asking));
        } else {
            let opening = Opening::new(TicketKind::Call, asking);
            self.open_ticket(index, opening, now);
        }
    }

    /// The step at this position that finds out what a call would do.
    pub(crate) fn preview_of(&self, slot: &PendingCall, position: u32) -> Step {
        let request = PreviewRequest {
            name: slot.call.name.clone(),
            input: slot.call.input.clone(),
        };
        let mut options = self.finding_out(&slot.call, position, PREVIEWING);
        let attempts = &mut options.retry_policy.maximum_attempts;
        *attempts = match *attempts {
            0 => MOST_ATTEMPTS,
            attempts => attempts.min(MOST_ATTEMPTS),
        };
        Step::new(Effect::Preview(request), options)
    }

    /// It is known what a call would do, as far as its tool can find that out: a person is asked.
    pub(crate) fn previewed(
        &mut self,
        index: usize,
        asking: Asking,
        preview: Option<Preview>,
        now: DateTime<Utc>,
    ) {
        if self.state.ending.is_some() {
            self.call(index, CallEvent::Left);
            return;
        }
        let Preview {
            diff,
            text,
            fingerprint,
        } = preview.unwrap_or_default();
        let opening = Opening {
            text,
            diff,
            fingerprint,
            ..Opening::new(TicketKind::Call, asking)
        };
        self.open_ticket(index, opening, now);
        self.settle(now);
    }

    /// Returns what an approved call is to find as it was. With other arguments than the person was shown, it is only
    /// what the same paths lead to.
    pub(crate) fn seen(&self, open: &OpenTicket, args: Option<&Value>) -> Option<String> {
        let fingerprint = open.ticket.fingerprint.clone()?;
        let Some(args) = args else {
            return Some(fingerprint);
        };
        let shown = open.ticket.args_or_null();
        let mut tools = self.state.agent.head.tools.iter();
        let tool = tools.find(|tool| Some(&tool.name) == open.ticket.tool.as_ref())?;
        let mut arguments = tool.arguments.iter();
        let is_same = arguments.all(|(name, kind)| {
            *kind != ArgumentKind::Path || argument(args, name) == argument(shown, name)
        });
        is_same.then_some(fingerprint)
    }
}

/// An argument by its name or its JSON pointer.
fn argument<'a>(args: &'a Value, name: &str) -> Option<&'a Value> {
    match name.starts_with('/') {
        true => args.pointer(name),
        false => args.get(name),
    }
}
