//! Calls that come in fragments, and which fragment belongs to which call.

use std::{collections::VecDeque, mem};

use neuron_types::StreamEvent;
use serde_json::{Map, Value};
use uuid::Uuid;

/// The calls of one answer, as far as their fragments have come.
///
/// What a server says of the place of a fragment is not believed alone: servers leave the index out, or give every call the
/// same one, leave ids out or send empty ones. A call ends where the same place has another id, another name, or a name once
/// more behind arguments that are whole.
#[derive(Debug, Default)]
pub struct Calls(Vec<Call>);

/// What one fragment says. What is empty is not said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fragment {
    /// The call's place among those of the answer, as the server counts.
    pub index: Option<u64>,
    /// The call's id.
    pub id: Option<String>,
    /// The tool's name.
    pub name: Option<String>,
    /// More of the arguments, as JSON text.
    pub arguments: String,
    /// The call's other fields: the newest count.
    pub extra: Map<String, Value>,
}

/// A call of which no more comes.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedCall {
    /// Its id: the server's, or a random one where the server gave none.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, as the server wrote them.
    pub arguments: String,
    /// The call's other fields.
    pub extra: Map<String, Value>,
}

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: Option<String>,
    name: Option<String>,
    arguments: String,
    nesting: Nesting,
    extra: Map<String, Value>,
    /// The id that was told with the start, once the name was known.
    told: Option<String>,
    ended: bool,
}

impl Calls {
    /// Takes the fragment that stands at `position` of its list. Returns the place of its call.
    pub fn take(
        &mut self,
        position: usize,
        fragment: Fragment,
        seen: &mut VecDeque<StreamEvent>,
    ) -> usize {
        let fragment = fragment.without_empty();
        let same_place = self.same_place(position, &fragment);
        let place = match same_place.and_then(|place| Some((place, self.0.get(place)?))) {
            Some((place, call)) if call.is_repeated_by(&fragment) => return place,
            Some((place, call)) if call.goes_on_with(&fragment) => place,
            begun => {
                if let Some((place, _)) = begun {
                    self.end_one(place, seen);
                }
                self.0.push(Call {
                    index: fragment.index,
                    ..Call::default()
                });
                self.0.len() - 1
            }
        };
        if let Some(call) = self.0.get_mut(place) {
            call.take(fragment, seen);
        }
        place
    }

    /// The last call that the server puts into the same place.
    fn same_place(&self, position: usize, fragment: &Fragment) -> Option<usize> {
        if let Some(index) = fragment.index {
            return self.0.iter().rposition(|call| call.index == Some(index));
        }
        if let Some(id) = &fragment.id {
            return self.0.iter().rposition(|call| call.id.as_ref() == Some(id));
        }
        if fragment.name.is_some() {
            return None;
        }
        (position < self.0.len()).then(|| self.0.len() - 1)
    }

    /// Takes more of the arguments of the call at a place.
    pub fn grow(&mut self, place: usize, more: &str, seen: &mut VecDeque<StreamEvent>) {
        if let Some(call) = self.0.get_mut(place) {
            let fragment = Fragment {
                arguments: more.to_owned(),
                ..Fragment::default()
            };
            call.take(fragment, seen);
        }
    }

    /// The id that was told of the call at a place.
    #[must_use]
    pub fn id_at(&self, place: usize) -> Option<&str> {
        self.0.get(place)?.told.as_deref()
    }

    /// The arguments of the call at a place, as far as they came.
    #[must_use]
    pub fn arguments_at(&self, place: usize) -> &str {
        let call = self.0.get(place);
        call.map(|call| call.arguments.as_str()).unwrap_or_default()
    }

    /// Says that no more comes of the call at a place.
    pub fn end_one(&mut self, place: usize, seen: &mut VecDeque<StreamEvent>) {
        let call = self.0.get_mut(place).filter(|call| !call.ended);
        if let Some(call) = call
            && let Some(id) = call.told.clone()
        {
            call.ended = true;
            seen.push_back(StreamEvent::ToolUseEnd { id });
        }
    }

    /// Says that no more comes of any call.
    pub fn end(&mut self, seen: &mut VecDeque<StreamEvent>) {
        for place in 0..self.0.len() {
            self.end_one(place, seen);
        }
    }

    /// Returns the calls that have a name, in the order in which they began, and forgets them.
    pub fn finish(&mut self) -> Vec<FinishedCall> {
        let calls = mem::take(&mut self.0).into_iter();
        calls.filter_map(Call::finish).collect()
    }
}

impl Fragment {
    fn without_empty(mut self) -> Self {
        self.id = self.id.filter(|id| !id.is_empty());
        self.name = self.name.filter(|name| !name.is_empty());
        self
    }
}

impl Call {
    /// Whether the fragment says once more what is known: servers send a call that is whole again.
    fn is_repeated_by(&self, fragment: &Fragment) -> bool {
        self.nesting.is_whole()
            && fragment.id.is_some()
            && fragment.id == self.id
            && fragment.name == self.name
            && fragment.arguments == self.arguments
    }

    fn goes_on_with(&self, fragment: &Fragment) -> bool {
        let is_other = |known: &Option<String>, said: &Option<String>| matches!((known, said), (Some(known), Some(said)) if known != said);
        let is_new_id = is_other(&self.id, &fragment.id);
        let is_new_name = is_other(&self.name, &fragment.name);
        let begins_again = self.nesting.is_whole()
            && fragment.name.is_some()
            && !fragment.arguments.trim().is_empty();
        !(is_new_id || is_new_name || begins_again)
    }

    fn take(&mut self, fragment: Fragment, seen: &mut VecDeque<StreamEvent>) {
        self.id = self.id.take().or(fragment.id);
        self.name = self.name.take().or(fragment.name);
        self.extra.extend(fragment.extra);
        let mut more = fragment.arguments;
        // Empty arguments that stood in for those to come.
        if self.arguments.trim() == "{}" && more.trim_start().starts_with('{') {
            self.arguments.clear();
            self.nesting = Nesting::default();
        }
        self.arguments.push_str(&more);
        self.nesting.read(&more);
        if self.told.is_none() {
            let Some(name) = self.name.clone() else {
                return;
            };
            let id = self.id.clone().unwrap_or_else(new_call_id);
            self.told = Some(id.clone());
            seen.push_back(StreamEvent::ToolUseStart { id, name });
            more.clone_from(&self.arguments);
        }
        if let (Some(id), false) = (&self.told, more.is_empty()) {
            let id = id.clone();
            seen.push_back(StreamEvent::ToolUseInputDelta { id, delta: more });
        }
    }

    fn finish(self) -> Option<FinishedCall> {
        Some(FinishedCall {
            name: self.name?,
            id: self.told.or(self.id).unwrap_or_else(new_call_id),
            arguments: self.arguments,
            extra: self.extra,
        })
    }
}

/// Makes an id for a call whose server gave it none.
#[must_use]
pub fn new_call_id() -> String {
    format!("call_{}", Uuid::new_v4().simple())
}

/// How deep a JSON text is nested at its end.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    has_begun: bool,
    in_string: bool,
    is_escaped: bool,
}

impl Nesting {
    fn read(&mut self, more: &str) {
        for byte in more.bytes() {
            match byte {
                _ if mem::take(&mut self.is_escaped) => {}
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string ^= true,
                b'{' | b'[' if !self.in_string => {
                    self.depth += 1;
                    self.has_begun = true;
                }
                b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Whether an object or list has ended.
    fn is_whole(&self) -> bool {
        self.has_begun && self.depth == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(index: impl Into<Option<u64>>, id: &str, name: &str, arguments: &str) -> Fragment {
        Fragment {
            index: index.into(),
            id: Some(id.to_owned()),
            name: Some(name.to_owned()),
            arguments: arguments.to_owned(),
            extra: Map::new(),
        }
    }

    fn calls(fragments: &[Fragment]) -> Vec<(String, String)> {
        let mut calls = Calls::default();
        let mut seen = VecDeque::new();
        for fragment in fragments {
            calls.take(0, fragment.clone(), &mut seen);
        }
        calls.end(&mut seen);
        let finished = calls.finish();
        let ends = seen.iter();
        let ends = ends.filter(|event| matches!(event, StreamEvent::ToolUseEnd { .. }));
        assert_eq!(ends.count(), finished.len());
        let finished = finished.into_iter();
        finished.map(|call| (call.name, call.arguments)).collect()
    }

    fn both(name: &str, other: &str) -> Vec<(String, String)> {
        let call = |name: &str, n| (name.to_owned(), format!("{{\"n\":{n}}}"));
        vec![call(name, 1), call(other, 2)]
    }

    #[test]
    fn whole_calls_of_one_index_and_no_id_are_apart() {
        let first = fragment(0, "", "x", r#"{"n":1}"#);
        assert_eq!(
            calls(&[first.clone(), fragment(0, "", "y", r#"{"n":2}"#)]),
            both("x", "y")
        );
        assert_eq!(
            calls(&[first, fragment(0, "", "x", r#"{"n":2}"#)]),
            both("x", "x")
        );
    }

    #[test]
    fn the_same_id_with_other_arguments_is_another_call() {
        let fragments = [
            fragment(0, "a", "x", r#"{"n":1}"#),
            fragment(0, "a", "x", r#"{"n":2}"#),
        ];
        assert_eq!(calls(&fragments), both("x", "x"));
    }

    #[test]
    fn a_call_that_is_sent_again_whole_is_one() {
        let call = fragment(0, "a", "x", r#"{"n":1}"#);
        assert_eq!(calls(&[call.clone(), call]).len(), 1);
    }

    #[test]
    fn a_name_in_every_fragment_begins_one_call() {
        let fragments = [
            fragment(0, "", "x", ""),
            fragment(0, "", "x", r#"{"n""#),
            fragment(0, "", "x", r#":"{}"}"#),
            fragment(0, "", "x", ""),
        ];
        assert_eq!(
            calls(&fragments),
            [("x".to_owned(), r#"{"n":"{}"}"#.to_owned())]
        );
    }

    #[test]
    fn empty_arguments_give_way_to_those_that_follow() {
        let fragments = [
            fragment(0, "a", "x", "{}"),
            fragment(0, "", "", r#"{"n":1}"#),
        ];
        assert_eq!(
            calls(&fragments),
            [("x".to_owned(), r#"{"n":1}"#.to_owned())]
        );
    }

    #[test]
    fn a_fragment_without_a_name_is_no_call() {
        assert_eq!(calls(&[]), []);
        let mut calls = Calls::default();
        calls.take(0, fragment(0, "a", "", "{}"), &mut VecDeque::new());
        assert_eq!(calls.finish(), []);
    }
}
