//! Which decisions a ticket takes.

use serde_json::Value;

use super::schema;
use crate::{Always, Choice, Decision, Extension, Ticket, TicketKind, Verdict};

impl Ticket {
    /// Checks whether the ticket takes such a decision, with all that the decision has to carry. Neither the digest of
    /// the decision nor its decider is looked at.
    ///
    /// # Errors
    ///
    /// A sentence that says what the ticket takes.
    pub fn suits(&self, decision: &Decision) -> Result<(), String> {
        self.check_verdict(decision)?;
        match decision.always {
            Some(always) => self.takes_always(always),
            None => Ok(()),
        }
    }

    /// Checks whether a decision about this ticket can be for these later calls too: only where the ticket asks whether
    /// a call may be made, and any person alone may decide that. A group, or several people, are asked each time.
    ///
    /// # Errors
    ///
    /// A sentence that says why not.
    pub fn takes_always(&self, always: Always) -> Result<(), String> {
        let (kind, needed) = (self.kind, self.needed);
        if kind != TicketKind::Call {
            return Err(format!(
                "what is decided about a ticket of kind {kind} is for this ticket only: leave `always` out"
            ));
        }
        if needed > 1 {
            return Err(format!(
                "it needs {needed} people, who are asked each time: leave `always` out"
            ));
        }
        if let Some(from) = &self.from {
            return Err(format!(
                "it is put to {from}, who is asked each time: leave `always` out"
            ));
        }
        if always == Always::Prefix && self.prefix.is_none() {
            return Err(
                "the ticket has no prefix: decide about the call, or about the tool".to_owned(),
            );
        }
        Ok(())
    }

    fn check_verdict(&self, decision: &Decision) -> Result<(), String> {
        match (self.kind, decision.verdict) {
            (TicketKind::Call, Verdict::Approve)
            | (
                TicketKind::Call
                | TicketKind::Question
                | TicketKind::UnknownOutcome
                | TicketKind::Form
                | TicketKind::External,
                Verdict::Deny,
            ) => Ok(()),
            (TicketKind::Question, Verdict::Answer) => match &decision.text {
                Some(_) => Ok(()),
                None => Err("an answer has a text".to_owned()),
            },
            (TicketKind::Question, Verdict::Choose) => self.check_listed(chosen(decision)?),
            (
                TicketKind::Failure
                | TicketKind::Budget
                | TicketKind::UnknownOutcome
                | TicketKind::Guard,
                Verdict::Choose,
            ) => self.check_choice(chosen(decision)?),
            (TicketKind::Form, Verdict::Answer) => self.check_answers(decision.args.as_ref()),
            (TicketKind::External, Verdict::Complete) => {
                let output = decision.output.as_ref().unwrap_or(&Value::Null);
                self.check_schema(output)
                    .map_err(|reason| format!("the result does not fit: {reason}"))
            }
            (kind, verdict) => Err(format!(
                "a ticket of kind {kind} takes {} and not {}",
                taken_by(kind),
                verdict.as_str()
            )),
        }
    }

    fn check_choice(&self, text: &str) -> Result<(), String> {
        match Choice::parse(self.kind, text)? {
            Choice::RetryWith(_) => self.check_listed(text),
            Choice::Extend { key, by } => Extension::parse(&key, &by).map(drop),
            _ => Ok(()),
        }
    }

    fn check_listed(&self, choice: &str) -> Result<(), String> {
        if self.choices.iter().any(|known| known == choice) {
            return Ok(());
        }
        let known = match self.choices.join(", ") {
            none if none.is_empty() => "answer with a text instead".to_owned(),
            known => format!("choose {known}"),
        };
        Err(format!("there is no choice {choice:?}: {known}"))
    }

    fn check_answers(&self, answers: Option<&Value>) -> Result<(), String> {
        match answers {
            Some(answers @ Value::Object(_)) => self
                .check_schema(answers)
                .map_err(|reason| format!("the answers do not fit the form: {reason}")),
            _ => Err("the answers to a form are a JSON object".to_owned()),
        }
    }

    fn check_schema(&self, value: &Value) -> Result<(), String> {
        match &self.schema {
            Some(schema) => schema::check(schema, value),
            None => Ok(()),
        }
    }
}

fn chosen(decision: &Decision) -> Result<&str, String> {
    let choice = decision.choice.as_deref();
    choice.ok_or_else(|| "it says nothing that is chosen".to_owned())
}

const fn taken_by(kind: TicketKind) -> &'static str {
    match kind {
        TicketKind::Call => "approve or deny",
        TicketKind::Question => "answer, choose or deny",
        TicketKind::Failure | TicketKind::Budget | TicketKind::Guard => "choose",
        TicketKind::UnknownOutcome => "choose or deny",
        TicketKind::Form => "answer or deny",
        TicketKind::External => "complete or deny",
    }
}
