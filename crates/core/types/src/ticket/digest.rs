//! What a decision names, so that no person decides about what they did not see.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{RunId, Ticket, TicketKind, canonical_json, hex};

/// What the hashes of tickets begin with, so that they are no other hashes of the same.
const TICKETS: &[u8] = b"neuron ticket 2\0";

/// Returns the digest of a ticket: SHA-256 in hexadecimal, over `neuron ticket 2`, a zero byte, and the
/// [canonical JSON](canonical_json) of what makes it the question that it is.
///
/// That is `{"run","nonce","directory","ticket","kind","tool","args","text_sha256","diff_sha256","fingerprint",
/// "schema_sha256","choices"}`, with null for what is not known, and `"prefix"` if it has one, since a decision can be for
/// that. What is shown as a text stands in it as its SHA-256 in hexadecimal, a schema as that of its canonical JSON. `nonce`
/// and `directory` are those of the run's [status](crate::RunStatus). A program that shows a ticket can compute the digest
/// again; the ticket's own `digest` is no part of it, nor is to whom it is put and for how long.
#[must_use]
pub fn ticket_digest(ticket: &Ticket, nonce: Option<Uuid>, directory: Option<&str>) -> String {
    let schema = ticket.schema.as_ref().map(canonical_json);
    Asked {
        run: ticket.run.as_ref(),
        nonce,
        directory,
        ticket: &ticket.ticket,
        kind: ticket.kind,
        tool: ticket.tool.as_deref(),
        args: ticket.args.as_ref(),
        text_sha256: ticket.text.as_deref().map(sha256),
        diff_sha256: ticket.diff.as_deref().map(sha256),
        fingerprint: ticket.fingerprint.as_deref(),
        schema_sha256: schema.as_deref().map(sha256),
        choices: &ticket.choices,
        prefix: ticket.prefix.as_deref(),
    }
    .digest()
}

/// What makes a ticket the question that it is.
pub(crate) struct Asked<'a> {
    pub(crate) run: Option<&'a RunId>,
    pub(crate) nonce: Option<Uuid>,
    pub(crate) directory: Option<&'a str>,
    pub(crate) ticket: &'a str,
    pub(crate) kind: TicketKind,
    pub(crate) tool: Option<&'a str>,
    pub(crate) args: Option<&'a Value>,
    pub(crate) text_sha256: Option<String>,
    pub(crate) diff_sha256: Option<String>,
    pub(crate) fingerprint: Option<&'a str>,
    pub(crate) schema_sha256: Option<String>,
    pub(crate) choices: &'a [String],
    pub(crate) prefix: Option<&'a str>,
}

impl Asked<'_> {
    pub(crate) fn digest(&self) -> String {
        let mut asked = json!({
            "run": self.run.map(RunId::as_str),
            "nonce": self.nonce.map(|nonce| nonce.to_string()),
            "directory": self.directory,
            "ticket": self.ticket,
            "kind": self.kind.as_str(),
            "tool": self.tool,
            "args": self.args,
            "text_sha256": self.text_sha256,
            "diff_sha256": self.diff_sha256,
            "fingerprint": self.fingerprint,
            "schema_sha256": self.schema_sha256,
            "choices": self.choices,
        });
        if let (Some(prefix), Some(asked)) = (self.prefix, asked.as_object_mut()) {
            asked.insert("prefix".to_owned(), Value::from(prefix));
        }
        let mut hasher = Sha256::new();
        hasher.update(TICKETS);
        hasher.update(canonical_json(&asked));
        hex(&hasher.finalize())
    }
}

/// SHA-256 of a text in hexadecimal.
pub(crate) fn sha256(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}
