//! Reading typed values out of a TOML table, noting what does not fit.

use std::{str::FromStr, time::Duration};

use rust_decimal::Decimal;
use serde_json::Value;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    json,
    problem::{Meant, Problems, shown},
};

/// One table of the file. A value that does not fit is noted as a problem and read as absent.
pub(super) struct Table<'a> {
    /// As it stands between the brackets; empty for the whole file.
    pub(super) path: String,
    /// Where it begins.
    pub(super) offset: usize,
    entries: &'a DeTable<'a>,
    pub(super) problems: &'a Problems<'a>,
}

/// A text of the file and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) value: &'a str,
    pub(super) offset: usize,
}

impl<'a> Table<'a> {
    pub(super) fn root(entries: &'a DeTable<'a>, problems: &'a Problems<'a>) -> Self {
        Self {
            path: String::new(),
            offset: 0,
            entries,
            problems,
        }
    }

    /// Notes every key that is not one of these.
    pub(super) fn expect_keys(&self, known: &[&str]) {
        for key in self.entries.keys() {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let text = Text {
                    value: name,
                    offset: key.span().start,
                };
                self.unknown("key", &self.place(), text, known);
            }
        }
    }

    /// How messages name this table.
    pub(super) fn place(&self) -> String {
        if self.path.is_empty() {
            "the agent file".to_owned()
        } else {
            format!("[{}]", self.path)
        }
    }

    /// Notes a problem with a key's value.
    pub(super) fn problem(&self, key: &str, offset: usize, message: &str) {
        self.problems
            .add(offset, format!("{key} in {} {message}", self.place()));
    }

    /// Notes that a key is missing.
    pub(super) fn missing(&self, example: &str) {
        self.problems.add(
            self.offset,
            format!("{} lacks a key: add {example}", self.place()),
        );
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Whether the key's value is what [`table`](Self::table) notes a problem about.
    pub(super) fn holds_other_than_table(&self, key: &str) -> bool {
        self.entries
            .get(key)
            .is_some_and(|value| !value.get_ref().is_table())
    }

    pub(super) fn is_integer(&self, key: &str) -> bool {
        self.entries
            .get(key)
            .is_some_and(|value| value.get_ref().is_integer())
    }

    pub(super) fn is_boolean(&self, key: &str) -> bool {
        self.entries
            .get(key)
            .is_some_and(|value| value.get_ref().is_bool())
    }

    /// Where the value of a key stands; the table itself where there is none.
    pub(super) fn offset_of(&self, key: &str) -> usize {
        self.entries
            .get(key)
            .map_or(self.offset, |value| value.span().start)
    }

    pub(super) fn table(&self, key: &str) -> Option<Self> {
        let (name, value) = self.entries.get_key_value(key)?;
        match value.get_ref() {
            DeValue::Table(entries) => Some(Self {
                path: join(&self.path, key),
                offset: name.span().start,
                entries,
                problems: self.problems,
            }),
            _ => self.mismatch(key, value, "a table"),
        }
    }

    /// The tables under this key, by name: `[agents.NAME]`.
    pub(super) fn named_tables(&self, key: &str) -> Vec<(&'a str, Self)> {
        let Some(table) = self.table(key) else {
            return Vec::new();
        };
        table
            .entries
            .keys()
            .filter_map(|name| {
                let name = name.get_ref().as_ref();
                Some((name, table.table(name)?))
            })
            .collect()
    }

    /// A table whose keys are another's business, as JSON.
    pub(super) fn json(&self, key: &str) -> Option<Value> {
        let table = self.table(key)?;
        match json::object(table.entries) {
            Ok(object) => Some(object),
            Err(offset) => {
                let message = "holds a value that JSON has none for: write a text, a number, true, \
                               false, a list or a table";
                self.problem(key, offset, message);
                None
            }
        }
    }

    pub(super) fn text(&self, key: &str) -> Option<Text<'a>> {
        let value = self.entries.get(key)?;
        match as_text(value) {
            Some(text) => Some(text),
            None => self.mismatch(key, value, "a text in quotes"),
        }
    }

    pub(super) fn texts(&self, key: &str) -> Vec<Text<'a>> {
        let Some(value) = self.entries.get(key) else {
            return Vec::new();
        };
        const WANTED: &str = "a list of texts in quotes";
        let Some(items) = value.get_ref().as_array() else {
            self.mismatch::<()>(key, value, WANTED);
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items {
            match as_text(item) {
                Some(text) => texts.push(text),
                None => self.problem(
                    key,
                    item.span().start,
                    &format!("holds what is no text: write {WANTED}"),
                ),
            }
        }
        texts
    }

    /// A text or a list of them.
    pub(super) fn text_or_texts(&self, key: &str) -> Vec<Text<'a>> {
        match self.entries.get(key).map(Spanned::get_ref) {
            Some(DeValue::Array(_)) => self.texts(key),
            _ => self.text(key).into_iter().collect(),
        }
    }

    pub(super) fn boolean(&self, key: &str) -> Option<bool> {
        let value = self.entries.get(key)?;
        match value.get_ref() {
            DeValue::Boolean(value) => Some(*value),
            _ => self.mismatch(key, value, "true or false"),
        }
    }

    /// A whole number of at least 1.
    pub(super) fn count<T: TryFrom<u64>>(&self, key: &str) -> Option<T> {
        let value = self.entries.get(key)?;
        let number = value
            .get_ref()
            .as_integer()
            .and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok())
            .filter(|number| *number > 0);
        match number.map(T::try_from) {
            Some(Ok(number)) => Some(number),
            Some(Err(_)) => self.mismatch(key, value, "a smaller number"),
            None => self.mismatch(key, value, "a whole number of at least 1"),
        }
    }

    /// A number from `least` on.
    pub(super) fn number(&self, key: &str, least: f64) -> Option<f64> {
        let value = self.entries.get(key)?;
        let number = match value.get_ref() {
            DeValue::Float(number) => number.as_str().parse().ok(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
            _ => None,
        };
        number
            .filter(|number: &f64| number.is_finite() && *number >= least)
            .or_else(|| self.mismatch(key, value, &format!("a number of at least {least}")))
    }

    /// An amount of money: read as it is written, never as a binary fraction.
    pub(super) fn decimal(&self, key: &str) -> Option<Decimal> {
        let value = self.entries.get(key)?;
        let written = match value.get_ref() {
            DeValue::String(text) => Some(text.as_ref()),
            DeValue::Float(number) => Some(number.as_str()),
            DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str()),
            _ => None,
        };
        written
            .and_then(|text| Decimal::from_str(text).ok())
            .filter(|amount| !amount.is_sign_negative())
            .or_else(|| self.mismatch(key, value, "an amount in quotes, as in \"5.00\""))
    }

    pub(super) fn duration(&self, key: &str) -> Option<Duration> {
        let value = self.entries.get(key)?;
        value
            .get_ref()
            .as_str()
            .and_then(|text| humantime::parse_duration(text).ok())
            .filter(|duration| *duration >= Duration::from_millis(1))
            .or_else(|| self.mismatch(key, value, "a duration with its unit, as in \"30m\""))
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text(key)?;
        self.choose(key, text, choices)
    }

    /// The meaning of a text that must be one of a few words.
    pub(super) fn choose<T: Copy>(
        &self,
        key: &str,
        text: Text<'_>,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let chosen = choices.iter().find(|(word, _)| *word == text.value);
        if chosen.is_none() {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            let meant = Meant {
                name: text.value,
                known: &words,
            };
            let message = format!("is {}: {meant}", shown(text.value));
            self.problem(key, text.offset, &message);
        }
        chosen.map(|(_, meaning)| *meaning)
    }

    /// Notes that a text names something that is not there.
    pub(super) fn unknown(&self, what: &str, place: &str, text: Text<'_>, known: &[&str]) {
        let name = shown(text.value);
        let meant = Meant {
            name: text.value,
            known,
        };
        self.problems.add(
            text.offset,
            format!("unknown {what} {name} in {place}: {meant}"),
        );
    }

    /// As [`unknown`](Self::unknown), for the value of a key.
    pub(super) fn unknown_value(&self, what: &str, key: &str, text: Text<'_>, known: &[&str]) {
        self.unknown(what, &format!("{key} of {}", self.place()), text, known);
    }

    fn mismatch<T>(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str) -> Option<T> {
        let found = match value.get_ref() {
            DeValue::String(text) => shown(text),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(value) => value.to_string(),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        let message = format!("is {found}: write {wanted}");
        self.problem(key, value.span().start, &message);
        None
    }
}

fn as_text<'a>(value: &'a Spanned<DeValue<'a>>) -> Option<Text<'a>> {
    Some(Text {
        value: value.get_ref().as_str()?,
        offset: value.span().start,
    })
}

/// The path of a table inside another, as it is written between brackets.
fn join(path: &str, key: &str) -> String {
    let bare = !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let key = if bare {
        key.to_owned()
    } else {
        format!("{key:?}")
    };
    if path.is_empty() {
        key
    } else {
        format!("{path}.{key}")
    }
}
