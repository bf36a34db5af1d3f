//! Reading typed values out of a TOML table, noting what does not fit.

use std::{str::FromStr, time::Duration};

use rust_decimal::Decimal;
use serde_json::Value;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::agent_file::text::{
    json,
    problem::{Meant, Problems, shown},
};

/// The settings that all agents have in common.
pub(crate) const DEFAULTS: &str = "defaults";

/// Where an agent's word for `priority` was put: Temporal's number has the same key. No file has this key.
pub(crate) const RUN_PRIORITY: &str = "priority of runs";

/// One table of the file. A value that does not fit is noted as a problem and read as absent.
#[derive(Clone)]
pub(crate) struct Table<'a> {
    /// The names between the brackets; none for the whole file.
    path: Vec<&'a str>,
    /// The offset at which the table begins.
    pub(crate) offset: usize,
    entries: &'a DeTable<'a>,
    pub(crate) problems: &'a Problems<'a>,
}

/// A text of the file and its offset.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) value: &'a str,
    pub(crate) offset: usize,
}

/// An element of a list.
pub(crate) enum Entry<'a> {
    Text(Text<'a>),
    Table(Table<'a>),
}

impl<'a> Table<'a> {
    pub(crate) const fn root(entries: &'a DeTable<'a>, problems: &'a Problems<'a>) -> Self {
        Self::file(entries, problems, 0)
    }

    /// Returns the whole of one file, whose first byte is at this offset.
    pub(crate) const fn file(
        entries: &'a DeTable<'a>,
        problems: &'a Problems<'a>,
        offset: usize,
    ) -> Self {
        Self::at(Vec::new(), offset, entries, problems)
    }

    /// Returns the table with these names between the brackets.
    pub(crate) const fn at(
        path: Vec<&'a str>,
        offset: usize,
        entries: &'a DeTable<'a>,
        problems: &'a Problems<'a>,
    ) -> Self {
        Self {
            path,
            offset,
            entries,
            problems,
        }
    }

    /// Notes every key that is not one of these, with special messages for some.
    pub(crate) fn expect_keys_but(&self, known: &[&str], refused: &[(&str, &str)]) {
        for key in self.entries.keys() {
            let name = key.get_ref().as_ref();
            let offset = key.span().start;
            if known.contains(&name) || name == RUN_PRIORITY {
                continue;
            }
            match refused.iter().find(|(refused, _)| *refused == name) {
                Some((_, message)) => self.problem(name, offset, message),
                None => {
                    let text = Text {
                        value: name,
                        offset,
                    };
                    self.unknown("key", &self.place_at(offset), text, known);
                }
            }
        }
    }

    /// Returns how messages name this table.
    pub(crate) fn place(&self) -> String {
        self.place_at(self.offset)
    }

    /// Returns how messages name the table that contains an offset: this one, or its part of `[defaults]`.
    fn place_at(&self, offset: usize) -> String {
        match self.path.as_slice() {
            [] => "the agent file".to_owned(),
            ["agents", _, path @ ..] if self.problems.is_default(offset) => {
                format!("[{}]", dotted(&[&[DEFAULTS], path].concat()))
            }
            path => format!("[{}]", dotted(path)),
        }
    }

    /// Returns whether this is `[defaults]` itself or a part of it, and not a table of an agent.
    pub(crate) fn is_defaults(&self) -> bool {
        self.path.first() == Some(&DEFAULTS)
    }

    /// Returns whether the agent's own table has the key, and not only `[defaults]`.
    pub(crate) fn says(&self, key: &str) -> bool {
        self.has(key) && !self.problems.is_default(self.offset_of(key))
    }

    /// Returns whether the agent has this table from `[defaults]` alone.
    pub(crate) fn is_inherited(&self) -> bool {
        self.problems.is_default(self.offset)
    }

    /// Notes a problem with a key's value.
    pub(crate) fn problem(&self, key: &str, offset: usize, message: &str) {
        let place = self.place_at(offset);
        self.problems
            .add(offset, format!("{key} in {place} {message}"));
    }

    /// Notes that a key is missing.
    pub(crate) fn missing(&self, example: &str) {
        self.problems.add(
            self.offset,
            format!("{} lacks a key: add {example}", self.place()),
        );
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Returns whether the key's value is one that [`table`](Self::table) notes a problem about.
    pub(crate) fn holds_other_than_table(&self, key: &str) -> bool {
        self.has(key) && !self.holds_table(key)
    }

    pub(crate) fn holds_table(&self, key: &str) -> bool {
        self.entries
            .get(key)
            .is_some_and(|value| value.get_ref().is_table())
    }

    pub(crate) fn is_empty_list(&self, key: &str) -> bool {
        let items = self.entries.get(key).and_then(|it| it.get_ref().as_array());
        items.is_some_and(|items| items.is_empty())
    }

    /// Returns whether the key is absent or this number. Otherwise notes what is `wanted`.
    pub(crate) fn is_or_has_no(&self, key: &str, number: u64, wanted: &str) -> bool {
        let Some(value) = self.entries.get(key) else {
            return true;
        };
        let found = value.get_ref().as_integer();
        let fits = found
            .is_some_and(|found| u64::from_str_radix(found.as_str(), found.radix()) == Ok(number));
        if !fits {
            self.mismatch::<()>(key, value, wanted);
        }
        fits
    }

    pub(crate) fn is_integer(&self, key: &str) -> bool {
        self.entries
            .get(key)
            .is_some_and(|value| value.get_ref().is_integer())
    }

    pub(crate) fn is_boolean(&self, key: &str) -> bool {
        self.entries
            .get(key)
            .is_some_and(|value| value.get_ref().is_bool())
    }

    pub(crate) fn is_text(&self, key: &str) -> bool {
        self.entries
            .get(key)
            .is_some_and(|value| value.get_ref().is_str())
    }

    /// Returns the offset of a key's value; the offset of the table if the key is absent.
    pub(crate) fn offset_of(&self, key: &str) -> usize {
        self.entries
            .get(key)
            .map_or(self.offset, |value| value.span().start)
    }

    pub(crate) fn table(&self, key: &str) -> Option<Self> {
        let (name, value) = self.entries.get_key_value(key)?;
        match value.get_ref() {
            DeValue::Table(entries) => Some(Self {
                path: [self.path.as_slice(), &[name.get_ref().as_ref()]].concat(),
                offset: name.span().start,
                entries,
                problems: self.problems,
            }),
            _ => self.mismatch(key, value, "a table"),
        }
    }

    /// Returns the tables under this key, by name: `[agents.NAME]`.
    pub(crate) fn named_tables(&self, key: &str) -> Vec<(&'a str, Self)> {
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

    /// Returns a table whose keys are not interpreted here, as JSON.
    pub(crate) fn json(&self, key: &str) -> Option<Value> {
        let table = self.table(key)?;
        match json::object(table.entries) {
            Ok(object) => Some(object),
            Err(offset) => {
                let message = "contains a value that JSON cannot represent: write a text, a number, true, \
                               false, a list or a table";
                self.problem(key, offset, message);
                None
            }
        }
    }

    pub(crate) fn text(&self, key: &str) -> Option<Text<'a>> {
        self.text_but(key, "a text in quotes")
    }

    /// Returns a text as [`text`](Self::text) does, where something else is `wanted` too.
    pub(crate) fn text_but(&self, key: &str, wanted: &str) -> Option<Text<'a>> {
        let value = self.entries.get(key)?;
        as_text(value).or_else(|| self.mismatch(key, value, wanted))
    }

    /// Returns the texts of a table whose keys are not interpreted here, by key.
    pub(crate) fn texts_by_key(&self) -> Vec<(&'a str, Text<'a>)> {
        let entries = self.entries.iter();
        entries
            .filter_map(|(key, value)| {
                let key = key.get_ref().as_ref();
                let text = as_text(value);
                // The key may be what was meant as the value.
                let text = text.or_else(|| self.mismatch(&shown(key), value, "a text in quotes"));
                Some((key, text?))
            })
            .collect()
    }

    pub(crate) fn texts(&self, key: &str) -> Vec<Text<'a>> {
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
                    &format!("contains a value that is not a string: write {WANTED}"),
                ),
            }
        }
        texts
    }

    /// Returns the texts and tables of a list.
    pub(crate) fn entries(&self, key: &str, wanted: &str) -> Vec<Entry<'a>> {
        let Some((name, value)) = self.entries.get_key_value(key) else {
            return Vec::new();
        };
        let Some(items) = value.get_ref().as_array() else {
            self.mismatch::<()>(key, value, wanted);
            return Vec::new();
        };
        let mut entries = Vec::new();
        for item in items {
            let offset = item.span().start;
            match item.get_ref() {
                DeValue::Table(table) => entries.push(Entry::Table(Self {
                    path: [self.path.as_slice(), &[name.get_ref().as_ref()]].concat(),
                    offset,
                    entries: table,
                    problems: self.problems,
                })),
                _ => match as_text(item) {
                    Some(text) => entries.push(Entry::Text(text)),
                    None => {
                        let message = format!("contains a value that is neither: write {wanted}");
                        self.problem(key, offset, &message);
                    }
                },
            }
        }
        entries
    }

    /// Returns the names in a list of things: of each element its text, or its `name` if it is a table.
    pub(crate) fn names(&self, key: &str) -> Vec<Text<'a>> {
        let Some(value) = self.entries.get(key) else {
            return Vec::new();
        };
        const WANTED: &str = "a list of names in quotes, or tables as { name = \"…\" }";
        let Some(items) = value.get_ref().as_array() else {
            self.mismatch::<()>(key, value, WANTED);
            return Vec::new();
        };
        let mut names = Vec::new();
        for item in items {
            let named = item
                .get_ref()
                .as_table()
                .and_then(|table| table.get("name"));
            match as_text(named.unwrap_or(item)) {
                Some(text) => names.push(text),
                None => self.problem(
                    key,
                    item.span().start,
                    &format!("contains a value without a name: write {WANTED}"),
                ),
            }
        }
        names
    }

    /// Returns whether a list of names contains this one, as a text or as a table with `name`. Problems with the list
    /// are noted where it is read.
    pub(crate) fn lists(&self, key: &str, name: &str) -> bool {
        let items = self
            .entries
            .get(key)
            .and_then(|value| value.get_ref().as_array());
        items.into_iter().flatten().any(|item| {
            let named = item
                .get_ref()
                .as_table()
                .and_then(|table| table.get("name"));
            as_text(named.unwrap_or(item)).is_some_and(|text| text.value == name)
        })
    }

    /// Returns a text or a list of texts.
    pub(crate) fn text_or_texts(&self, key: &str) -> Vec<Text<'a>> {
        match self.entries.get(key).map(Spanned::get_ref) {
            Some(DeValue::Array(_)) => self.texts(key),
            _ => self.text(key).into_iter().collect(),
        }
    }

    pub(crate) fn boolean(&self, key: &str) -> Option<bool> {
        let value = self.entries.get(key)?;
        match value.get_ref() {
            DeValue::Boolean(value) => Some(*value),
            _ => self.mismatch(key, value, "true or false"),
        }
    }

    /// Returns a whole number of at least 1.
    pub(crate) fn count<T: TryFrom<u64>>(&self, key: &str) -> Option<T> {
        self.count_from(1, key)
    }

    /// Returns a whole number, for keys with a meaning of 0.
    pub(crate) fn count_or_none<T: TryFrom<u64>>(&self, key: &str) -> Option<T> {
        self.count_from(0, key)
    }

    fn count_from<T: TryFrom<u64>>(&self, least: u64, key: &str) -> Option<T> {
        let value = self.entries.get(key)?;
        let number = value
            .get_ref()
            .as_integer()
            .and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok())
            .filter(|number| *number >= least);
        match number.map(T::try_from) {
            Some(Ok(number)) => Some(number),
            Some(Err(_)) => self.mismatch(key, value, "a smaller number"),
            None => self.mismatch(key, value, &format!("a whole number of at least {least}")),
        }
    }

    /// Returns a number of bytes of at least 1: a whole number, or a text with its unit.
    pub(crate) fn size(&self, key: &str) -> Option<usize> {
        let value = self.entries.get(key)?;
        let Some(text) = value.get_ref().as_str() else {
            return self.count(key);
        };
        bytes(text).or_else(|| self.mismatch(key, value, "a size with its unit, as in \"256KiB\""))
    }

    /// Returns a number that is at least `least`.
    pub(crate) fn number(&self, key: &str, least: f64) -> Option<f64> {
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

    /// Returns an amount of money: parsed as it is written, never as a binary fraction.
    pub(crate) fn decimal(&self, key: &str) -> Option<Decimal> {
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
            .or_else(|| self.mismatch(key, value, "an amount of US dollars, as in \"5.00\""))
    }

    pub(crate) fn duration(&self, key: &str) -> Option<Duration> {
        let value = self.entries.get(key)?;
        value
            .get_ref()
            .as_str()
            .and_then(|text| humantime::parse_duration(text).ok())
            .filter(|duration| *duration >= Duration::from_millis(1))
            .or_else(|| self.mismatch(key, value, "a duration with its unit, as in \"30m\""))
    }

    /// Returns the meaning of a key whose value is one of a few words.
    pub(crate) fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text(key)?;
        self.choose(key, text, choices)
    }

    /// Returns the meaning of a text that must be one of a few words.
    pub(crate) fn choose<T: Copy>(
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

    /// Notes that a text names something that does not exist.
    pub(crate) fn unknown(&self, what: &str, place: &str, text: Text<'_>, known: &[&str]) {
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

    /// Notes the same as [`unknown`](Self::unknown), for the value of a key.
    pub(crate) fn unknown_value(&self, what: &str, key: &str, text: Text<'_>, known: &[&str]) {
        let place = self.place_at(text.offset);
        self.unknown(what, &format!("{key} of {place}"), text, known);
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

/// Returns the number of bytes in a text such as `256KiB`.
fn bytes(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text.strip_prefix(digits)?.trim_start() {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    let number: usize = digits.parse().ok()?;
    number.checked_mul(unit).filter(|bytes| *bytes > 0)
}

/// Returns the path of a table as it is written between brackets.
pub(crate) fn dotted(path: &[&str]) -> String {
    let keys: Vec<String> = path.iter().map(|key| quoted(key)).collect();
    keys.join(".")
}

fn quoted(key: &str) -> String {
    let is_bare = !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if is_bare {
        key.to_owned()
    } else {
        format!("{key:?}")
    }
}
