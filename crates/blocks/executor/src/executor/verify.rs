//! Whose decision it is.

use std::panic::{AssertUnwindSafe, catch_unwind};

use neuron_types::{
    FailureKind, NOT_SIGNED, Place, StepFailure, TicketKind, Verdict, Verification, VerifyDecision,
    VerifyOutcome, VerifyRequest, hex,
};
use sha2::{Digest as _, Sha256};
use tracing::warn;
use uuid::Uuid;

/// Verifies whose a decision is. Without a verifier, every decision is accepted under the name that it carries, except
/// the result of a deferred tool, which needs the token.
///
/// # Errors
///
/// `no_worker` where the decision has to be signed, carries what may show whose it is, and no approvers are known here.
pub(super) fn judge(
    verifier: Option<&dyn VerifyDecision>,
    place: Option<&Place>,
    request: &VerifyRequest,
) -> Result<VerifyOutcome, StepFailure> {
    let verifier = verifier.filter(|verifier| verifier.knows_anybody());
    let decision = &request.decision;
    if decision.ticket != request.ticket || decision.digest != request.digest {
        return Ok(VerifyOutcome::rejected("it is about another ticket"));
    }
    if request.kind == TicketKind::External && decision.verdict == Verdict::Complete {
        let wanted = request.token_sha256.as_deref();
        match &decision.token {
            Some(token) if wanted == Some(sha256(token).as_str()) => {
                return Ok(VerifyOutcome::Taken(Verification {
                    by_token: true,
                    ..Verification::unverified(decision)
                }));
            }
            Some(_) => {
                return Ok(VerifyOutcome::rejected(
                    "the token is not that of the ticket",
                ));
            }
            None if verifier.is_none() && !request.signed => {
                return Ok(VerifyOutcome::rejected(
                    "a result needs the token of its ticket",
                ));
            }
            None => {}
        }
    }
    match verifier {
        Some(verifier) => Ok(verified(verifier, place, request)),
        None if request.signed && decision.lacks_proof(request.kind) => {
            Ok(VerifyOutcome::rejected(NOT_SIGNED))
        }
        None if request.signed => Err(knows_no_approvers()),
        None => Ok(VerifyOutcome::Taken(Verification::unverified(decision))),
    }
}

/// Returns what the verifier found out: nothing if it panics.
fn verified(
    verifier: &dyn VerifyDecision,
    place: Option<&Place>,
    request: &VerifyRequest,
) -> VerifyOutcome {
    let verified = catch_unwind(AssertUnwindSafe(|| verifier.verify(place, request)));
    verified.unwrap_or_else(|_| {
        warn!("the verification of a decision panicked");
        VerifyOutcome::rejected("it could not be found out whose it is")
    })
}

/// Returns the failure for a run whose decisions are signed, on a worker that cannot verify them.
fn knows_no_approvers() -> StepFailure {
    StepFailure::new(
        FailureKind::NoWorker,
        "decisions about this run are signed, and this worker knows no approvers: another one has to go on with it, or \
         this one needs the approvers of its agent file",
    )
}

/// Returns a token that cannot be guessed.
pub(super) fn new_token() -> String {
    let (one, other) = (Uuid::new_v4(), Uuid::new_v4());
    format!("{}{}", one.simple(), other.simple())
}

/// Returns the hash of a token as it stands in tickets.
pub(super) fn sha256(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}
