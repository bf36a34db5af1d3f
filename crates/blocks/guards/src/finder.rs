//! Finding what a guard looks for in a text.

use std::ops::Range;

use neuron_tool::schema_mismatch;
use regex::Regex;
use serde_json::Value;

use crate::urls::Hosts;

/// What a guard looks for.
#[derive(Debug, Clone)]
pub(crate) enum Finder {
    /// What these match, which is called so.
    Patterns(Vec<Regex>, String),
    /// A text of more than so many characters.
    Longer(usize),
    /// Addresses of other hosts.
    Urls(Hosts),
    /// What is no JSON, or does not fit this.
    NoJson(Option<Value>),
}

/// What was found.
pub(crate) struct Found {
    /// Why it is not to go on.
    pub(crate) reason: String,
    /// Where it is, in order; nothing where it is the whole.
    pub(crate) parts: Vec<Range<usize>>,
}

impl Finder {
    pub(crate) fn find(&self, text: &str) -> Option<Found> {
        match self {
            Self::Patterns(patterns, name) => {
                let parts = patterns.iter().flat_map(|pattern| pattern.find_iter(text));
                let parts = parts.map(|found| found.range());
                let parts = joined(parts.filter(|part| !part.is_empty()).collect());
                let reason = format!("it has {name}");
                (!parts.is_empty()).then_some(Found { reason, parts })
            }
            Self::Longer(most) => {
                let is_longer = text.chars().nth(*most).is_some();
                let reason = format!("it is longer than {most} characters");
                is_longer.then_some(Found::whole(reason))
            }
            Self::Urls(hosts) => {
                let foreign = hosts.foreign(text);
                let reason = foreign.first().map(|(_, reason)| reason.clone())?;
                let parts = foreign.into_iter().map(|(part, _)| part).collect();
                Some(Found { reason, parts })
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
}

impl Found {
    const fn whole(reason: String) -> Self {
        Self {
            reason,
            parts: Vec::new(),
        }
    }

    /// The text with this in the place of what was found.
    pub(crate) fn replaced(&self, text: &str, by: &str) -> String {
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

/// Parts of a text in order, and those that touch each other as one.
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
