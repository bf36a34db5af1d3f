//! The words that prose does without, and how they are found in it.

use std::fmt;

/// A word of prose, in small letters.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Word {
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) before: Gap,
}

/// What stands between a word and the one before it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Gap {
    Space,
    /// A sign or a piece of code.
    Sign,
    /// The end of a sentence, or the beginning of the paragraph.
    Stop,
}

/// A word that is not used here, and its line.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Found {
    line: usize,
    words: String,
    instead: &'static str,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            words,
            instead,
        } = self;
        write!(f, "{line}: \"{words}\": {instead}")
    }
}

/// Phrases with all their forms, and what to say instead.
const PHRASES: [(&[&str], &str); 8] = [
    (
        &["tell", "tells", "told", "telling"],
        "say emit, return, notify or report",
    ),
    (
        &[
            "refuse", "refuses", "refused", "refusing", "refusal", "refusals",
        ],
        "say reject",
    ),
    (
        &["go on", "goes on", "went on", "going on", "gone on"],
        "say continue or resume",
    ),
    (
        &["is none", "are none", "was none", "were none", "be none"],
        "say `None` if, has no, or is not a",
    ),
    (
        &["whoever", "somebody", "nobody", "anybody"],
        "name the role: the caller, an approver, no worker",
    ),
    (
        &["say so", "says so", "said so", "saying so"],
        "name what is said",
    ),
    (&["of which"], "make it a sentence of its own"),
    (
        &[
            "roll over",
            "rolls over",
            "rolled over",
            "rolling over",
            "fresh history",
            "fresh histories",
        ],
        "say continue as new, or segment",
    ),
];

/// Forms that stand for a result where the sentence has one of [`RESULTS`] before them.
const COMES_TO: [&str; 3] = ["comes to", "come to", "came to"];
const RESULTS: [&str; 2] = ["what", "whatever"];

/// What follows these forms where they are about a place or an end.
const PLACES: [&str; 3] = ["an", "rest", "light"];

/// Forms that stand for causing something where a participle follows them.
const HAS_IT: [&str; 6] = [
    "has it",
    "have it",
    "having it",
    "has them",
    "have them",
    "having them",
];

/// Participles and verbs besides those that end in `ed`.
const PARTICIPLES: [&str; 16] = [
    "begun", "built", "do", "done", "given", "kept", "made", "read", "run", "sent", "set", "shown",
    "taken", "wait", "work", "written",
];

/// Returns the words of a paragraph that are not used here, in their order.
pub(super) fn find(words: &[Word]) -> Vec<Found> {
    let places = 0..words.len();
    let found = places.filter_map(|place| {
        let (phrase, instead) = at(words, place)?;
        Some(Found {
            line: words.get(place)?.line,
            words: phrase.to_owned(),
            instead,
        })
    });
    found.collect()
}

/// Returns the phrase that begins at a place, and what to say instead.
fn at(words: &[Word], place: usize) -> Option<(&'static str, &'static str)> {
    let (before, from) = words.split_at_checked(place)?;
    for (phrases, instead) in PHRASES {
        if let Some(phrase) = phrases.iter().find(|phrase| begins(from, phrase)) {
            return Some((phrase, instead));
        }
    }
    let next = from.get(2).map(|word| (word.text.as_str(), word.before));
    if let Some(phrase) = COMES_TO.iter().find(|phrase| begins(from, phrase)) {
        let is_place = next.is_some_and(|(text, _)| PLACES.contains(&text));
        let is_result = !is_place && sentence(before, from).any(|text| RESULTS.contains(&text));
        return is_result.then_some((phrase, "say returns, becomes, or the result of"));
    }
    let phrase = HAS_IT.iter().find(|phrase| begins(from, phrase))?;
    let is_caused = next.is_some_and(|(text, gap)| {
        gap == Gap::Space && (PARTICIPLES.contains(&text) || text.ends_with("ed"))
    });
    is_caused.then_some((phrase, "name who does it: requests, starts, lets"))
}

/// Whether words begin with those of a phrase, with nothing but space between them.
fn begins(words: &[Word], phrase: &str) -> bool {
    let mut words = words.iter();
    phrase.split(' ').enumerate().all(|(index, text)| {
        let word = words.next();
        word.is_some_and(|word| word.text == text && (index == 0 || word.before == Gap::Space))
    })
}

/// Returns the words of a sentence before a place in it, the last one first.
fn sentence<'a>(before: &'a [Word], from: &'a [Word]) -> impl Iterator<Item = &'a str> {
    let mut is_over = from.first().is_none_or(|word| word.before == Gap::Stop);
    let words = before.iter().rev().take_while(move |word| {
        let is_inside = !is_over;
        is_over |= word.before == Gap::Stop;
        is_inside
    });
    words.map(|word| word.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::markdown;
    use super::*;

    fn phrases(prose: &str) -> Vec<String> {
        let paragraphs = markdown::paragraphs([(1, prose)].into_iter());
        let found = paragraphs.iter().flat_map(|words| find(words));
        found.map(|found| found.words).collect()
    }

    #[test]
    fn finds_every_form() {
        for (prose, phrase) in [
            ("Tells the model.", "tells"),
            ("What was refused, and why.", "refused"),
            ("The run goes on.", "goes on"),
            ("There are none.", "are none"),
            ("It is nobody's.", "nobody"),
            ("The page says so.", "says so"),
            ("Two, of which one waits.", "of which"),
            ("A run that rolls over.", "rolls over"),
            ("What a step comes to.", "comes to"),
            ("The worker has it made again.", "has it"),
            ("The client has them work.", "has them"),
        ] {
            assert_eq!(phrases(prose), [phrase], "{prose}");
        }
    }

    #[test]
    fn leaves_other_meanings_alone() {
        for prose in [
            "A teller, a retold story.",
            "It goes, on Mondays, home.",
            "A wait comes to an end. What it was stays.",
            "What is sent. A worker comes to the door.",
            "What comes to an end.",
            "The session, as the run has it now.",
            "Where the server has it. Started runs stay.",
            "Returns `None` if there is no name.",
            "A tell-tale sign.",
        ] {
            assert_eq!(phrases(prose), [""; 0], "{prose}");
        }
    }

    #[test]
    fn says_what_to_write_instead() {
        let paragraphs = markdown::paragraphs([(7, "It refuses.")].into_iter());
        let found = find(&paragraphs[0]);
        assert_eq!(found[0].to_string(), "7: \"refuses\": say reject");
    }
}
