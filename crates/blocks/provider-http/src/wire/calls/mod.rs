//! Calls that come in fragments, and which fragment belongs to which call.

mod arguments;
mod call;
mod faults;
mod finished;
mod fragment;
mod nesting;
mod places;

use std::{collections::VecDeque, mem};

use neuron_types::StreamEvent;

use crate::ApiFailure;

pub(crate) use self::faults::too_many_calls;
pub use self::{
    arguments::Arguments,
    call::new_call_id,
    faults::{MAX_CALLS, stray_arguments},
    finished::FinishedCall,
    fragment::Fragment,
};
use self::{call::Call, places::Places};

/// With how many calls of the same id and name a call is compared by value.
const MOST_ALIKE: usize = 16;

/// The calls of one answer, as far as their fragments have come.
///
/// What a server says of the place of a fragment is not believed alone: servers leave the index out, or give every call the
/// same one, leave ids out, send empty ones or a new one with each fragment. A call ends where the same place has another
/// name, another id with a name, or a name once more behind arguments that are whole. A fragment without a name goes to the
/// call in its place, or to the newest one. A call that comes once more, with its id, is the one that came before.
#[derive(Debug, Default)]
pub struct Calls {
    calls: Vec<Call>,
    places: Places,
    /// The call that may be one that came before, of which nothing is told until that is known.
    unsure: Option<usize>,
}

impl Calls {
    /// Takes the fragment that stands at `position` of its list. Returns the place of its call.
    ///
    /// # Errors
    ///
    /// There are more calls than [`MAX_CALLS`].
    pub fn take(
        &mut self,
        position: usize,
        fragment: Fragment,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<usize, ApiFailure> {
        let fragment = fragment.without_empty();
        let known = self.place_of(position, &fragment);
        let known = known.and_then(|place| Some((place, self.calls.get(place)?)));
        let (place, is_new) = match known {
            Some((place, call)) if call.is_repeated_by(&fragment) => return Ok(place),
            Some((place, call)) if call.goes_on_with(&fragment) => (place, false),
            other => {
                if let Some((place, _)) = other {
                    self.end_one(place, seen);
                }
                (self.begin(seen)?, true)
            }
        };
        let is_head = is_new || fragment.name.is_some();
        self.places.put(position, &fragment, is_head, place);
        self.add(place, fragment, seen);
        Ok(place)
    }

    /// Begins a call, wherever the server puts it. Returns its place.
    ///
    /// # Errors
    ///
    /// There are more calls than [`MAX_CALLS`].
    pub fn start(
        &mut self,
        fragment: Fragment,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<usize, ApiFailure> {
        let place = self.begin(seen)?;
        self.add(place, fragment.without_empty(), seen);
        Ok(place)
    }

    fn begin(&mut self, seen: &mut VecDeque<StreamEvent>) -> Result<usize, ApiFailure> {
        if self.calls.len() >= MAX_CALLS {
            return Err(too_many_calls());
        }
        if let Some(place) = self.unsure {
            let is_whole = self.calls.get(place).map(|call| call.arguments.is_whole());
            self.decide(place, is_whole == Some(true), seen);
        }
        self.calls.push(Call::default());
        Ok(self.calls.len() - 1)
    }

    /// The call that the fragment may belong to.
    fn place_of(&self, position: usize, fragment: &Fragment) -> Option<usize> {
        let of_id = || {
            let places = self.places.of_id(fragment.id.as_deref()?);
            places.last().copied()
        };
        match (fragment.index, &fragment.name) {
            (Some(index), Some(_)) => self.places.head(index),
            (None, Some(_)) => of_id(),
            (Some(index), None) => {
                let there = self.places.tail(index);
                let call = there.and_then(|place| self.calls.get(place));
                let is_its_id = |call: &Call| fragment.id.is_none() || call.id == fragment.id;
                match call.is_some_and(is_its_id) {
                    true => there,
                    false => of_id().or(there).or_else(|| self.newest()),
                }
            }
            (None, None) => of_id()
                .or_else(|| self.in_row(position))
                .or_else(|| self.newest()),
        }
    }

    fn newest(&self) -> Option<usize> {
        self.calls.len().checked_sub(1)
    }

    /// The call at a position of those that began in one list, or the next one that is not whole.
    fn in_row(&self, position: usize) -> Option<usize> {
        let row = self.places.row(position);
        let lacks_some = |place: &&usize| {
            let call = self.calls.get(**place);
            call.is_some_and(|call| !call.arguments.is_whole())
        };
        row.iter().find(lacks_some).or_else(|| row.first()).copied()
    }

    fn add(&mut self, place: usize, fragment: Fragment, seen: &mut VecDeque<StreamEvent>) {
        let Some(call) = self.calls.get_mut(place).filter(|call| !call.is_repeat) else {
            return;
        };
        call.take(fragment);
        let is_whole = call.arguments.is_whole() && !call.arguments.is_empty_object();
        let is_new = call.told.is_none() && call.name.is_some();
        if is_new && let Some(id) = call.id.clone() {
            self.places.name(&id, place);
            if self.twins(place).next().is_some() {
                self.unsure = Some(place);
            }
        }
        let is_unsure = self.unsure == Some(place);
        if is_unsure && (!is_whole || self.is_repeat(place)) {
            return;
        }
        if is_unsure {
            self.unsure = None;
        }
        if let Some(call) = self.calls.get_mut(place) {
            call.tell(seen);
        }
    }

    /// The calls before it of the same id and name.
    fn twins(&self, place: usize) -> impl DoubleEndedIterator<Item = &Call> {
        let call = self.calls.get(place);
        let id = call.and_then(|call| call.id.as_deref());
        let places = id.map(|id| self.places.of_id(id)).unwrap_or_default();
        let before = places.iter().filter(move |other| **other < place);
        let calls = before.filter_map(|other| self.calls.get(*other));
        calls.filter(move |other| call.is_some_and(|call| call.name == other.name))
    }

    /// Whether the call at a place came before, and is there already.
    #[must_use]
    pub fn is_repeat(&self, place: usize) -> bool {
        let Some(call) = self.calls.get(place) else {
            return false;
        };
        call.is_repeat || self.unsure == Some(place) && self.is_like_a_twin(place)
    }

    fn is_like_a_twin(&self, place: usize) -> bool {
        let Some(call) = self.calls.get(place) else {
            return false;
        };
        let mut newest = self.twins(place).rev().take(MOST_ALIKE);
        self.twins(place).any(|twin| call.is(twin)) || newest.any(|twin| call.says(twin))
    }

    /// Decides whether the call at a place came before.
    fn decide(&mut self, place: usize, can_be: bool, seen: &mut VecDeque<StreamEvent>) {
        if self.unsure != Some(place) {
            return;
        }
        let is_repeat = can_be && self.is_repeat(place);
        self.unsure = None;
        if let Some(call) = self.calls.get_mut(place) {
            call.is_repeat = is_repeat;
            if !is_repeat {
                call.tell(seen);
            }
        }
    }

    /// Takes more of the arguments of the call at a place.
    pub fn grow(&mut self, place: usize, more: &str, seen: &mut VecDeque<StreamEvent>) {
        let fragment = Fragment {
            arguments: more.to_owned(),
            ..Fragment::default()
        };
        self.add(place, fragment, seen);
    }

    /// The id that was told of the call at a place.
    #[must_use]
    pub fn id_at(&self, place: usize) -> Option<&str> {
        self.calls.get(place)?.told.as_deref()
    }

    /// The arguments of the call at a place, as far as they came.
    #[must_use]
    pub fn arguments_at(&self, place: usize) -> &str {
        let call = self.calls.get(place);
        call.map(|call| call.arguments.as_str()).unwrap_or_default()
    }

    /// Says that no more comes of the call at a place.
    pub fn end_one(&mut self, place: usize, seen: &mut VecDeque<StreamEvent>) {
        self.decide(place, true, seen);
        if let Some(call) = self.calls.get_mut(place) {
            call.end(seen);
        }
    }

    /// Says that no more comes of any call.
    pub fn end(&mut self, seen: &mut VecDeque<StreamEvent>) {
        for place in 0..self.calls.len() {
            self.end_one(place, seen);
        }
    }

    /// Returns the calls, in the order in which they began, and forgets them.
    ///
    /// # Errors
    ///
    /// There are arguments of a call that has no name.
    pub fn finish(&mut self) -> Result<Vec<FinishedCall>, ApiFailure> {
        self.end(&mut VecDeque::new());
        let mut calls = mem::take(self).calls;
        calls.retain(|call| !call.is_repeat);
        let is_stray = |call: &&Call| call.name.is_none() && !call.arguments.is_nothing();
        if let Some(call) = calls.iter().find(is_stray) {
            return Err(stray_arguments(call.arguments.as_str()));
        }
        Ok(calls.into_iter().filter_map(Call::finish).collect())
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
            ..Fragment::default()
        }
    }

    fn calls(fragments: &[Fragment]) -> Vec<(String, String)> {
        let mut calls = Calls::default();
        let mut seen = VecDeque::new();
        for fragment in fragments {
            calls.take(0, fragment.clone(), &mut seen).unwrap();
        }
        calls.end(&mut seen);
        let finished = calls.finish().unwrap();
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
    fn a_call_that_is_sent_again_in_other_letters_is_one() {
        let call = fragment(0, "a", "x", r#"{"n":1}"#);
        for (index, id, name) in [
            (0, "a", "x"),
            (0, "a", ""),
            (0, "", ""),
            (0, "b", ""),
            (1, "a", "x"),
        ] {
            let again = fragment(index, id, name, r#"{ "n": 1 }"#);
            let expected = [("x".to_owned(), r#"{"n":1}"#.to_owned())];
            let read = calls(&[call.clone(), again]);
            assert_eq!(read, expected, "{index} {id} {name}");
        }
        let other = fragment(1, "b", "x", r#"{ "n": 1 }"#);
        assert_eq!(calls(&[call, other]).len(), 2);
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
    fn an_id_without_a_name_begins_no_call() {
        let fragments = [
            fragment(0, "a", "x", ""),
            fragment(0, "b", "", r#"{"n":"#),
            fragment(0, "c", "", "1}"),
            fragment(0, "d", "y", ""),
            fragment(1, "e", "", r#"{"n":2}"#),
        ];
        assert_eq!(calls(&fragments), both("x", "y"));
    }

    #[test]
    fn a_known_id_says_whose_a_fragment_is() {
        let fragments = [
            fragment(0, "a", "x", ""),
            fragment(0, "b", "y", ""),
            fragment(0, "a", "", r#"{"n":1}"#),
            fragment(0, "b", "", r#"{"n":2}"#),
        ];
        assert_eq!(calls(&fragments), both("x", "y"));
    }

    #[test]
    fn a_call_that_comes_again_elsewhere_is_one() {
        let fragments = [
            fragment(0, "a", "x", r#"{"n":1}"#),
            fragment(1, "b", "y", r#"{"n":2}"#),
            fragment(2, "a", "x", ""),
            fragment(2, "", "", r#"{"n":1}"#),
            fragment(3, "b", "y", r#"{"n":2}"#),
        ];
        assert_eq!(calls(&fragments), both("x", "y"));
    }

    #[test]
    fn calls_that_only_begin_alike_are_two() {
        let fragments = [
            fragment(0, "a", "x", ""),
            fragment(1, "a", "x", ""),
            fragment(0, "", "", r#"{"n":1}"#),
            fragment(1, "", "", r#"{"n":2}"#),
            fragment(2, "b", "y", ""),
        ];
        let mut expected = both("x", "x");
        expected.push(("y".to_owned(), String::new()));
        assert_eq!(calls(&fragments), expected);
    }

    #[test]
    fn many_fragments_of_many_calls_cost_no_more_than_their_bytes() {
        let mut calls = Calls::default();
        let mut seen = VecDeque::new();
        let mut bytes = 0;
        for count in 0..50_000 {
            let index = count % MAX_CALLS as u64;
            let name = if count == index { "x" } else { "" };
            let fragment = fragment(index, "", name, r#"{"n":["#);
            bytes += fragment.arguments.len();
            calls.take(0, fragment, &mut seen).unwrap();
        }
        let looked_at = calls.calls.iter().map(|call| call.arguments.looked_at);
        assert!(looked_at.sum::<usize>() < 8 * bytes);
        assert!(seen.len() <= 51_000);
        let more = fragment(MAX_CALLS as u64, "", "x", "");
        assert_eq!(calls.take(0, more, &mut seen), Err(too_many_calls()));
    }

    #[test]
    fn arguments_of_no_call_are_not_passed_over() {
        let mut calls = Calls::default();
        let stray = fragment(0, "a", "", r#"{"n":1}"#);
        calls.take(0, stray, &mut VecDeque::new()).unwrap();
        assert_eq!(calls.finish(), Err(stray_arguments(r#"{"n":1}"#)));
    }

    #[test]
    fn a_fragment_without_a_name_is_no_call() {
        assert_eq!(calls(&[]), []);
        let mut calls = Calls::default();
        let nothing = fragment(0, "a", "", "{}");
        calls.take(0, nothing, &mut VecDeque::new()).unwrap();
        assert_eq!(calls.finish(), Ok(Vec::new()));
    }
}
