//! Calls that come in fragments, and which fragment belongs to which call.

mod arguments;
mod call;
mod faults;
mod finished;
mod fragment;
mod input;
mod nesting;
mod pieces;
mod places;

use std::{collections::VecDeque, mem};

use neuron_types::StreamEvent;
use serde_json::Map;

use crate::ApiFailure;

pub(crate) use self::faults::too_many_calls;
pub use self::{
    arguments::Arguments,
    call::new_call_id,
    faults::{MAX_CALLS, stray_arguments},
    finished::FinishedCall,
    fragment::Fragment,
    input::{read_input, sent_input},
};
use self::{call::Call, nesting::Nesting, pieces::Pieces, places::Places};

/// With how many calls of the same id and name a call is compared by value.
const MOST_ALIKE: usize = 16;

/// The calls of one answer, as far as their fragments have come.
///
/// What a server says of the place of a fragment is not believed alone: servers leave the index out, or give every call the
/// same one, leave ids out, send empty ones or a new one with each fragment. A call ends where the same place has another
/// name, another id with a name, or a name once more behind arguments that are whole. A fragment without a name goes to the
/// call in its place, or to the newest one. A call that comes once more, with its id, is the one that came before. Calls that
/// are no JSON apart and are together were one.
#[derive(Debug, Default)]
pub struct Calls {
    calls: Vec<Call>,
    places: Places,
    /// The call that may be one that came before. Nothing of it is emitted until that is known.
    unsure: Option<usize>,
    pieces: Option<Pieces>,
    /// How many lists of fragments came.
    lists: usize,
    fault: Option<ApiFailure>,
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
        self.lists += usize::from(position == 0);
        let known = self.place_of(position, &fragment);
        let known = known.map(|place| self.root_of(place));
        let known = known.and_then(|place| Some((place, self.calls.get(place)?)));
        let (place, is_new) = match known {
            Some((place, call)) if call.is_repeated_by(&fragment) => return Ok(place),
            Some((place, call)) if call.goes_on_with(&fragment) => (place, false),
            other => {
                let other = other.map(|(place, _)| place);
                match self.call_of_piece(other, &fragment) {
                    Some(place) if self.is_surely_more(place, &fragment) => {
                        (self.join(place, seen), false)
                    }
                    Some(place) => (self.begin_piece(place, seen)?, true),
                    None => {
                        if let Some(place) = other {
                            self.end_one(place, seen);
                        }
                        (self.begin(seen)?, true)
                    }
                }
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
        self.decide_pieces(false, seen);
        if let Some(place) = self.unsure {
            let is_whole = self.calls.get(place).map(|call| call.arguments.is_whole());
            self.decide(place, is_whole == Some(true), seen);
        }
        self.push()
    }

    fn push(&mut self) -> Result<usize, ApiFailure> {
        if self.calls.len() >= MAX_CALLS {
            return Err(too_many_calls());
        }
        self.calls.push(Call {
            begun_in: self.lists,
            ..Call::default()
        });
        Ok(self.calls.len() - 1)
    }

    /// Returns the call itself, or the one that it is a piece of.
    fn root_of(&self, place: usize) -> usize {
        let call = self.calls.get(place);
        call.and_then(|call| call.merged).unwrap_or(place)
    }

    /// Returns the call that is not whole, which a fragment with a name may be more of all the same.
    fn call_of_piece(&self, known: Option<usize>, fragment: &Fragment) -> Option<usize> {
        let of_id = |id: &String| self.places.of_id(id).last().copied();
        let of_id = fragment.id.as_ref().and_then(of_id);
        let newest = self.newest().filter(|_| fragment.index.is_none());
        let newest = newest.filter(|place| self.began_before(*place));
        let near = [known, of_id, newest].into_iter().flatten();
        near.map(|place| self.root_of(place))
            .find(|place| self.lacks(*place, fragment))
    }

    fn began_before(&self, place: usize) -> bool {
        let call = self.calls.get(place);
        call.is_some_and(|call| call.begun_in < self.lists)
    }

    fn lacks(&self, place: usize, fragment: &Fragment) -> bool {
        let Some(call) = self.calls.get(place) else {
            return false;
        };
        let is_plain = call.arguments.is_plain() || fragment.is_plain;
        if is_plain || fragment.name.is_none() || call.name != fragment.name || call.ended {
            return false;
        }
        let came = self.came_of(place, call);
        let is_same_id = fragment.id.is_some() && call.id == fragment.id;
        let is_whole = came.is_whole() && !(is_same_id && came.is_empty_object());
        let is_blank = fragment.arguments.trim().is_empty();
        !call.is_repeat && (!is_whole || is_blank && call.is_redrawn)
    }

    /// Returns the arguments of a call, with those of its pieces.
    fn came_of<'a>(&'a self, place: usize, call: &'a Call) -> &'a Arguments {
        let pieces = self.pieces.as_ref().filter(|pieces| pieces.hold(place));
        pieces.map_or(&call.arguments, |pieces| &pieces.all)
    }

    /// Returns whether a fragment can only be more of the call: no call's arguments begin like that.
    fn is_surely_more(&self, place: usize, fragment: &Fragment) -> bool {
        let Some(call) = self.calls.get(place) else {
            return false;
        };
        let said = fragment.arguments.trim_start();
        let is_middle = !said.is_empty() && !said.starts_with(['{', '[']);
        call.is_redrawn || is_middle && self.came_of(place, call).is_open()
    }

    /// Takes the call at a place, and its pieces, for one. Returns its place.
    fn join(&mut self, place: usize, seen: &mut VecDeque<StreamEvent>) -> usize {
        let pieces = self.pieces.take_if(|pieces| pieces.hold(place));
        let root = pieces.map_or(place, |pieces| self.merge(pieces, seen).unwrap_or(place));
        if let Some(call) = self.calls.get_mut(root) {
            call.is_redrawn = true;
        }
        root
    }

    /// Begins what may be a piece of the call at a place.
    fn begin_piece(
        &mut self,
        place: usize,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<usize, ApiFailure> {
        if !self
            .pieces
            .as_ref()
            .is_some_and(|pieces| pieces.hold(place))
        {
            self.decide_pieces(false, seen);
            let call = self.calls.get(place);
            self.pieces = call.map(|call| Pieces {
                places: vec![place],
                all: call.arguments.clone(),
            });
        }
        let piece = self.push()?;
        if let Some(pieces) = &mut self.pieces {
            pieces.places.push(piece);
        }
        Ok(piece)
    }

    /// Decides whether the pieces are one call.
    fn decide_pieces(&mut self, is_end: bool, seen: &mut VecDeque<StreamEvent>) {
        let Some(pieces) = self.pieces.take() else {
            return;
        };
        let places = pieces.places.iter();
        let calls: Vec<_> = places.filter_map(|place| self.calls.get(*place)).collect();
        let count = |is: fn(&Call) -> bool| calls.iter().filter(|call| is(call)).count();
        let broken = count(|call| !call.arguments.are_complete());
        let is_one = match broken {
            0 => {
                let first = calls.first().and_then(|call| call.id.as_ref());
                let is_of_it = |call: &&Call| call.id.as_ref() == first;
                let has_one_id = first.is_some() && calls.iter().all(is_of_it);
                has_one_id && count(|call| !call.arguments.is_nothing()) == 1
            }
            _ => pieces.all.can_be_json(),
        };
        if is_one {
            self.merge(pieces, seen);
            return;
        }
        if broken > 1 {
            self.fault = Some(stray_arguments(pieces.all.as_str()));
        }
        for place in pieces.places {
            self.decide(place, true, seen);
            let call = self.calls.get(place);
            let can_be = call.is_some_and(|call| is_end || call.arguments.is_whole());
            let is_repeat = can_be && self.is_like_a_twin(place);
            if let Some(call) = self.calls.get_mut(place) {
                call.is_repeat |= is_repeat && call.told.is_none();
                if !call.is_repeat {
                    call.tell(seen);
                }
            }
        }
    }

    /// Makes one call of pieces. Returns its place.
    fn merge(&mut self, pieces: Pieces, seen: &mut VecDeque<StreamEvent>) -> Option<usize> {
        let (root, others) = pieces.places.split_first()?;
        let mut extra = Map::new();
        for other in others {
            if let Some(call) = self.calls.get_mut(*other) {
                call.merged = Some(*root);
                extra.append(&mut call.extra);
            }
        }
        if let Some(call) = self.calls.get_mut(*root) {
            call.extra.extend(extra);
            pieces.all.stand_in_for(&mut call.arguments);
        }
        self.tell(*root, seen);
        Some(*root)
    }

    /// Returns the call that the fragment may belong to.
    fn place_of(&self, position: usize, fragment: &Fragment) -> Option<usize> {
        let of_id = || {
            let places = self.places.of_id(fragment.id.as_deref()?);
            places.last().copied()
        };
        match (fragment.index, &fragment.name) {
            (Some(index), Some(_)) => self.places.head(index),
            (None, Some(_)) if fragment.id.is_none() => {
                let near = [self.in_row(position), self.newest()].into_iter().flatten();
                near.into_iter()
                    .find(|place| self.is_named_once_more(*place, fragment))
            }
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

    /// Returns whether a fragment of a name alone is more of the call, which began in another list.
    fn is_named_once_more(&self, place: usize, fragment: &Fragment) -> bool {
        let Some(call) = self.calls.get(place) else {
            return false;
        };
        let said = fragment.arguments.as_str();
        let is_more = match said.trim().is_empty() {
            true => call.is_named_again || call.is_redrawn,
            false => {
                let is_piece = call.arguments.is_nothing() || !Nesting::of(said).is_whole();
                is_piece && !call.arguments.is_whole()
            }
        };
        is_more && self.began_before(place) && call.name == fragment.name && !call.ended
    }

    fn newest(&self) -> Option<usize> {
        self.calls.len().checked_sub(1)
    }

    /// Returns the call at a position of those that began in one list, or the next one that is not whole.
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
        if let Some(pieces) = self.pieces.as_mut().filter(|pieces| pieces.hold(place)) {
            pieces.all.take(&fragment.arguments);
        }
        // Spaces behind what is whole change nothing of it, and need no look at all of it.
        let was_whole = call.arguments.is_whole() && !call.arguments.is_empty_object();
        let is_same = was_whole && fragment.arguments.trim().is_empty();
        call.take(fragment);
        if !(is_same && self.unsure == Some(place)) {
            self.tell(place, seen);
        }
    }

    /// Emits the call at a place to a reader, unless it may be one that is there.
    fn tell(&mut self, place: usize, seen: &mut VecDeque<StreamEvent>) {
        let Some(call) = self.calls.get(place) else {
            return;
        };
        let is_whole = call.arguments.is_whole() && !call.arguments.is_empty_object();
        let is_new = call.told.is_none() && call.name.is_some();
        let is_piece = self
            .pieces
            .as_ref()
            .is_some_and(|pieces| pieces.hold(place));
        if is_new && let Some(id) = call.id.clone() {
            self.places.name(&id, place);
            if !is_piece && self.twins(place).next().is_some() {
                self.unsure = Some(place);
            }
        }
        let is_unsure = self.unsure == Some(place);
        if is_piece || is_unsure && (!is_whole || self.is_repeat(place)) {
            return;
        }
        if is_unsure {
            self.unsure = None;
        }
        if let Some(call) = self.calls.get_mut(place) {
            call.tell(seen);
        }
    }

    /// Returns the calls before it of the same id and name.
    fn twins(&self, place: usize) -> impl DoubleEndedIterator<Item = &Call> {
        let call = self.calls.get(place);
        let id = call.and_then(|call| call.id.as_deref());
        let places = id.map(|id| self.places.of_id(id)).unwrap_or_default();
        let before = places.iter().filter(move |other| **other < place);
        let calls = before.filter_map(|other| self.calls.get(*other));
        calls.filter(move |other| call.is_some_and(|call| call.name == other.name))
    }

    /// Returns whether the call at a place came before, and is there already.
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

    /// Returns the id that was emitted for the call at a place.
    #[must_use]
    pub fn id_at(&self, place: usize) -> Option<&str> {
        self.calls.get(place)?.told.as_deref()
    }

    /// Returns the arguments of the call at a place, as far as they came.
    #[must_use]
    pub fn arguments_at(&self, place: usize) -> &str {
        let call = self.calls.get(place);
        call.map(|call| call.arguments.as_str()).unwrap_or_default()
    }

    /// Notes that no more comes of the call at a place.
    pub fn end_one(&mut self, place: usize, seen: &mut VecDeque<StreamEvent>) {
        if self
            .pieces
            .as_ref()
            .is_some_and(|pieces| pieces.hold(place))
        {
            self.decide_pieces(true, seen);
        }
        self.decide(place, true, seen);
        if let Some(call) = self.calls.get_mut(place) {
            call.end(seen);
        }
    }

    /// Notes that no more comes of any call.
    pub fn end(&mut self, seen: &mut VecDeque<StreamEvent>) {
        for place in 0..self.calls.len() {
            self.end_one(place, seen);
        }
    }

    /// Returns the calls, in the order in which they began, and forgets them.
    ///
    /// # Errors
    ///
    /// There are arguments of a call that has no name, or several arguments whose calls are not known.
    pub fn finish(&mut self) -> Result<Vec<FinishedCall>, ApiFailure> {
        self.end(&mut VecDeque::new());
        let Self {
            mut calls, fault, ..
        } = mem::take(self);
        if let Some(fault) = fault {
            return Err(fault);
        }
        calls.retain(|call| !call.is_repeat && call.merged.is_none());
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
        for call in &finished {
            let told = seen.iter().filter_map(|event| match event {
                StreamEvent::ToolUseInputDelta { id, delta } => (*id == call.id).then_some(delta),
                _ => None,
            });
            let is_alone = finished.iter().filter(|other| other.id == call.id).count() == 1;
            let told: String = told.map(String::as_str).collect();
            assert!(
                !is_alone || told.trim_end() == call.arguments.trim_end(),
                "{told}"
            );
        }
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

    fn one(arguments: &str) -> Vec<(String, String)> {
        vec![("x".to_owned(), arguments.to_owned())]
    }

    #[test]
    fn an_empty_beginning_is_of_the_call_that_comes_whole_elsewhere() {
        let whole = r#"{"n":1}"#;
        for (index, id) in [(Some(1), "a"), (None, "a"), (None, "")] {
            for name in ["x", ""] {
                let fragments = [fragment(0, "a", "x", ""), fragment(index, id, name, whole)];
                assert_eq!(calls(&fragments), one(whole), "{index:?} {id} {name}");
            }
        }
        let fragments = [fragment(0, "a", "x", ""), fragment(1, "b", "x", whole)];
        let both = vec![one("")[0].clone(), one(whole)[0].clone()];
        assert_eq!(calls(&fragments), both);
    }

    #[test]
    fn names_and_ids_in_each_fragment_begin_one_call() {
        let pieces = ["", r#"{"n""#, ":[", r#"{"m":"#, "1}", "]}", ""];
        let whole = pieces.concat();
        type Place = fn(u64) -> (Option<u64>, String);
        let places: [Place; 7] = [
            |_| (None, String::new()),
            |_| (Some(0), "a".to_owned()),
            |_| (None, "a".to_owned()),
            |at| (Some(at), "a".to_owned()),
            |_| (Some(0), String::new()),
            |at| (Some(0), at.to_string()),
            |at| (None, at.to_string()),
        ];
        for (count, place) in places.iter().enumerate() {
            let read = |skipped, taken: usize| {
                let pieces = (0..).zip(pieces).skip(skipped).take(taken);
                let pieces = pieces.map(|(at, piece)| {
                    let (index, id) = place(at);
                    fragment(index, &id, "x", piece)
                });
                calls(&pieces.collect::<Vec<_>>())
            };
            for skipped in [0, 1] {
                assert_eq!(read(skipped, 7), one(&whole), "{count} {skipped}");
            }
            let cut = pieces[..4].concat();
            assert_eq!(read(0, 4), one(&cut), "{count}");
        }
    }

    #[test]
    fn a_call_of_more_pieces_than_an_answer_may_have_calls_is_one() {
        let mut pieces = vec![r#"{"n":["#];
        pieces.resize(3 * MAX_CALLS, "1,");
        pieces.push("1]}");
        let fragments = (0..).zip(&pieces);
        let fragments = fragments.map(|(at, piece)| fragment(0, &at.to_string(), "x", piece));
        let fragments: Vec<_> = fragments.collect();
        assert_eq!(calls(&fragments), one(&pieces.concat()));
    }

    #[test]
    fn new_ids_of_whole_arguments_begin_calls_that_are_apart() {
        for index in [Some(0), None] {
            let fragments = [
                fragment(index, "a", "x", ""),
                fragment(index, "b", "x", r#"{"n":1}"#),
                fragment(index, "c", "x", r#"{"n":2}"#),
                fragment(index, "d", "x", "{}"),
            ];
            let read = calls(&fragments);
            let arguments: Vec<_> = read.iter().map(|(_, said)| said.as_str()).collect();
            assert_eq!(arguments, ["", r#"{"n":1}"#, r#"{"n":2}"#, "{}"]);
        }
    }

    #[test]
    fn calls_that_grow_by_their_ids_in_one_place_are_apart() {
        let fragments = [
            fragment(0, "a", "x", ""),
            fragment(0, "b", "x", r#"{"n":"#),
            fragment(0, "a", "", r#"{"n":1}"#),
            fragment(0, "b", "", "2}"),
        ];
        assert_eq!(calls(&fragments), both("x", "x"));
    }

    #[test]
    fn fragments_that_are_no_call_together_nor_apart_are_malformed() {
        let mut calls = Calls::default();
        for (id, arguments) in [("a", r#"{"n":1"#), ("b", r#"{"n":"#)] {
            let fragment = fragment(0, id, "x", arguments);
            calls.take(0, fragment, &mut VecDeque::new()).unwrap();
        }
        let failure = stray_arguments(r#"{"n":1{"n":"#);
        assert_eq!(calls.finish(), Err(failure));
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
    fn spaces_behind_a_long_call_that_may_be_sent_again_change_nothing() {
        let said = format!(r#"{{"n":"{}"}}"#, "x".repeat(500_000));
        let again = said.replacen(':', ": ", 1);
        let mut fragments = vec![fragment(0, "a", "x", &said), fragment(1, "a", "x", &again)];
        fragments.resize(50_000, fragment(1, "", "", " "));
        assert_eq!(calls(&fragments), one(&said));
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
