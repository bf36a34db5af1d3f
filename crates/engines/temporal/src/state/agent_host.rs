//! The state of a run's workflow beside the loop, which is shown whenever it changes.

use std::{fmt, marker::PhantomData};

use chrono::{DateTime, Utc};
use neuron_engine::CancelBody;
use neuron_types::{Decision, RunEvent, VerifyOutcome, json_bytes, signal};
use temporalio_sdk::WorkflowContext;

use crate::{
    state::{hosting::Hosting, run_view::RunView, search_attributes},
    wire::{history_input::HistoryInput, messages::AnySignal},
};

/// The Temporal workflow around an [`AgentWorkflow`](crate::AgentWorkflow): queues signals, checks updates, answers queries.
pub struct AgentHost<W> {
    pub(crate) view: RunView,
    pub(crate) hosting: Hosting,
    workflow: PhantomData<W>,
}

impl<W> fmt::Debug for AgentHost<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentHost").finish_non_exhaustive()
    }
}

impl<W> AgentHost<W> {
    pub(crate) fn new(hosting: Hosting) -> Self {
        Self {
            view: RunView::new(hosting.segments.pace()),
            hosting,
            workflow: PhantomData,
        }
    }

    /// Verifies a decision that has arrived, as far as this worker can; returns `None` if it cannot.
    pub(crate) fn judge(&self, decision: &Decision) -> Option<VerifyOutcome> {
        let status = self.view.status()?;
        self.hosting.executors.judge_decision(status, decision)
    }

    /// Numbers and records an event, and emits it to the sink once.
    pub(crate) fn emit(ctx: &WorkflowContext<Self>, event: RunEvent) {
        let at = time_of(ctx);
        let (recorded, details, sink) = ctx.state_mut(|host| {
            let recorded = host.view.record(event, at);
            (recorded, host.view.details(), host.hosting.sink.clone())
        });
        ctx.set_current_details(details);
        Self::show(ctx);
        if let (Some(recorded), false) = (recorded, ctx.is_replaying()) {
            sink.event(&recorded);
        }
    }

    /// Makes this history set search attributes if the worker's namespace has them, or if the history before it has set
    /// them. A replay follows the history.
    pub(crate) fn begin_to_show(ctx: &WorkflowContext<Self>, input: &HistoryInput) {
        let registered = ctx.state(|host| host.hosting.registered.get());
        let is_replaying = ctx.is_replaying();
        let may_show = is_replaying || input.is_shown() || registered.state;
        if may_show && ctx.patched(search_attributes::MARK) {
            ctx.state_mut(|host| host.view.shown.turn_on());
        } else if may_show && ctx.patched(search_attributes::MARK_1) {
            ctx.state_mut(|host| host.view.shown.turn_on_first_version());
        }
        // The server copies them to the histories that follow.
        let may_tag = input.brings_tags() && (is_replaying || registered.tags);
        if may_tag && ctx.patched(search_attributes::MARK_TAGS) {
            ctx.state_mut(|host| host.view.shown.tag());
        }
        Self::show(ctx);
    }

    /// Sets the search attributes, if they do not match the run's state.
    pub(crate) fn show(ctx: &WorkflowContext<Self>) {
        let updates = ctx.state_mut(|host| host.view.search_attributes());
        match updates {
            Ok(updates) if !updates.is_empty() => ctx.upsert_search_attributes(updates),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the run's search attributes were not set"),
        }
    }

    /// Cancels the run.
    pub(crate) fn cancel(&self, reason: Option<&str>) {
        let reason = reason.unwrap_or_default();
        self.view.stop.cancel_with_reason(reason);
    }

    /// Receives a signal.
    pub(crate) fn receive(&mut self, signal: AnySignal) {
        let AnySignal { name, payload } = signal;
        self.view.fill.add(json_bytes(&payload).unwrap_or_default());
        if name == signal::CANCEL {
            self.cancel(CancelBody::of_signal(&payload).reason.as_deref());
        } else {
            self.view.put_raw(name, payload);
        }
    }
}

/// Returns the time of the history as far as the workflow has processed it.
pub(crate) fn time_of<W>(ctx: &WorkflowContext<AgentHost<W>>) -> DateTime<Utc> {
    ctx.workflow_time()
        .map_or(DateTime::UNIX_EPOCH, DateTime::from)
}
