//! The requests whose answers are awaited, by which an answer is read.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, RequestId};
use serde_json::Value;

use crate::wire::mend::Asked;

/// How many are kept. A request that is given up over HTTP is not always seen to be.
const MAX_AWAITED: usize = 10_000;

/// What is awaited over a connection. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Awaited(Arc<Mutex<BTreeMap<i64, Asked>>>);

impl Awaited {
    /// A message is sent: a request is awaited from now on, and one that is cancelled is not any more.
    pub(crate) fn sends(&self, message: &ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                if let Some(id) = number(&request.id) {
                    self.awaits(id, Asked::of(&request.request));
                }
            }
            ClientJsonRpcMessage::Notification(notice) => {
                if let ClientNotification::CancelledNotification(notice) = &notice.notification
                    && let Some(id) = &notice.params.request_id
                {
                    self.ends(id);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn awaits(&self, id: i64, asked: Asked) {
        let mut awaited = self.lock();
        awaited.insert(id, asked);
        if awaited.len() > MAX_AWAITED {
            awaited.pop_first();
        }
    }

    /// A request is answered, or will not be.
    pub(crate) fn ends(&self, id: &RequestId) {
        if let Some(id) = number(id) {
            self.lock().remove(&id);
        }
    }

    /// The request that an answer is to, by the id that the answer has.
    pub(crate) fn find(&self, id: &RequestId) -> Option<(RequestId, Asked)> {
        self.find_number(number(id)?)
    }

    /// As [`Awaited::find`], by an id as it came.
    pub(crate) fn find_json(&self, id: &Value) -> Option<(RequestId, Asked)> {
        let number = match id {
            Value::Number(number) => number.as_i64().or_else(|| integral(number.as_f64()?)),
            Value::String(text) => parsed(text),
            _ => None,
        };
        self.find_number(number?)
    }

    fn find_number(&self, id: i64) -> Option<(RequestId, Asked)> {
        let asked = *self.lock().get(&id)?;
        Some((RequestId::Number(id), asked))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<i64, Asked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of an id. This side uses numbers, and some servers send them back as texts.
pub(crate) fn number(id: &RequestId) -> Option<i64> {
    parsed(&id.to_string())
}

fn parsed(id: &str) -> Option<i64> {
    let id = id.trim();
    id.parse().ok().or_else(|| integral(id.parse().ok()?))
}

/// Some languages know no other numbers than these.
fn integral(number: f64) -> Option<i64> {
    let text = format!("{number:.0}");
    let is_integral = number.fract() == 0.0;
    is_integral.then(|| text.parse().ok()).flatten()
}
