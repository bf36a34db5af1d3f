//! What an argument of a tool is for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a text among a tool's arguments is for, which says how [rules](crate::CallPattern) compare it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ArgumentKind {
    /// The path of a file or a directory, relative to the working directory unless it starts with `/`. A list of texts is
    /// a list of paths.
    Path,
    /// What a POSIX shell executes. A list of texts is the words of one command.
    ShellCommand,
}

impl ArgumentKind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Path, Self::ShellCommand];

    /// Returns the `format` in a JSON Schema that stands for this kind.
    #[must_use]
    pub const fn format(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::ShellCommand => "shell-command",
        }
    }

    /// Returns the arguments whose `format` in a JSON Schema, or that of their items, states what they are for. Only
    /// those at its top are looked at.
    ///
    /// ```
    /// use neuron_policy::ArgumentKind;
    /// use serde_json::json;
    ///
    /// let schema = json!({"properties": {"file": {"type": "string", "format": "path"}, "text": {"type": "string"}}});
    /// let kinds = ArgumentKind::in_schema(&schema);
    /// assert_eq!(kinds.into_iter().collect::<Vec<_>>(), [("file".to_owned(), ArgumentKind::Path)]);
    /// ```
    #[must_use]
    pub fn in_schema(schema: &Value) -> BTreeMap<String, Self> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.into_iter().flatten();
        properties
            .filter_map(|(name, property)| {
                let items = property.get("items");
                let formats = [Some(property), items].into_iter().flatten();
                let mut formats = formats.filter_map(|schema| schema.get("format")?.as_str());
                let kind = formats.find_map(Self::of_format)?;
                Some((name.clone(), kind))
            })
            .collect()
    }

    fn of_format(format: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.format() == format)
    }
}
