//! What a decision names, so that nobody decides about what they did not see.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{Ticket, canonical_json};

/// What the hashes of tickets begin with, so that they are no other hashes of the same.
const TICKETS: &[u8] = b"neuron ticket 1\0";

/// Returns the digest of a ticket: SHA-256 in hexadecimal, over `neuron ticket 1`, a zero byte, and the
/// [canonical JSON](canonical_json) of what makes it the question that it is.
///
/// That is `{"run","nonce","directory","ticket","kind","tool","args","text","diff","fingerprint","schema","choices"}`, with
/// null for what is not known, and `"prefix"` if it has one, since a decision can be for that. `nonce` and `directory` are those of the run's [status](crate::RunStatus). Whoever shows a
/// ticket can compute it again; the ticket's own `digest` is no part of it, nor is to whom it is put and for how long.
#[must_use]
pub fn ticket_digest(ticket: &Ticket, nonce: Option<Uuid>, directory: Option<&str>) -> String {
    let mut shown = json!({
        "run": ticket.run.as_ref().map(|run| run.as_str()),
        "nonce": nonce.map(|nonce| nonce.to_string()),
        "directory": directory,
        "ticket": ticket.ticket,
        "kind": ticket.kind.as_str(),
        "tool": ticket.tool,
        "args": ticket.args,
        "text": ticket.text,
        "diff": ticket.diff,
        "fingerprint": ticket.fingerprint,
        "schema": ticket.schema,
        "choices": ticket.choices,
    });
    if let (Some(prefix), Some(shown)) = (&ticket.prefix, shown.as_object_mut()) {
        shown.insert("prefix".to_owned(), Value::from(prefix.as_str()));
    }
    hex(TICKETS, &shown)
}

fn hex(domain: &[u8], value: &Value) -> String {
    let mut hasher = Sha256::new();
    hasher.update(domain);
    hasher.update(canonical_json(value));
    let mut digest = String::with_capacity(64);
    for byte in hasher.finalize() {
        // Writing to a String cannot fail.
        let _ = write!(digest, "{byte:02x}");
    }
    digest
}
