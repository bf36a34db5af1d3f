//! What the steps come to that are no calls of models or tools.

use neuron_types::{DurableError, Outcome, Preview, StepFailure, VerifyOutcome};

use crate::{AgentMachine, Observation};

/// Whether anybody still wants to know what the step at this position comes to: a ticket is open that it verifies a decision
/// about, somebody is to be asked about the call that it previews, or the outcome that it asks for is unknown.
pub(crate) fn is_wanted(machine: &AgentMachine, position: u32) -> bool {
    machine.is_verifying(position)
        || machine.is_previewing(position)
        || machine.is_inquiring(position)
}

/// Returns what the machine observes when the step at this position ends.
///
/// # Errors
///
/// [`DurableError::Engine`] if it is the outcome of another kind of effect.
pub(crate) fn observed(
    machine: &AgentMachine,
    position: u32,
    result: Result<Outcome, StepFailure>,
) -> Result<Observation, DurableError> {
    Ok(if machine.is_previewing(position) {
        let preview = match result {
            Ok(Outcome::Preview(preview)) => preview,
            Ok(other) => return Err(misfit(&other)),
            Err(failure) => Some(unseen(&failure)),
        };
        Observation::Previewed { position, preview }
    } else if machine.is_inquiring(position) {
        let result = match result {
            Ok(Outcome::AskOutcome(output)) => Ok(output),
            Ok(other) => return Err(misfit(&other)),
            Err(failure) => Err(failure),
        };
        Observation::Inquired { position, result }
    } else {
        let verification = match result {
            Ok(Outcome::Verify(outcome)) => outcome,
            Ok(other) => return Err(misfit(&other)),
            Err(failure) => {
                VerifyOutcome::rejected(format!("it could not be found out whose it is: {failure}"))
            }
        };
        Observation::Decided {
            position,
            verification,
        }
    })
}

/// What the person reads who is asked about a call of which nobody could find out what it would do.
fn unseen(failure: &StepFailure) -> Preview {
    Preview {
        text: Some(format!(
            "it could not be found out what the call would do: {failure}"
        )),
        ..Preview::default()
    }
}

/// The door handed out what another kind of effect came to.
pub(crate) fn misfit(outcome: &Outcome) -> DurableError {
    DurableError::engine(format!(
        "the door handed out an outcome of kind {} for a step of another kind",
        outcome.kind().as_str()
    ))
}
