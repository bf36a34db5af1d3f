//! Where one history of a run ends and the next begins.

use neuron_types::{DurableError, RunId, RunState};
use temporalio_sdk::{ContinueAsNewOptions, WorkflowContext, WorkflowTermination};

use crate::{
    AgentHost, AgentWorkflow, TemporalDurableContext,
    carried::{HistoryInput, json_bytes},
    door::{ENGINE, time_of, unwritable},
    host::failed,
    roll_over,
    size::LARGEST_PAYLOAD,
};

/// Marks in a history: here it was left, here nothing more was added to it.
const LEFT: &str = "neuron-left";
const FULL: &str = "neuron-full";

impl<W: AgentWorkflow> TemporalDurableContext<W> {
    /// Whether the run should go on in a fresh history.
    pub(crate) fn is_history_long(&self) -> bool {
        let events = self.ctx.history_length() as usize;
        self.ctx.state_mut(|host| host.board.fill.look(events));
        if self.check().is_err() {
            return false;
        }
        if self.ctx.is_replaying() {
            return self.mark(LEFT) || self.mark(FULL);
        }
        let is_suggested = self.ctx.continue_as_new_suggested();
        self.ctx.state(|host| {
            let (fill, settings) = (&host.board.fill, &host.roll_over);
            let is_full = settings.is_full(fill.size());
            let conversation = host.board.line.bytes();
            if fill.is_declined(conversation) {
                return is_full;
            }
            // An update that was taken just now is to be answered before the history ends.
            let owes_answer = host.board.updated_at == Some(self.ctx.history_length());
            (is_suggested || is_full || fill.is_due(settings.after, conversation))
                && !owes_answer
                && !settings.was_refused(self.ctx.run_id())
        })
    }

    /// Hands the run's state over to a fresh history, if it can be and there is need.
    pub(crate) fn leave_history(&self, state: &RunState) -> Result<(), DurableError> {
        self.check()?;
        if self.ctx.cancellation_token().is_cancelled() {
            // The loop hears of it at its next step.
            return Ok(());
        }
        let history = self.ctx.run_id();
        let carried = self.ctx.state(|host| host.board.carry(state, history));
        let Some(carried) = carried else {
            return Ok(());
        };
        let bytes = json_bytes(&carried).map_err(unwritable)?;
        let fits = bytes <= LARGEST_PAYLOAD;
        // A replay goes by what is in the history, whatever its worker would do now.
        if (fits || self.ctx.is_replaying()) && self.mark(LEFT) {
            return self.ctx.state_mut(|host| {
                host.roll_over.attempt(history);
                host.board.left = Some(carried);
                Err(DurableError::ContinuedAsNew)
            });
        }
        let size = self.ctx.state_mut(|host| {
            let conversation = host.board.line.bytes();
            host.board.fill.decline(conversation);
            host.board.fill.size()
        });
        let is_full =
            self.ctx.is_replaying() || self.ctx.state(|host| host.roll_over.is_full(size));
        if is_full && self.mark(FULL) {
            return Err(roll_over::full(size, bytes).into());
        }
        Ok(())
    }

    /// Notes in the history what is done at this place in it, or says whether the history tells of it.
    fn mark(&self, what: &str) -> bool {
        let place = self.ctx.state(|host| host.board.fill.place());
        self.ctx.patched(&format!("{what}-{place}"))
    }
}

impl<W: AgentWorkflow> AgentHost<W> {
    /// Begins the history. It is done before the signals and updates that came with its start are taken in.
    pub(crate) fn open(
        ctx: &WorkflowContext<Self>,
        input: &mut HistoryInput,
    ) -> Result<RunId, WorkflowTermination> {
        let run_id = RunId::new(ctx.workflow_id()).map_err(|error| failed(&error))?;
        let now = time_of(ctx);
        ctx.state_mut(|host| host.board.open(run_id.clone(), ENGINE, input, now))
            .map_err(|error| failed(&error))?;
        Ok(run_id)
    }

    /// Ends this history; the run goes on in a fresh one.
    pub(crate) fn leave(ctx: &WorkflowContext<Self>) -> WorkflowTermination {
        let Some(carried) = ctx.state_mut(|host| host.board.left.take()) else {
            return failed(&NothingCarried);
        };
        let fresh = ctx.continue_as_new(carried.into(), ContinueAsNewOptions::default());
        match fresh {
            Err(termination) => termination,
            Ok(never) => match never {},
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the workflow left its history without handing over the run's state")]
struct NothingCarried;
