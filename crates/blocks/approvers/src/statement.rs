//! What is signed.

use chrono::{DateTime, SecondsFormat, Utc};
use neuron_types::canonical_json;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The namespace of signatures, as `ssh-keygen -Y sign -n` takes it: what was signed for something else is no decision.
pub const NAMESPACE: &str = "neuron";

/// The version of the statement, its `v`.
pub const STATEMENT_VERSION: u32 = 1;

/// What a decision says. All of it is signed.
///
/// A key without a value and one with `null` are the same, and neither is written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DecisionContent {
    /// What kind of decision it is: `approve` or `deny` of a call, `answer` of a question, `complete` of a deferred
    /// tool, `choose` where the ticket has choices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The call's final arguments, where they are not those of the ticket.
    #[serde(default, skip_serializing_if = "is_absent")]
    pub args: Option<Value>,
    /// The answer to a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The choice, such as `retry` or `extend:cost_usd=2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// The result of a deferred tool.
    #[serde(default, skip_serializing_if = "is_absent")]
    pub output: Option<Value>,
    /// What else the person has to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Which later calls of the run it is for too, where it is for any: `call`, `prefix` or `tool`. The prefix is part of
    /// the ticket's digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<String>,
}

fn is_absent(value: &Option<Value>) -> bool {
    value.as_ref().is_none_or(Value::is_null)
}

/// A decision and everything that it is about. A signature over it holds for this ticket of this run only.
///
/// A verifier makes it of what the run itself knows (place, run, nonce, ticket, digest, definition) and of what the
/// decision brought along (content, time).
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Where the run is: the text of a [`Place`](crate::Place).
    pub place: String,
    /// The run's id.
    pub run: String,
    /// The run's random number, so that a later run of the same id is another.
    pub nonce: String,
    /// The ticket.
    pub ticket: String,
    /// The ticket's digest.
    pub digest: String,
    /// The fingerprint of the run's definition: `sha256:…`.
    pub definition: String,
    /// When it was signed, exactly as the decision says it: RFC 3339, see [`Statement::time_text`].
    pub at: String,
    /// What was decided.
    pub content: DecisionContent,
}

impl Statement {
    /// Returns the bytes that are signed: the [canonical JSON](canonical_json) of one object with `v` and the keys that
    /// have a value, those of the content among them. Nothing is at its end, no line break either.
    #[must_use]
    pub fn canonical(&self) -> Vec<u8> {
        let mut object = Map::new();
        object.insert("v".to_owned(), Value::from(STATEMENT_VERSION));
        let texts = [
            ("place", &self.place),
            ("run", &self.run),
            ("nonce", &self.nonce),
            ("ticket", &self.ticket),
            ("digest", &self.digest),
            ("definition", &self.definition),
            ("at", &self.at),
        ];
        for (key, text) in texts {
            object.insert(key.to_owned(), Value::from(text.as_str()));
        }
        // Every field by its name, so that a new one cannot be forgotten here.
        let DecisionContent {
            verdict,
            args,
            text,
            choice,
            output,
            comment,
            always,
        } = &self.content;
        let texts = [
            ("verdict", verdict),
            ("text", text),
            ("choice", choice),
            ("comment", comment),
            ("always", always),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                object.insert(key.to_owned(), Value::from(text.as_str()));
            }
        }
        for (key, value) in [("args", args), ("output", output)] {
            if let Some(value) = value.as_ref().filter(|value| !value.is_null()) {
                object.insert(key.to_owned(), value.clone());
            }
        }
        canonical_json(&Value::Object(object)).into_bytes()
    }

    /// Returns the text of a time for [`at`](Self::at): `2026-11-23T16:27:58.123Z`.
    #[must_use]
    pub fn time_text(time: DateTime<Utc>) -> String {
        time.to_rfc3339_opts(SecondsFormat::Millis, true)
    }

    /// Returns when it was signed; `None` where [`at`](Self::at) is no time of RFC 3339.
    #[must_use]
    pub fn time(&self) -> Option<DateTime<Utc>> {
        let time = DateTime::parse_from_rfc3339(&self.at).ok()?;
        Some(time.to_utc())
    }
}
