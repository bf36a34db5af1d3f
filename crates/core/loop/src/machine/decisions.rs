//! Decisions: taken up, verified, counted.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use neuron_types::{
    Decision, Effect, Given, OpenTicket, RunEvent, Step, TicketKind, Verdict, Verification,
    VerifyOutcome, VerifyRequest,
};

use crate::{AgentMachine, MachineError};

/// How many decisions about a ticket are looked at that came as raw signals. A sender of raw signals could otherwise
/// cause any number of verifications. Decisions that came any other way are not counted, so that raw signals cannot
/// close a ticket to them.
const MOST_RAW: u32 = 20;

/// How many decisions about one ticket wait to be verified at a time: more than are looked at as raw signals, so that these keep
/// none out that comes any other way.
const MOST_QUEUED: usize = 32;

/// How many bytes the decisions of a run that wait to be verified have together, as JSON: the run carries them along. One that
/// waits alone may be as large as it is.
const MOST_QUEUED_BYTES: usize = 256 * 1024;

/// How many bytes one that came so has at most, as JSON, where it waits to be verified: all of a ticket's leave room for those
/// that come any other way.
const MOST_RAW_BYTES: usize = 8 * 1024;

/// How long nothing is said about further ones that are dropped.
const BETWEEN_DROPS: TimeDelta = TimeDelta::minutes(1);

/// How long one attempt of a verification may take.
const VERIFYING: Duration = Duration::from_secs(30);

impl AgentMachine {
    /// Takes up a decision that came: it is verified next, if it fits an open ticket.
    pub(crate) fn decision_arrived(&mut self, decision: Decision) {
        let (ticket, id) = (decision.ticket.clone(), decision.id());
        if let Err(reason) = self.queue_decision(decision) {
            self.reject(ticket, id, reason);
        }
    }

    /// Returns whether a decision is dropped that came as a raw signal: too many came about its ticket, or about none
    /// that is open.
    pub(crate) fn drops_raw(&mut self, decision: &Decision, now: DateTime<Utc>) -> bool {
        let is_signed = self.state.lineage.signed;
        let mut tickets = self.state.tickets.iter_mut();
        let open = tickets.find(|open| open.ticket.ticket == decision.ticket);
        let (looked_at, dropped_at, what) = match open {
            Some(open) => (&mut open.taken_up, &mut open.dropped_at, "it"),
            None => {
                let stray = &mut self.state.stray;
                let what = "no open ticket";
                (&mut stray.looked_at, &mut stray.dropped_at, what)
            }
        };
        match RawSignal::next(looked_at, dropped_at, now) {
            RawSignal::LookedAt if is_signed && json_bytes(decision) > MOST_RAW_BYTES => {
                let reason = format!(
                    "as a signal it may have {MOST_RAW_BYTES} bytes: send it as anything else"
                );
                self.reject_decision(decision, reason);
            }
            RawSignal::LookedAt => return false,
            RawSignal::Dropped => {}
            RawSignal::DroppedAloud => self.reject_decision(decision, drop_reason(what)),
        }
        true
    }

    /// Returns what is said of a raw signal that could not be read as a decision, for this reason; `None` if too many came.
    pub(crate) fn says_of_unread(&mut self, reason: String, now: DateTime<Utc>) -> Option<String> {
        let stray = &mut self.state.stray;
        match RawSignal::next(&mut stray.looked_at, &mut stray.dropped_at, now) {
            RawSignal::LookedAt => Some(reason),
            RawSignal::Dropped => None,
            RawSignal::DroppedAloud => Some(drop_reason("no open ticket")),
        }
    }

    /// Says that a decision is not taken; its ticket stays open.
    pub(crate) fn reject_decision(&mut self, decision: &Decision, reason: String) {
        self.reject(decision.ticket.clone(), decision.id(), reason);
    }

    fn reject(&mut self, ticket: String, id: String, reason: String) {
        let mut tickets = self.state.tickets.iter_mut();
        if let Some(open) = tickets.find(|open| open.ticket.ticket == ticket) {
            open.ticket.answered = open.ticket.answered.saturating_add(1);
        }
        self.emit(RunEvent::ApprovalRefused {
            ticket,
            reason,
            decision: Some(id),
        });
    }

    /// Queues a decision, or says why it is not taken.
    fn queue_decision(&mut self, decision: Decision) -> Result<(), String> {
        let misfit = self.refused_edit(&decision);
        let mut tickets = self.state.tickets.iter();
        let Some(open) = tickets.find(|open| open.ticket.ticket == decision.ticket) else {
            return Err("there is no open ticket of this name".to_owned());
        };
        if open.ticket.digest != decision.digest {
            return Err("the digest is not that of the ticket".to_owned());
        }
        open.ticket.suits(&decision)?;
        if let Some(misfit) = misfit {
            return Err(misfit);
        }
        if open.queued.len() >= MOST_QUEUED {
            return Err(format!(
                "{MOST_QUEUED} decisions about it wait to be verified: send it again when they were"
            ));
        }
        let waiting: usize = self.queued().map(json_bytes).sum();
        if waiting > 0 && waiting.saturating_add(json_bytes(&decision)) > MOST_QUEUED_BYTES {
            return Err(format!(
                "decisions of {waiting} bytes wait to be verified, and with it they are more than {MOST_QUEUED_BYTES}: send \
                 it again when they were"
            ));
        }
        let mut tickets = self.state.tickets.iter_mut();
        if let Some(open) = tickets.find(|open| open.ticket.ticket == decision.ticket) {
            open.queued.push(decision);
        }
        Ok(())
    }

    /// The decisions that wait to be verified.
    fn queued(&self) -> impl Iterator<Item = &Decision> {
        let tickets = self.state.tickets.iter();
        tickets.flat_map(|open| &open.queued)
    }

    /// The tickets with a decision that is to be verified now.
    pub(crate) fn verifiable(&self) -> impl Iterator<Item = &OpenTicket> {
        let tickets = self.state.tickets.iter();
        tickets.filter(|open| open.verifying.is_none() && !open.queued.is_empty())
    }

    /// The step at this position that finds out whose the next decision about a ticket is.
    pub(crate) fn verification(&self, open: &OpenTicket, position: u32) -> Option<Step> {
        let request = self.verification_of(open, open.queued.first()?);
        let effect = Effect::Verify(Box::new(request));
        Some(Step::new(effect, self.own_call(position, VERIFYING)))
    }

    fn verification_of(&self, open: &OpenTicket, decision: &Decision) -> VerifyRequest {
        let ticket = &open.ticket;
        VerifyRequest {
            decision: decision.clone(),
            run: self.state.run.clone(),
            nonce: self.state.lineage.nonce,
            directory: self.state.directory.clone(),
            ticket: ticket.ticket.clone(),
            digest: ticket.digest.clone(),
            definition: self.state.definition.clone(),
            kind: ticket.kind,
            from: ticket.from.clone(),
            needed: ticket.needed,
            token_sha256: ticket.token_sha256.clone(),
            signed: self.state.lineage.signed,
        }
    }

    /// The verifications that can be made are being started.
    pub(crate) fn verifications_started(&mut self) {
        let tickets = self.verifiable().map(|open| open.ticket.ticket.clone());
        for ticket in tickets.collect::<Vec<_>>() {
            let position = self.next_own_call();
            let mut tickets = self.state.tickets.iter_mut();
            if let Some(open) = tickets.find(|open| open.ticket.ticket == ticket) {
                open.verifying = Some(position);
                self.state.own_calls = self.state.own_calls.saturating_add(1);
            }
        }
    }

    /// Returns whether the step at this position verifies a decision about a ticket that is still open.
    pub(crate) fn is_verifying(&self, position: u32) -> bool {
        let mut tickets = self.state.tickets.iter();
        tickets.any(|open| open.verifying == Some(position))
    }

    /// The ends of the verifications in flight are unknown: they are made again.
    pub(crate) fn verify_again(&mut self) {
        for open in &mut self.state.tickets {
            open.verifying = None;
        }
    }

    /// It is known whose decision it is.
    pub(crate) fn decided(
        &mut self,
        position: u32,
        outcome: VerifyOutcome,
        now: DateTime<Utc>,
    ) -> Result<(), MachineError> {
        let mut tickets = self.state.tickets.iter_mut();
        let open = tickets
            .find(|open| open.verifying == Some(position))
            .ok_or(MachineError::UnknownStep { position })?;
        open.verifying = None;
        if open.queued.is_empty() {
            return Ok(());
        }
        let decision = open.queued.remove(0);
        let (ticket, id) = (decision.ticket.clone(), decision.id());
        let taken = match outcome {
            VerifyOutcome::Taken(verification) => self.take_decision(decision, &verification, now),
            VerifyOutcome::Rejected { reason } => Err(reason),
        };
        if let Err(reason) = taken {
            self.reject(ticket, id, reason);
        }
        Ok(())
    }

    /// Takes a decision, or says why it is not taken.
    fn take_decision(
        &mut self,
        decision: Decision,
        verification: &Verification,
        now: DateTime<Utc>,
    ) -> Result<(), String> {
        let mut tickets = self.state.tickets.iter_mut();
        let Some(open) = tickets.find(|open| open.ticket.ticket == decision.ticket) else {
            return Err("there is no open ticket of this name".to_owned());
        };
        check_who(open, &decision, verification)?;
        if decision.verdict == Verdict::Approve && open.ticket.needed > 1 {
            let given = given(open, &decision, verification, now)?;
            open.give(given.clone(), decision.clone());
            let remaining = open.ticket.remaining();
            if remaining > 0 {
                self.emit(RunEvent::ApprovalGiven {
                    decision: Some(decision.id()),
                    ticket: decision.ticket,
                    digest: decision.digest,
                    approver: given.name,
                    verified: given.verified,
                    key: given.key,
                    decided_at: decision.at,
                    comment: decision.comment,
                    args: given.args,
                    remaining,
                });
                return Ok(());
            }
        }
        self.settle_ticket(decision, verification, now);
        Ok(())
    }
}

/// What becomes of a raw signal.
enum RawSignal {
    LookedAt,
    Dropped,
    /// The decision is dropped, and an event reports that.
    DroppedAloud,
}

impl RawSignal {
    /// Returns what becomes of one more decision, where this many were looked at and a drop was last reported at that
    /// time.
    fn next(
        looked_at: &mut u32,
        dropped_at: &mut Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) -> Self {
        if *looked_at < MOST_RAW {
            *looked_at = looked_at.saturating_add(1);
            return Self::LookedAt;
        }
        if dropped_at.is_some_and(|said| now.signed_duration_since(said) < BETWEEN_DROPS) {
            return Self::Dropped;
        }
        *dropped_at = Some(now);
        Self::DroppedAloud
    }
}

fn drop_reason(about: &str) -> String {
    format!(
        "{MOST_RAW} signals about {about} were looked at: no further one is, and decisions that come as anything else are"
    )
}

/// Returns how many bytes a decision has as JSON.
fn json_bytes(decision: &Decision) -> usize {
    // A decision holds nothing that JSON cannot.
    serde_json::to_vec(decision).map_or(0, |json| json.len())
}

/// Checks whether the decision is of a person who may make it.
fn check_who(
    open: &OpenTicket,
    decision: &Decision,
    verification: &Verification,
) -> Result<(), String> {
    let ticket = &open.ticket;
    if ticket.kind == TicketKind::External && decision.verdict == Verdict::Complete {
        // The token shows that the decision comes from the party that the tool left the result to.
        return if verification.by_token || verification.verified {
            Ok(())
        } else {
            Err("a result needs the token of its ticket, or an approver's signature".to_owned())
        };
    }
    let from = ticket.from.as_deref();
    if verification.is_from(from) {
        return Ok(());
    }
    let who = verification.approver.as_deref().unwrap_or("nobody known");
    let from = from.unwrap_or_default();
    Err(format!("{who} may not decide it: it is put to {from}"))
}

/// The approval of one of several people.
fn given(
    open: &OpenTicket,
    decision: &Decision,
    verification: &Verification,
    now: DateTime<Utc>,
) -> Result<Given, String> {
    let ticket = &open.ticket;
    let name = verification
        .approver
        .clone()
        .filter(|name| !name.is_empty());
    let Some(name) = name else {
        let needed = ticket.needed;
        return Err(format!(
            "it needs {needed} people: the decision has to say whose it is"
        ));
    };
    // The ticket's own arguments, put in again, are no other ones.
    let changed = decision
        .args
        .clone()
        .filter(|args| ticket.args.as_ref() != Some(args));
    let mut before = ticket.decisions.iter();
    if before.any(|given| given.name.as_deref() == Some(&name) && given.args == changed) {
        return Err(format!("{name} approved it already"));
    }
    Ok(Given {
        name: Some(name),
        key: verification.key.clone(),
        verified: verification.verified,
        at: now,
        args: changed,
    })
}
