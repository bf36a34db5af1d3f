//! One document of everything in an agent file: the files that it includes, what its agents have from `[defaults]`, and
//! the long form of what was written in short form.

use std::{ops::Range, path::Path};

use toml::{
    Spanned,
    de::{DeArray, DeTable, DeValue},
};

use crate::agent_file::{
    tables::file::FileKeys,
    text::{
        keys::{Keys, names},
        problem::{Problems, looks_like_a_key},
        table::{DEFAULTS, Table, dotted},
    },
};

pub(crate) mod include;
pub(crate) mod short;

pub(crate) const INCLUDE: &str = "include";

/// The keys that only the file has that includes others.
const OF_INCLUDING: [&str; 3] = [INCLUDE, DEFAULTS, "sessions"];

/// The key that each file may have.
const VERSION: &str = "version";

/// Returns the tables of named things, which may stand in any of the files.
fn named() -> Vec<&'static str> {
    let mut names = names(&FileKeys::keys());
    names.retain(|name| *name != VERSION && !OF_INCLUDING.contains(name));
    names
}

/// The tables of one file.
pub(crate) struct Part<'t> {
    /// Where the file begins.
    pub(crate) offset: usize,
    pub(crate) tables: DeTable<'t>,
}

impl<'t> Part<'t> {
    /// Parses the text of a file. Returns `None` if it is not TOML or has another version: the rest would be guesswork.
    pub(crate) fn parse(text: &'t str, path: &Path, problems: &mut Problems<'t>) -> Option<Self> {
        let offset = problems.add_source(path, text);
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            let span = error.span().unwrap_or_default();
            let message = error.message();
            // The parser's own text quotes the line, which may hold a key. A name is enough.
            let name = text
                .get(span.clone())
                .filter(|name| message == "duplicate key" && !looks_like_a_key(name))
                .map(|name| format!(" {name}"))
                .unwrap_or_default();
            let message = format!("this is not valid TOML: {message}{name}");
            problems.add(offset + span.start, message);
        }
        let tables = shifted(document.into_inner(), offset);
        let is_readable =
            errors.is_empty() && FileKeys::of(&Table::file(&tables, problems, offset)).version();
        is_readable.then_some(Self { offset, tables })
    }
}

/// Puts the files together. Each agent gets those settings of `[defaults]` that it does not have.
pub(crate) fn assemble<'t>(
    file: Part<'t>,
    included: Vec<Part<'t>>,
    problems: &mut Problems<'t>,
) -> DeTable<'t> {
    let mut document = file.tables;
    FileKeys::check(&Table::file(&document, problems, file.offset));
    for part in included {
        add(&mut document, part, problems);
    }
    for (name, agent) in agents(&mut document) {
        short::expand(agent, &["agents", name], problems);
    }
    if let Some((name, value)) = document.remove_entry(DEFAULTS) {
        let shift = problems.add_defaults();
        let name = Spanned::new(moved(name.span(), shift), name.into_inner());
        let mut value = shifted_value(value, shift);
        if let DeValue::Table(defaults) = value.get_mut() {
            short::expand(defaults, &[DEFAULTS], problems);
            for (_, agent) in agents(&mut document) {
                inherit(agent, defaults);
            }
        }
        document.insert(name, value);
    }
    document
}

/// Returns the entries of `[agents]` that are tables.
fn agents<'d, 't>(
    document: &'d mut DeTable<'t>,
) -> impl Iterator<Item = (&'d str, &'d mut DeTable<'t>)> {
    let tables = match document.get_mut("agents").map(Spanned::get_mut) {
        Some(DeValue::Table(tables)) => Some(tables),
        _ => None,
    };
    let entries = tables.into_iter().flat_map(|tables| tables.iter_mut());
    entries.filter_map(|(name, value)| match value.get_mut() {
        DeValue::Table(table) => Some((name.get_ref().as_ref(), table)),
        _ => None,
    })
}

/// Adds what an included file defines.
fn add<'t>(document: &mut DeTable<'t>, part: Part<'t>, problems: &Problems<'_>) {
    let file = Table::file(&part.tables, problems, part.offset);
    let named = named();
    let known = [&[VERSION], named.as_slice()].concat();
    const ELSEWHERE: &str = "is not allowed in a file that another file includes: move it to the file that includes this one";
    file.expect_keys_but(&known, &OF_INCLUDING.map(|key| (key, ELSEWHERE)));
    for section in &named {
        // Notes a problem if it is not a table.
        file.table(section);
    }
    for (section, value) in part.tables {
        if !named.contains(&section.get_ref().as_ref()) {
            continue;
        }
        let Some(known) = document.get_mut(section.get_ref().as_ref()) else {
            document.insert(section, value);
            continue;
        };
        let (DeValue::Table(known), DeValue::Table(named)) = (known.get_mut(), value.into_inner())
        else {
            continue;
        };
        for (name, value) in named {
            match known.get_key_value(name.get_ref().as_ref()) {
                Some((first, _)) => {
                    let place = dotted(&[section.get_ref(), name.get_ref()]);
                    let first = problems.place(first.span().start);
                    let message = format!("[{place}] is in {first} too: rename one of them");
                    problems.add(name.span().start, message);
                }
                None => {
                    known.insert(name, value);
                }
            }
        }
    }
}

/// Adds the defaults that a table does not set, in tables key by key.
fn inherit<'t>(table: &mut DeTable<'t>, defaults: &DeTable<'t>) {
    for (key, default) in defaults {
        match (
            table.get_mut(key.get_ref().as_ref()).map(Spanned::get_mut),
            default.get_ref(),
        ) {
            (None, _) => {
                table.insert(key.clone(), default.clone());
            }
            (Some(DeValue::Table(table)), DeValue::Table(default)) => inherit(table, default),
            (Some(_), _) => {}
        }
    }
}

/// Returns the same table with its offsets moved by this much.
fn shifted<'t>(table: DeTable<'t>, by: usize) -> DeTable<'t> {
    let entries = table.into_iter().map(|(key, value)| {
        let span = moved(key.span(), by);
        (
            Spanned::new(span, key.into_inner()),
            shifted_value(value, by),
        )
    });
    entries.collect()
}

fn shifted_value<'t>(value: Spanned<DeValue<'t>>, by: usize) -> Spanned<DeValue<'t>> {
    let span = moved(value.span(), by);
    let value = match value.into_inner() {
        DeValue::Table(table) => DeValue::Table(shifted(table, by)),
        DeValue::Array(items) => {
            let items = items.into_iter().map(|item| shifted_value(item, by));
            DeValue::Array(items.collect::<DeArray<'t>>())
        }
        other => other,
    };
    Spanned::new(span, value)
}

const fn moved(span: Range<usize>, by: usize) -> Range<usize> {
    span.start + by..span.end + by
}
