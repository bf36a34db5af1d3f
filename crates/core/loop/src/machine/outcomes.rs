//! What a decision about a ticket leads to.

use chrono::{DateTime, Utc};
use neuron_types::{
    Approval, Asking, Choice, Decision, FailureKind, OpenTicket, Pending, RememberedDecision,
    Resumed, RunError, RunEvent, StepFailure, TicketKind, ToolOutput, Verdict, Verification,
};
use serde_json::Value;

use crate::{
    AgentMachine,
    machine::{call::CallEvent, tickets::judged},
};

/// What the model reads where a person says that a call took effect and not what came of it.
const HAPPENED: &str = "a person says that the call took effect; what it returned is not known";

/// Returns what the model reads where a person did not do what was asked of them.
fn denial(what: &str, verb: &str, who: Option<&str>, why: Option<&str>) -> String {
    let who = who.unwrap_or("a person");
    let why = why.map(|text| format!(": {text}")).unwrap_or_default();
    format!("{what}: {who} {verb} it{why}")
}

impl AgentMachine {
    /// Asks a person, or goes by what one decided about this question for the rest of the run. An approval for the rest of it
    /// does not answer a guard, which asks each time.
    pub(crate) fn ask(&mut self, index: usize, asking: Asking, now: DateTime<Utc>) {
        let turn = self.state.turn;
        let Some((call_id, known)) = self.remembered(index, &asking) else {
            self.ask_about_call(index, asking, now);
            return;
        };
        self.emit(RunEvent::DecisionRepeated {
            turn,
            call_id,
            tool: known.tool,
            verdict: known.verdict,
            approver: known.approver.clone(),
        });
        if known.verdict == Verdict::Approve {
            if let Some(slot) = self.state.calls.get_mut(index) {
                let approval = known
                    .approval
                    .map(|approval| approval.beside(&slot.call.input));
                slot.call.approval = approval.map(Box::new);
            }
            self.call(index, CallEvent::Allowed);
        } else {
            let (who, why) = (known.approver.as_deref(), known.comment.as_deref());
            self.refuse_call(index, &denial("not called", "denied", who, why));
        }
    }

    /// A call was not made, since its executor asks about it, and no decision that the call brought along counts for
    /// the executor. The run asks in the executor's words: not of what people decided before, if that is what does not
    /// count.
    pub(crate) fn not_approved(&mut self, index: usize, failure: StepFailure, now: DateTime<Utc>) {
        let asking = match failure.asking {
            Some(asking) => *asking,
            None => Asking::new(failure.message),
        };
        let slot = self.state.calls.get_mut(index);
        let was_approved = slot.and_then(|slot| slot.call.approval.take()).is_some();
        if was_approved {
            self.ask_about_call(index, asking, now);
        } else {
            self.ask(index, asking, now);
        }
    }

    /// A call's id, and what was decided about this question for the rest of the run.
    fn remembered(&self, index: usize, asking: &Asking) -> Option<(String, RememberedDecision)> {
        let agent = &self.state.agent;
        let slot = self.state.calls.get(index)?;
        let judged = judged(&slot.call, &agent.head.tools);
        let known = agent.approvals.remembered(&judged, asking)?;
        let counts = slot.doubt.is_none() || known.verdict != Verdict::Approve;
        counts.then(|| (slot.call.id.clone(), known.clone()))
    }

    /// Closes a ticket with the decision that it takes, and continues with its call.
    pub(crate) fn settle_ticket(
        &mut self,
        decision: Decision,
        verification: &Verification,
        now: DateTime<Utc>,
    ) {
        let Some(open) = self.close_ticket(&decision.ticket) else {
            return;
        };
        self.stop_waiting(now);
        self.emit(RunEvent::ApprovalDecided {
            ticket: decision.ticket.clone(),
            kind: open.ticket.kind,
            verdict: decision.verdict,
            digest: decision.digest.clone(),
            approver: verification.approver.clone(),
            verified: verification.verified,
            key: verification.key.clone(),
            decided_at: decision.at.clone(),
            comment: decision.comment.clone(),
            args: decision.args.clone(),
            text: decision.text.clone(),
            choice: decision.choice.clone(),
            output: decision.output.clone(),
            decision: Some(decision.id()),
        });
        for late in &open.queued {
            self.emit(RunEvent::ApprovalRefused {
                ticket: late.ticket.clone(),
                reason: "it is decided already".to_owned(),
                decision: Some(late.id()),
            });
        }
        if let Some(halt) = self.take_halt(&decision.ticket) {
            return self.go_on_as_chosen(halt, decision.choice.as_deref(), now);
        }
        if let Some(index) = self.index_of(&open) {
            self.remember(&open, &decision, verification);
            self.apply(index, &open, decision, verification);
        }
        if self.state.ending.is_some() {
            self.end_if_left(now);
        } else {
            self.settle(now);
        }
    }

    fn remember(&mut self, open: &OpenTicket, decision: &Decision, verification: &Verification) {
        if let Some(mut remembered) = RememberedDecision::of(decision, &open.ticket, verification) {
            if decision.verdict == Verdict::Approve {
                remembered.approval = Some(Box::new(self.approval(open, decision)));
            }
            self.state.agent.approvals.remember(remembered);
        }
    }

    fn apply(
        &mut self,
        index: usize,
        open: &OpenTicket,
        decision: Decision,
        verification: &Verification,
    ) {
        match decision.verdict {
            Verdict::Approve => self.approve(index, open, decision),
            Verdict::Deny => {
                let who = verification.approver.as_deref();
                self.deny(index, open, who, decision.comment.as_deref());
            }
            Verdict::Answer if open.ticket.kind == TicketKind::Form => {
                self.resume(index, open, decision.args);
            }
            Verdict::Answer => {
                let answer = decision.text.unwrap_or_default();
                self.answer_call(index, ToolOutput::text(answer));
            }
            Verdict::Complete => {
                let output = decision.output.unwrap_or(Value::Null);
                self.answer_call(index, ToolOutput::from_value(output));
            }
            Verdict::Choose => self.choose(index, open, decision.choice.unwrap_or_default()),
        }
    }

    fn approve(&mut self, index: usize, open: &OpenTicket, decision: Decision) {
        let seen = self.seen(open, decision.args.as_ref());
        let approval = self.approval(open, &decision);
        if let Some(slot) = self.state.calls.get_mut(index) {
            if let Some(args) = decision.args {
                slot.edited = slot.edited || open.ticket.args.as_ref() != Some(&args);
                slot.call.input = args;
            }
            slot.call.preview = seen;
            slot.call.approval = Some(Box::new(approval.beside(&slot.call.input)));
        }
        // Guards and hooks look at what a person made of it.
        let is_other = open.ticket.args.as_ref() != self.input_of(index);
        let event = match is_other && self.state.agent.guards_calls() {
            true => CallEvent::Edited,
            false => CallEvent::Allowed,
        };
        self.call(index, event);
    }

    fn input_of(&self, index: usize) -> Option<&Value> {
        self.state.calls.get(index).map(|slot| &slot.call.input)
    }

    /// Returns the approval that a call brings along after this decision, together with the decisions before it.
    fn approval(&self, open: &OpenTicket, decision: &Decision) -> Approval {
        let mut decisions = open.approvals.clone();
        if decisions.last() != Some(decision) {
            decisions.push(decision.clone());
        }
        let directory = self.state.directory.as_deref();
        Approval::of(&open.ticket, decisions, &self.state.definition, directory)
            .with_signed(self.state.lineage.signed)
    }

    fn deny(&mut self, index: usize, open: &OpenTicket, who: Option<&str>, why: Option<&str>) {
        let refusal = match open.ticket.kind {
            TicketKind::Question => denial("not answered", "declined", who, why),
            TicketKind::External => denial("no result", "gave up", who, why),
            TicketKind::UnknownOutcome => return self.leave_unknown(index, open),
            TicketKind::Form => return self.resume(index, open, None),
            _ => denial("not called", "denied", who, why),
        };
        self.refuse_call(index, &refusal);
    }

    fn choose(&mut self, index: usize, open: &OpenTicket, choice: String) {
        if open.ticket.kind == TicketKind::Question {
            return self.answer_call(index, ToolOutput::text(choice));
        }
        let chosen = Choice::parse(open.ticket.kind, &choice);
        if open.ticket.kind == TicketKind::Guard {
            return self.decide_on_result(index, open.pending.as_ref(), chosen.ok().as_ref());
        }
        match chosen {
            Ok(Choice::Happened(Some(result))) => {
                self.answer_call(index, ToolOutput::from_value(result));
            }
            Ok(Choice::Happened(None)) => self.answer_call(index, ToolOutput::text(HAPPENED)),
            Ok(Choice::Retry) => {
                self.call(index, CallEvent::Allowed);
            }
            Ok(Choice::End) => {
                self.leave_unknown(index, open);
                self.state.ending = Some(RunError {
                    kind: FailureKind::OutcomeUnknown,
                    message: open.ticket.text.clone().unwrap_or_default(),
                });
            }
            // A ticket does not take what it does not list.
            _ => self.leave_unknown(index, open),
        }
    }

    /// The model reads that the outcome of its call is not known.
    pub(crate) fn leave_unknown(&mut self, index: usize, open: &OpenTicket) {
        let what = open.ticket.text.as_deref().unwrap_or("nobody knows");
        self.fail_call(index, what, FailureKind::OutcomeUnknown);
    }

    /// Makes the call again with what was filled into its form; `None` if the person declined.
    fn resume(&mut self, index: usize, open: &OpenTicket, answers: Option<Value>) {
        let state = match &open.pending {
            Some(Pending::Form { state, .. }) => state.clone(),
            _ => None,
        };
        let declined = answers.is_none();
        let answers = match answers {
            Some(Value::Object(answers)) => answers.into_iter().collect(),
            _ => Default::default(),
        };
        if let Some(slot) = self.state.calls.get_mut(index) {
            slot.call.resumed = Some(Resumed {
                answers,
                declined,
                state,
            });
        }
        self.call(index, CallEvent::Allowed);
    }
}
