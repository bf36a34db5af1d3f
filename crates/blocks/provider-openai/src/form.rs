use std::collections::BTreeMap;

use serde::Serialize;

/// Where an API has the fields of what has a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Under the name of the type: Chat Completions.
    Nested,
    /// Beside the type: Responses.
    Flat,
}

/// Fields that stand where the API has them.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Placed<T> {
    Nested(BTreeMap<&'static str, T>),
    Flat(T),
}

impl Form {
    /// Places the fields of what has this type.
    pub(crate) fn place<T>(self, kind: &'static str, fields: T) -> Placed<T> {
        match self {
            Self::Nested => Placed::Nested(BTreeMap::from([(kind, fields)])),
            Self::Flat => Placed::Flat(fields),
        }
    }
}
