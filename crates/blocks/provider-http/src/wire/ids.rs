//! The ids of a conversation's calls, as one server takes them.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, VecDeque},
};

use neuron_types::{is_call_id, made_call_id};

/// The longest id of its own that a server is sent again.
const LONGEST_OWN: usize = 256;

/// Which ids of calls a server takes that are not its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallIdRule {
    /// 1 to 40 letters, digits, `_` and `-`: what all vendors but Mistral take.
    Plain,
    /// Nine letters and digits: Mistral.
    Nine,
}

impl CallIdRule {
    fn takes(self, id: &str) -> bool {
        match self {
            Self::Plain => is_call_id(id),
            Self::Nine => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        }
    }
}

/// Gives the calls of one conversation, in its order, the ids under which a server is sent them, and each result that of the
/// call that it answers. No two calls have one id, whatever the conversation says.
#[derive(Debug)]
pub struct CallIds<'a> {
    rule: CallIdRule,
    taken: BTreeSet<Cow<'a, str>>,
    sent: BTreeMap<&'a str, Sent<'a>>,
}

/// What the calls of one id are sent as.
#[derive(Debug, Default)]
struct Sent<'a> {
    /// Those that have no result yet.
    open: VecDeque<Cow<'a, str>>,
    /// The last that has one.
    answered: Option<Cow<'a, str>>,
}

impl<'a> CallIds<'a> {
    /// Makes the ids of a conversation that was not sent yet.
    #[must_use]
    pub const fn new(rule: CallIdRule) -> Self {
        Self {
            rule,
            taken: BTreeSet::new(),
            sent: BTreeMap::new(),
        }
    }

    /// Returns the id of the next call: the server's own, or the run's, if the server takes it and it is new; else one
    /// that is made of it.
    pub fn call(&mut self, id: &'a str, own: Option<&'a str>) -> Cow<'a, str> {
        let own = own.filter(|own| (1..=LONGEST_OWN).contains(&own.len()));
        let is_new = |id: &&str| !self.taken.contains(*id);
        let known = own
            .filter(is_new)
            .or_else(|| Some(id).filter(|id| self.rule.takes(id)).filter(is_new));
        let sent = known.map_or_else(|| Cow::Owned(self.made(id)), Cow::Borrowed);
        self.taken.insert(sent.clone());
        self.sent
            .entry(id)
            .or_default()
            .open
            .push_back(sent.clone());
        sent
    }

    /// Returns the id of the call that a result answers: of those with the result's id the first that has no result
    /// yet.
    pub fn answered(&mut self, id: &'a str) -> Cow<'a, str> {
        let sent = self.sent.get_mut(id);
        let sent = sent.and_then(|sent| {
            if let Some(next) = sent.open.pop_front() {
                sent.answered = Some(next);
            }
            sent.answered.clone()
        });
        sent.unwrap_or(Cow::Borrowed(id))
    }

    fn made(&self, id: &str) -> String {
        let mut made = made_call_id(&[id]);
        while self.taken.contains(made.as_str()) {
            made = made_call_id(&[&made]);
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_the_server_takes_is_sent_as_it_is() {
        let mut ids = CallIds::new(CallIdRule::Plain);
        assert_eq!(ids.call("call_1", None), "call_1");
        assert_eq!(ids.answered("call_1"), "call_1");
    }

    #[test]
    fn no_two_calls_have_one_id_and_results_follow_theirs() {
        let mut ids = CallIds::new(CallIdRule::Plain);
        let (first, second) = (ids.call("a", None), ids.call("a", None));
        assert_ne!(first, second);
        assert_eq!(
            [ids.answered("a"), ids.answered("a")],
            [first, second.clone()]
        );
        assert_eq!(
            ids.answered("a"),
            second,
            "a second result of the last call"
        );
        let third = ids.call("a", None);
        assert_eq!(ids.answered("a"), third);
    }

    #[test]
    fn a_servers_own_id_goes_back_to_it_whatever_its_letters() {
        let mut ids = CallIds::new(CallIdRule::Plain);
        let own = "functions.read_file:0";
        assert_eq!(ids.call("x12345678", Some(own)), own);
        assert_eq!(ids.answered("x12345678"), own);
        assert_eq!(ids.call("y12345678", Some(own)), "y12345678", "it is taken");
    }

    #[test]
    fn what_a_server_refuses_is_made_anew() {
        for (rule, id) in [
            (CallIdRule::Plain, ""),
            (CallIdRule::Plain, "functions.read_file:0"),
            (CallIdRule::Nine, "call_1"),
        ] {
            let mut ids = CallIds::new(rule);
            let sent = ids.call(id, None);
            assert!(rule.takes(&sent), "{sent}");
            assert_eq!(ids.answered(id), sent);
        }
    }
}
