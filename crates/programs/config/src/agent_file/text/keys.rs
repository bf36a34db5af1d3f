//! The keys of a table, declared once: what readers can ask for, which keys are unknown, and what the schema states.

use serde_json::{Map, Value, json};

use crate::agent_file::text::table::Table;

/// One key of a table.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// What the key means, as its declaration is documented.
    pub(crate) about: &'static str,
    pub(crate) default: Option<fn() -> Value>,
    pub(crate) is_required: bool,
    pub(crate) schema: fn() -> Value,
}

/// What the value of a key may be: how it is read, and its JSON Schema.
pub(crate) trait ValueKind {
    type Value<'a>;

    /// Whether a table without the key is rejected, whatever other tables it is merged with.
    const IS_REQUIRED: bool = false;

    /// Returns the value of this key in a table.
    fn read<'a>(table: &Table<'a>, key: &'static str) -> Self::Value<'a>;

    /// Returns the schema of the value.
    fn schema() -> Value;

    /// Adds the key, or the keys that it stands for.
    fn declare(key: Key, keys: &mut Vec<Key>) {
        keys.push(key);
    }
}

/// The keys that a kind of table has.
pub(crate) trait Keys {
    /// The table with its keys read by name.
    type Of<'a>;

    /// Keys with a message of their own instead of "unknown key".
    const REJECTED: &'static [(&'static str, &'static str)] = &[];

    fn of<'a>(table: &Table<'a>) -> Self::Of<'a>;

    /// Returns the declared keys in their order. A key that is declared twice has either form, and is documented by
    /// its first declaration.
    fn keys() -> Vec<Key>;

    /// Notes the keys of a table that are unknown.
    fn check(table: &Table<'_>) {
        table.expect_keys_but(&names(&Self::keys()), Self::REJECTED);
    }

    /// Returns the table, and notes its unknown keys.
    fn checked<'a>(table: &Table<'a>) -> Self::Of<'a> {
        Self::check(table);
        Self::of(table)
    }

    fn schema() -> Value {
        object(&Self::keys())
    }
}

/// Returns the names of the keys, each once, where it was declared last.
pub(crate) fn names(keys: &[Key]) -> Vec<&'static str> {
    let all = keys.iter().enumerate();
    let last = all.filter(|(index, key)| {
        let mut later = keys.iter().skip(index + 1);
        !later.any(|other| other.name == key.name)
    });
    last.map(|(_, key)| key.name).collect()
}

/// Returns the schema of a table with these keys and no others.
pub(crate) fn object(keys: &[Key]) -> Value {
    let mut properties = Map::new();
    for key in keys {
        let mut schema = (key.schema)();
        if let Some(earlier) = properties.remove(key.name) {
            schema = json!({ "anyOf": [earlier, schema] });
        }
        let mut declared = keys.iter();
        let first = declared.find(|other| other.name == key.name).unwrap_or(key);
        if let Some(fields) = schema.as_object_mut() {
            if !first.about.is_empty() {
                fields.insert("description".to_owned(), first.about.trim().into());
            }
            if let Some(default) = first.default {
                fields.insert("default".to_owned(), default());
            }
        }
        properties.insert(key.name.to_owned(), schema);
    }
    let mut object = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    let required = keys.iter().filter(|key| key.is_required);
    let required: Vec<&str> = required.map(|key| key.name).collect();
    if let (Some(fields), false) = (object.as_object_mut(), required.is_empty()) {
        fields.insert("required".to_owned(), required.into());
    }
    object
}

/// Returns the schema of a table whose further keys depend on its `kind`, which the file has to state.
pub(crate) fn object_of_kind(kinds: &[(&str, Vec<Key>)]) -> Value {
    let mut object = object_by_kind(kinds);
    if let Some(fields) = object.as_object_mut() {
        fields.insert("required".to_owned(), json!(["kind"]));
    }
    object
}

/// Returns the schema of a table whose further keys depend on its `kind`, for which a default may exist.
pub(crate) fn object_by_kind(kinds: &[(&str, Vec<Key>)]) -> Value {
    let mut properties = Map::new();
    let mut rules = Vec::new();
    for (kind, keys) in kinds {
        let mut of_kind = object(keys);
        if let Some(Value::Object(own)) = of_kind.get_mut("properties").map(Value::take) {
            properties.extend(own);
        }
        let names = names(keys);
        let required = of_kind.get("required").cloned();
        rules.push(json!({
            "if": { "properties": { "kind": { "const": kind } }, "required": ["kind"] },
            "then": {
                "propertyNames": { "enum": names },
                "required": required.unwrap_or_else(|| json!([])),
            },
        }));
    }
    json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "allOf": rules,
    })
}

/// Returns the name of a key from the identifier that declares it.
pub(crate) fn name(declared: &'static str) -> &'static str {
    declared.strip_prefix("r#").unwrap_or(declared)
}

/// Declares the keys of a kind of table: its type has a method for each of them, which reads it. The documentation of a
/// key is its description in the schema, and what follows `=` is the default that the schema states.
macro_rules! keys {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $table:ident {
            $($(#[doc = $about:literal])* $key:ident: $kind:ty $(= $default:tt)?),* $(,)?
        }
        $(rejected $rejected:expr)?
    ) => {
        $(#[$meta])*
        #[derive(Clone)]
        $visibility struct $table<'a>(crate::agent_file::text::table::Table<'a>);

        impl<'a> $table<'a> {
            $(
                $(#[doc = $about])*
                $visibility fn $key(
                    &self,
                ) -> <$kind as crate::agent_file::text::keys::ValueKind>::Value<'a> {
                    let key = crate::agent_file::text::keys::name(stringify!($key));
                    <$kind as crate::agent_file::text::keys::ValueKind>::read(&self.0, key)
                }
            )*
        }

        impl<'a> std::ops::Deref for $table<'a> {
            type Target = crate::agent_file::text::table::Table<'a>;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl crate::agent_file::text::keys::Keys for $table<'_> {
            type Of<'a> = $table<'a>;

            $(const REJECTED: &'static [(&'static str, &'static str)] = $rejected;)?

            fn of<'a>(table: &crate::agent_file::text::table::Table<'a>) -> Self::Of<'a> {
                $table(table.clone())
            }

            fn keys() -> Vec<crate::agent_file::text::keys::Key> {
                let mut keys = Vec::new();
                $(
                    <$kind as crate::agent_file::text::keys::ValueKind>::declare(
                        crate::agent_file::text::keys::Key {
                            name: crate::agent_file::text::keys::name(stringify!($key)),
                            about: concat!($($about),*),
                            default: crate::agent_file::text::keys::default!($($default)?),
                            is_required:
                                <$kind as crate::agent_file::text::keys::ValueKind>::IS_REQUIRED,
                            schema: <$kind as crate::agent_file::text::keys::ValueKind>::schema,
                        },
                        &mut keys,
                    );
                )*
                keys
            }
        }
    };
}

macro_rules! default {
    () => {
        None
    };
    ($default:tt) => {
        Some(|| serde_json::json!($default))
    };
}

pub(crate) use {default, keys};
