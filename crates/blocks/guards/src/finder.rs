//! Finding what a guard looks for in a text.

use std::ops::Range;

use neuron_tool::schema_mismatch;
use regex::Regex;
use serde_json::Value;

use crate::{secrets, urls::Hosts};

/// How often a text is looked at again after something was replaced in it.
const MOST_ROUNDS: usize = 8;

/// What a guard looks for.
#[derive(Debug, Clone)]
pub(crate) enum Finder {
    /// Keys and tokens, by what these match of them.
    Secrets(Vec<Regex>),
    /// What these match, which is called so.
    Patterns(Vec<Regex>, String),
    /// A text of more than this number of characters.
    Longer(usize),
    /// Addresses of other hosts.
    Urls(Hosts),
    /// What is no JSON, or does not fit this.
    NoJson(Option<Value>),
}

/// What was found.
pub(crate) struct Found {
    /// Why it is not passed on.
    pub(crate) reason: String,
    /// Where it is, in order; nothing where it is the whole.
    pub(crate) parts: Vec<Range<usize>>,
}

impl Finder {
    pub(crate) fn find(&self, text: &str) -> Option<Found> {
        match self {
            Self::Secrets(patterns) => {
                let parts = patterns.iter();
                let parts = parts.flat_map(|pattern| secrets::find(pattern, text));
                Found::parts("it has a secret".to_owned(), parts.collect())
            }
            Self::Patterns(patterns, name) => {
                let parts = patterns.iter().flat_map(|pattern| pattern.find_iter(text));
                let parts = parts.map(|found| found.range());
                let parts = parts.filter(|part| !part.is_empty());
                Found::parts(format!("it has {name}"), parts.collect())
            }
            Self::Longer(most) => {
                let is_longer = text.chars().nth(*most).is_some();
                let reason = format!("it is longer than {most} characters");
                is_longer.then_some(Found::whole(reason))
            }
            Self::Urls(hosts) => {
                let (reason, parts) = hosts.foreign(text)?;
                Found::parts(reason, parts)
            }
            Self::NoJson(schema) => match serde_json::from_str::<Value>(text) {
                Err(error) => Some(Found::whole(format!("it is no JSON: {error}"))),
                Ok(value) => {
                    let mismatch = schema.as_ref();
                    let mismatch = mismatch.and_then(|schema| schema_mismatch(schema, &value));
                    mismatch.map(Found::whole)
                }
            },
        }
    }

    /// Returns the text with `by` in the place of everything that is found, and of what is found only then: what is
    /// left may join to something else that is looked for. A text that never gets clean is replaced as a whole, and one
    /// in whose replacement itself something is found is looked at once.
    pub(crate) fn replaced(&self, found: &Found, text: &str, by: &str) -> String {
        let mut left = found.replaced(text, by);
        if found.parts.is_empty() || self.find(by).is_some() {
            return left;
        }
        for _ in 0..MOST_ROUNDS {
            match self.find(&left) {
                None => return left,
                Some(found) => left = found.replaced(&left, by),
            }
        }
        match self.find(&left) {
            None => left,
            Some(_) => by.to_owned(),
        }
    }
}

impl Found {
    /// Returns what was found in these parts, if there are any.
    fn parts(reason: String, parts: Vec<Range<usize>>) -> Option<Self> {
        let parts = joined(parts);
        (!parts.is_empty()).then_some(Self { reason, parts })
    }

    const fn whole(reason: String) -> Self {
        Self {
            reason,
            parts: Vec::new(),
        }
    }

    /// Returns the text with `by` in the place of what was found.
    fn replaced(&self, text: &str, by: &str) -> String {
        if self.parts.is_empty() {
            return by.to_owned();
        }
        let mut shown = String::with_capacity(text.len());
        let mut from = 0;
        for part in &self.parts {
            shown.push_str(text.get(from..part.start).unwrap_or_default());
            shown.push_str(by);
            from = part.end;
        }
        shown.push_str(text.get(from..).unwrap_or_default());
        shown
    }
}

/// Parts of a text in order, and those that overlap as one.
fn joined(mut parts: Vec<Range<usize>>) -> Vec<Range<usize>> {
    parts.sort_by_key(|part| (part.start, part.end));
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(parts.len());
    for part in parts {
        match joined.last_mut() {
            Some(last) if part.start < last.end => last.end = last.end.max(part.end),
            _ => joined.push(part),
        }
    }
    joined
}
