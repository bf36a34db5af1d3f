//! Guards in the step that makes a call, before it and after it: the step does not rely on its caller having asked
//! them.

use neuron_types::{Asking, GuardEnd, GuardPoint, StepFailure, ToolCall, ToolOutput};
use serde_json::Value;

use super::{attempt::Attempt, guards::Guards};

/// What guards make of a call in the step that makes it.
pub(crate) enum GuardedCall {
    /// It is made, with other arguments where they are here.
    Made(Option<Value>),
    /// It is made if people approved it: this very call, since a guard asks each time.
    Asked(Asking),
    /// It is not made.
    Refused(Box<ToolOutput>),
}

impl Guards {
    /// Returns what the guards make of a call that is about to be made with these arguments.
    ///
    /// # Errors
    ///
    /// A failure of kind `guardrail` where one ends the run, `timeout` or `cancelled` where the attempt is over before.
    pub(crate) async fn before_call(
        &self,
        attempt: &Attempt<'_>,
        call: &ToolCall,
        input: &Value,
    ) -> Result<GuardedCall, StepFailure> {
        if !self.look_at(GuardPoint::Call) {
            return Ok(GuardedCall::Made(None));
        }
        let guarded = attempt
            .rare_part(self.call(&call.name, input, None))
            .await
            .map_err(|cut| cut.into_failure("a guard of the tool call"))??;
        if let Some(failure) = guarded.tripped() {
            return Err(failure);
        }
        let replaced = guarded.replaced.as_deref();
        let replaced = replaced.and_then(|text| serde_json::from_str(text).ok());
        Ok(match &guarded.end {
            GuardEnd::Block(reason) => {
                let refusal = ToolOutput::error(format!("not called: {reason}"));
                GuardedCall::Refused(Box::new(refusal))
            }
            _ if replaced.is_some() && call.approval.is_some() => {
                let refusal = "not called: a guard changes the arguments that were approved";
                GuardedCall::Refused(Box::new(ToolOutput::error(refusal)))
            }
            GuardEnd::Ask(reason) => GuardedCall::Asked(Asking::new(reason.clone())),
            GuardEnd::Pass | GuardEnd::Trip(_) => GuardedCall::Made(replaced),
        })
    }

    /// Returns what the guards leave of a result. The result is withheld where the attempt is over before they are
    /// done: the call has been made.
    ///
    /// # Errors
    ///
    /// A failure of kind `guardrail` where one ends the run.
    pub(crate) async fn after_call(
        &self,
        attempt: &Attempt<'_>,
        tool: &str,
        output: ToolOutput,
    ) -> Result<ToolOutput, StepFailure> {
        if !self.look_at(GuardPoint::Result) {
            return Ok(output);
        }
        match attempt.rare_part(self.guard_result(tool, output)).await {
            Ok(guarded) => guarded,
            Err(_) => Ok(ToolOutput::error(
                "[withheld: the guards were not done when the attempt was over]",
            )),
        }
    }
}
