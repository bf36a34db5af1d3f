//! The kinds of values that keys have.

use std::{marker::PhantomData, time::Duration};

use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::agent_file::text::{
    keys::{Key, Keys, ValueKind, keys},
    table::{Entry, Table, Text},
};

/// Declares a kind whose values a method of [`Table`] reads.
macro_rules! kind {
    (
        $(#[$meta:meta])*
        $kind:ident => $value:ty, $read:ident($($argument:expr)?), $schema:tt
    ) => {
        $(#[$meta])*
        pub(crate) struct $kind;

        impl ValueKind for $kind {
            type Value<'a> = $value;

            fn read<'a>(table: &Table<'a>, key: &'static str) -> $value {
                table.$read(key $(, $argument)?)
            }

            fn schema() -> Value {
                json!($schema)
            }
        }
    };
}

kind!(
    /// `true` or `false`.
    Boolean => Option<bool>, boolean(), { "type": "boolean" }
);
kind!(
    /// A text.
    Words => Option<Text<'a>>, text(), { "type": "string" }
);
kind!(
    /// A list of texts.
    List => Vec<Text<'a>>, texts(), { "type": "array", "items": { "type": "string" } }
);
kind!(
    /// A text, or a list of texts.
    OneOrMore => Vec<Text<'a>>, text_or_texts(),
    { "anyOf": [
        { "type": "string" },
        { "type": "array", "items": { "type": "string" } },
    ] }
);
kind!(
    /// A number of bytes, or a text with its unit.
    Size => Option<usize>, size(),
    { "anyOf": [
        { "type": "integer", "minimum": 1 },
        { "type": "string", "pattern": "^0*[1-9][0-9]{0,18}\\s*(B|KiB|MiB|GiB)$" },
    ] }
);
kind!(
    /// A duration as a text with its units.
    Timespan => Option<Duration>, duration(),
    {
        "type": "string",
        "pattern": concat!(
            "^\\s*([0-9][0-9.]*\\s*(",
            "nanos|nsec|ns|usec|us|µs|millis|msec|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|",
            "days?|d|weeks?|wks?|w|months?|M|years?|yrs?|y)\\s*)+$",
        ),
        "allOf": [{ "pattern": "[1-9]" }],
    }
);
kind!(
    /// An amount of US dollars.
    Money => Option<Decimal>, decimal(),
    { "anyOf": [
        { "type": "number", "minimum": 0 },
        { "type": "string", "pattern": "^\\+?[0-9_]*\\.?[0-9_]*$" },
    ] }
);
kind!(
    /// A number of at least 0.
    Number => Option<f64>, number(0.0), { "type": "number", "minimum": 0 }
);
kind!(
    /// A number of at least 1.
    Factor => Option<f64>, number(1.0), { "type": "number", "minimum": 1 }
);
kind!(
    /// A table that is passed on as it is.
    Json => Option<Value>, json(), { "type": "object" }
);
kind!(
    /// A table of texts, whose keys are not interpreted.
    TextTable => Option<Table<'a>>, table(),
    { "type": "object", "additionalProperties": { "type": "string" } }
);

/// A whole number of at least 1.
pub(crate) struct Count<T>(PhantomData<T>);

impl<T: TryFrom<u64>> ValueKind for Count<T> {
    type Value<'a> = Option<T>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Option<T> {
        table.count(key)
    }

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 1 })
    }
}

/// A whole number, where 0 has a meaning.
pub(crate) struct CountOrZero<T>(PhantomData<T>);

impl<T: TryFrom<u64>> ValueKind for CountOrZero<T> {
    type Value<'a> = Option<T>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Option<T> {
        table.count_or_none(key)
    }

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 0 })
    }
}

/// A meaning that is written as one of a few words.
pub(crate) trait Choices: Copy {
    fn words() -> Vec<(&'static str, Self)>;
}

/// Gives each of a type's values its word.
macro_rules! words {
    ($choice:ty: $($word:literal => $meaning:expr),+ $(,)?) => {
        impl crate::agent_file::text::kinds::Choices for $choice {
            fn words() -> Vec<(&'static str, Self)> {
                vec![$(($word, $meaning)),+]
            }
        }
    };
}

pub(crate) use words;

/// One of a few words.
pub(crate) struct Choice<T>(PhantomData<T>);

impl<T: Choices> ValueKind for Choice<T> {
    type Value<'a> = Option<T>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Option<T> {
        table.choice(key, &T::words())
    }

    fn schema() -> Value {
        let words = T::words().into_iter();
        let words: Vec<&str> = words.map(|(word, _)| word).collect();
        json!({ "enum": words })
    }
}

/// A list of such words. Its values are the texts; [`Table::choose`] finds their meanings.
pub(crate) struct ChoiceList<T>(PhantomData<T>);

impl<T: Choices> ValueKind for ChoiceList<T> {
    type Value<'a> = Vec<Text<'a>>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Vec<Text<'a>> {
        table.texts(key)
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": Choice::<T>::schema() })
    }
}

/// One such word, or a list of them.
pub(crate) struct OneOrMoreOf<T>(PhantomData<T>);

impl<T: Choices> ValueKind for OneOrMoreOf<T> {
    type Value<'a> = Vec<Text<'a>>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Vec<Text<'a>> {
        table.text_or_texts(key)
    }

    fn schema() -> Value {
        json!({ "anyOf": [Choice::<T>::schema(), ChoiceList::<T>::schema()] })
    }
}

/// `true`, `false`, or a value of another kind.
pub(crate) struct BooleanOr<K>(PhantomData<K>);

impl<K: ValueKind> ValueKind for BooleanOr<K> {
    type Value<'a> = Result<Option<bool>, K::Value<'a>>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Self::Value<'a> {
        match table.is_boolean(key) {
            true => Ok(table.boolean(key)),
            false => Err(K::read(table, key)),
        }
    }

    fn schema() -> Value {
        json!({ "anyOf": [Boolean::schema(), K::schema()] })
    }
}

/// A key that a table needs.
pub(crate) struct Required<K>(PhantomData<K>);

impl<K: ValueKind> ValueKind for Required<K> {
    type Value<'a> = K::Value<'a>;

    const IS_REQUIRED: bool = true;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Self::Value<'a> {
        K::read(table, key)
    }

    fn schema() -> Value {
        K::schema()
    }
}

/// A table.
pub(crate) struct Sub<K>(PhantomData<K>);

impl<K: Keys> ValueKind for Sub<K> {
    type Value<'a> = Option<K::Of<'a>>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Self::Value<'a> {
        table.table(key).map(|table| K::checked(&table))
    }

    fn schema() -> Value {
        K::schema()
    }
}

/// Tables by name.
pub(crate) struct Named<K>(PhantomData<K>);

impl<K: Keys> ValueKind for Named<K> {
    type Value<'a> = Vec<(&'a str, K::Of<'a>)>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Self::Value<'a> {
        let tables = table.named_tables(key).into_iter();
        tables
            .map(|(name, table)| (name, K::checked(&table)))
            .collect()
    }

    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": K::schema() })
    }
}

/// The tables that may be entries of a list beside texts.
pub(crate) trait Listed: Keys {
    /// What messages ask for if the key has another value.
    const WANTED: &'static str;
}

/// A list of texts and tables.
pub(crate) struct Entries<K>(PhantomData<K>);

impl<K: Listed> ValueKind for Entries<K> {
    type Value<'a> = Vec<Entry<'a>>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Self::Value<'a> {
        table.entries(key, K::WANTED)
    }

    fn schema() -> Value {
        json!({
            "type": "array",
            "items": { "anyOf": [{ "type": "string" }, K::schema()] },
        })
    }
}

/// Keys that several kinds of tables have, as a part of the table.
pub(crate) struct Part<K>(PhantomData<K>);

impl<K: Keys> ValueKind for Part<K> {
    type Value<'a> = K::Of<'a>;

    fn read<'a>(table: &Table<'a>, _key: &'static str) -> Self::Value<'a> {
        K::of(table)
    }

    fn schema() -> Value {
        K::schema()
    }

    fn declare(_part: Key, keys: &mut Vec<Key>) {
        keys.extend(K::keys());
    }
}

keys! {
    /// A text in a separate file.
    struct FileKeys {
        /// The path, from the folder of the file that names it.
        file: Required<Words>,
    }
}

/// A text, or the content of the file that a table names as `{ file = "…" }`, without the line breaks at its end. The
/// path starts from the folder of the file that contains it.
pub(crate) struct TextOrFile;

impl ValueKind for TextOrFile {
    type Value<'a> = Option<String>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Option<String> {
        if !table.holds_table(key) {
            let text = table.text_but(key, "a text in quotes, or { file = \"…\" }")?;
            return Some(text.value.to_owned());
        }
        let table = Sub::<FileKeys<'_>>::read(table, key)?;
        if !table.has("file") {
            table.missing("file = \"…\"");
        }
        let file = table.file()?;
        let path = table.problems.folder(file.offset).join(file.value);
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                table.problems.note_read(&path, &text);
                Some(text.trim_end_matches(['\n', '\r']).to_owned())
            }
            Err(error) => {
                let message = format!("names {}, which cannot be read: {error}", path.display());
                table.problem("file", file.offset, &message);
                None
            }
        }
    }

    fn schema() -> Value {
        json!({ "anyOf": [{ "type": "string" }, FileKeys::schema()] })
    }
}
