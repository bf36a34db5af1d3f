//! The requests whose answers are awaited, by which an answer is read.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, RequestId};
use serde_json::Value;

use crate::wire::mend::Asked;

/// How many are kept. A request that is given up over HTTP is not always seen to be.
const MAX_AWAITED: usize = 10_000;

/// What is awaited over a connection. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Awaited(Arc<Mutex<Requests>>);

/// What was sent, as far as answers to it may come.
#[derive(Debug, Default)]
struct Requests {
    open: BTreeMap<i64, Asked>,
    /// The requests whose answers are no longer needed, and that may be answered late.
    given_up: BTreeSet<i64>,
    /// The ids of the requests that were made, and the largest that is not kept any more.
    made: BTreeSet<i64>,
    forgotten: Option<i64>,
    /// How many notices were sent since the last answer. Some servers reject notices.
    notices: usize,
}

impl Requests {
    fn gives_up(&mut self, id: i64) {
        // A set that is full stays one that is not empty.
        if self.open.remove(&id).is_some() && self.given_up.len() < MAX_AWAITED {
            self.given_up.insert(id);
        }
    }

    fn was_made(&self, id: i64) -> bool {
        self.made.contains(&id) || self.forgotten.is_some_and(|last| id <= last)
    }
}

impl Awaited {
    /// Notes that a message is sent: a request is awaited from now on, and one that is cancelled is not any more.
    pub(crate) fn sends(&self, message: &ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                if let Some(id) = number(&request.id) {
                    self.awaits(id, Asked::of(&request.request));
                }
            }
            ClientJsonRpcMessage::Notification(notice) => {
                let mut requests = self.lock();
                requests.notices = requests.notices.saturating_add(1);
                if let ClientNotification::CancelledNotification(notice) = &notice.notification
                    && let Some(id) = notice.params.request_id.as_ref().and_then(number)
                {
                    requests.gives_up(id);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn awaits(&self, id: i64, asked: Asked) {
        let mut requests = self.lock();
        requests.made.insert(id);
        if requests.made.len() > MAX_AWAITED {
            requests.forgotten = requests.made.pop_first();
        }
        requests.open.insert(id, asked);
        if requests.open.len() > MAX_AWAITED {
            requests.open.pop_first();
        }
    }

    /// Notes that a request is answered, or will not be.
    pub(crate) fn ends(&self, id: &RequestId) {
        if let Some(id) = number(id) {
            let mut requests = self.lock();
            let was_open = requests.open.remove(&id).is_some();
            if requests.given_up.remove(&id) || was_open {
                requests.notices = 0;
            }
        }
    }

    /// Returns the request that an answer is to, by the id that the answer has.
    pub(crate) fn find(&self, id: &RequestId) -> Option<(RequestId, Asked)> {
        self.find_number(number(id)?)
    }

    /// As [`Awaited::find`], by an id as it came.
    pub(crate) fn find_json(&self, id: &Value) -> Option<(RequestId, Asked)> {
        self.find_number(number_of(id)?)
    }

    /// Returns the request that an answer is to whose id no request has: the only one that any answer can be to.
    /// Returns `None` where several are unanswered, given up or not; where a request had the id, so that this is a late
    /// or a second answer to it; and where this is a rejection that may be to a notice that was sent since the last
    /// answer.
    pub(crate) fn only(&self, id: Option<i64>, is_refusal: bool) -> Option<(RequestId, Asked)> {
        let mut requests = self.lock();
        if id.is_some_and(|id| requests.was_made(id)) {
            return None;
        }
        if is_refusal && requests.notices > 0 {
            requests.notices -= 1;
            return None;
        }
        let is_only = requests.open.len() == 1 && requests.given_up.is_empty();
        let (id, asked) = requests.open.first_key_value().filter(|_| is_only)?;
        Some((RequestId::Number(*id), *asked))
    }

    fn find_number(&self, id: i64) -> Option<(RequestId, Asked)> {
        let asked = *self.lock().open.get(&id)?;
        Some((RequestId::Number(id), asked))
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the number of an id. This side uses numbers, and some servers send them back as texts.
pub(crate) fn number(id: &RequestId) -> Option<i64> {
    parsed(&id.to_string())
}

/// As [`number`], of an id as it came.
pub(crate) fn number_of(id: &Value) -> Option<i64> {
    match id {
        Value::Number(number) => number.as_i64().or_else(|| integral(number.as_f64()?)),
        Value::String(text) => parsed(text),
        _ => None,
    }
}

fn parsed(id: &str) -> Option<i64> {
    let id = id.trim();
    id.parse().ok().or_else(|| integral(id.parse().ok()?))
}

/// Returns the whole number that a float is: some languages know no other numbers.
fn integral(number: f64) -> Option<i64> {
    let text = format!("{number:.0}");
    let is_integral = number.fract() == 0.0;
    is_integral.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use rmcp::model::{CancelledNotification, CancelledNotificationParam, InitializedNotification};

    use super::*;

    fn notice(notice: ClientNotification) -> ClientJsonRpcMessage {
        ClientJsonRpcMessage::notification(notice)
    }

    fn initialized() -> ClientJsonRpcMessage {
        let it = InitializedNotification::default();
        notice(ClientNotification::InitializedNotification(it))
    }

    fn cancelled(id: i64) -> ClientJsonRpcMessage {
        let params = CancelledNotificationParam::new(Some(RequestId::Number(id)), None);
        let it = CancelledNotification::new(params);
        notice(ClientNotification::CancelledNotification(it))
    }

    fn awaiting(ids: &[i64]) -> Awaited {
        let awaited = Awaited::default();
        for id in ids {
            awaited.awaits(*id, Asked::Call);
        }
        awaited
    }

    fn only(awaited: &Awaited, id: Option<i64>) -> Option<i64> {
        number(&awaited.only(id, false)?.0)
    }

    #[test]
    fn a_strange_id_means_the_only_request_and_none_of_several() {
        let awaited = awaiting(&[7]);
        assert_eq!(only(&awaited, None), Some(7));
        assert_eq!(only(&awaited, Some(99)), Some(7));
        awaited.awaits(8, Asked::Call);
        assert_eq!(only(&awaited, None), None);
        awaited.ends(&RequestId::Number(7));
        assert_eq!(only(&awaited, None), Some(8));
    }

    #[test]
    fn a_late_or_second_answer_is_not_taken_for_that_to_another_request() {
        let awaited = awaiting(&[7]);
        awaited.ends(&RequestId::Number(7));
        awaited.awaits(8, Asked::Call);
        assert_eq!(only(&awaited, Some(7)), None);
    }

    #[test]
    fn nothing_is_the_only_request_while_one_that_was_given_up_may_be_answered() {
        let awaited = awaiting(&[7]);
        awaited.sends(&cancelled(7));
        awaited.awaits(8, Asked::Call);
        assert_eq!(only(&awaited, None), None);
        awaited.ends(&RequestId::Number(7));
        assert_eq!(only(&awaited, None), Some(8));
    }

    #[test]
    fn a_refusal_may_be_to_a_notice_and_the_next_one_is_not() {
        let awaited = Awaited::default();
        awaited.sends(&initialized());
        awaited.awaits(1, Asked::Tools);
        assert!(awaited.only(None, true).is_none());
        assert!(awaited.only(None, true).is_some());
    }
}
