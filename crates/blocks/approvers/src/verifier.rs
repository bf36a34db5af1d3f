//! Approvers as those who say whose a decision is.

use neuron_types::{
    Place, TicketKind, Verdict, Verification, VerifyDecision, VerifyOutcome, VerifyRequest,
};

use crate::{approvers::Approvers, statement::Statement, verify_error::VerifyError};

/// With approvers a decision is taken if an approver who may decide the ticket signed it; without any, every decision
/// is taken, as unverified.
impl VerifyDecision for Approvers {
    fn verify(&self, place: Option<&Place>, request: &VerifyRequest) -> VerifyOutcome {
        self.judge(place, request)
    }

    fn knows_anybody(&self) -> bool {
        !self.is_empty()
    }
}

impl Approvers {
    /// Returns whose a decision is that a run took up, or why it is not taken. Pure: see [`Approvers::verify`]. `place`
    /// is where the run is; if that is not known, no signature counts.
    #[must_use]
    pub fn judge(&self, place: Option<&Place>, request: &VerifyRequest) -> VerifyOutcome {
        if self.is_empty() {
            return unverified(request);
        }
        match self.signed(place, request) {
            Ok(verification) => VerifyOutcome::Taken(verification),
            Err(reason) => VerifyOutcome::Rejected { reason },
        }
    }

    fn signed(
        &self,
        place: Option<&Place>,
        request: &VerifyRequest,
    ) -> Result<Verification, String> {
        let signature = request.decision.signature.as_deref();
        let signature = signature.filter(|armor| !armor.trim().is_empty());
        // Reported first: the rest is of no use to a person who did not sign.
        let signature = signature.ok_or_else(|| VerifyError::Unsigned.to_string())?;
        let place =
            place.ok_or("it is not known here where the run is, for which it was signed")?;
        let statement = Statement::of_request(place, request).map_err(|error| error.to_string())?;
        let verified = Self::verify(self, &statement, Some(signature));
        let verified = verified.map_err(|error| error.to_string())?;
        let from = request.from.as_deref();
        if !self.may_decide(&verified.approver, from) {
            let (who, from) = (verified.approver, from.unwrap_or_default());
            return Err(format!("{who} may not decide it: it is put to {from}"));
        }
        let groups = self.groups_of(&verified.approver);
        let groups = groups.map(ToOwned::to_owned).collect();
        Ok(Verification {
            verified: true,
            approver: Some(verified.approver),
            key: Some(verified.key),
            groups,
            by_token: false,
        })
    }
}

fn unverified(request: &VerifyRequest) -> VerifyOutcome {
    let decision = &request.decision;
    if request.kind == TicketKind::External && decision.verdict == Verdict::Complete {
        return VerifyOutcome::rejected("a result needs the token of its ticket");
    }
    VerifyOutcome::Taken(Verification::unverified(decision))
}
