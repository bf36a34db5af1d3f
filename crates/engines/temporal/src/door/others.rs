//! Children of a run, and signals to other workflows of its namespace.

use neuron_types::{ChildRequest, FailureKind, Outcome, RunSignal, StepFailure, with_causes};
use temporalio_sdk::{
    ChildWorkflowOptions, ChildWorkflowStartError, ParentClosePolicy, SignalWorkflowOptions,
    WorkflowCancellationToken, WorkflowIdReusePolicy, WorkflowSignalError,
};

use crate::{
    door::steps::Steps,
    wire::{
        agent_run::AgentRun,
        fairness,
        history_input::HistoryInput,
        messages::{self, AnySignal},
        names::AGENT_WORKFLOW,
        payload_limits::{self, LARGEST_MESSAGE, LARGEST_PAYLOAD},
    },
};

impl<W> Steps<W> {
    /// Starts a child workflow that continues when the history of this run ends, however that ends: the child itself
    /// sends its result to the run, whichever history the run is in then.
    pub(crate) async fn start_other(
        &self,
        child: ChildRequest,
        token: WorkflowCancellationToken,
    ) -> Result<Outcome, StepFailure> {
        let ChildRequest { run, request } = child;
        let tags = &request.tags;
        let options = ChildWorkflowOptions::builder()
            .workflow_id(run.to_string())
            .parent_close_policy(ParentClosePolicy::Abandon)
            .id_reuse_policy(WorkflowIdReusePolicy::RejectDuplicate)
            .static_summary(format!("agent {}", request.agent.name()))
            .priority(fairness::priority(None, tags.tenant.as_deref()))
            .cancellation_token(token)
            .build();
        let bytes = self.count(&request);
        payload_limits::check_size("the agent with its prompt", bytes, LARGEST_PAYLOAD)?;
        let workflow = AgentRun {
            name: AGENT_WORKFLOW.to_owned(),
        };
        let started =
            self.ctx
                .start_child_workflow(workflow, HistoryInput::from(*request), options);
        match started.await {
            Ok(_) => Ok(Outcome::Agent),
            Err(error) => {
                let kind = match &error {
                    ChildWorkflowStartError::Cancelled(_) => FailureKind::Cancelled,
                    _ => FailureKind::InvalidRequest,
                };
                Err(StepFailure::new(kind, with_causes(&error)))
            }
        }
    }

    /// Sends a signal to another workflow, or to the run itself, which the server would not deliver. It is sent in a
    /// cancelled run, too.
    pub(crate) async fn signal_other(
        &self,
        signal: RunSignal,
        token: WorkflowCancellationToken,
    ) -> Result<Outcome, StepFailure> {
        let RunSignal { run, name, payload } = signal;
        let bytes = self.count(&payload);
        payload_limits::check_size("the signal", bytes, LARGEST_MESSAGE)?;
        if run.as_str() == self.ctx.workflow_id() {
            let signal = AnySignal { name, payload };
            self.ctx.state_mut(|host| host.receive(signal));
            return Ok(Outcome::Signal);
        }
        let options = SignalWorkflowOptions::builder()
            .cancellation_token(token)
            .build();
        let other = self.ctx.external_workflow(run.as_str(), None);
        let sent = other.signal(messages::RunSignal(name), payload, options);
        match sent.await {
            Ok(()) => Ok(Outcome::Signal),
            Err(error) => {
                let kind = match &error {
                    WorkflowSignalError::NotFound(_) => FailureKind::InvalidRequest,
                    _ => FailureKind::Internal,
                };
                Err(StepFailure::new(kind, with_causes(&error)))
            }
        }
    }
}
