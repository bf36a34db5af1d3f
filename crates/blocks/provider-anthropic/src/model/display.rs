use serde::Serialize;

/// How much of its thinking a model shows. What it does not show it thinks and charges all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThinkingDisplay {
    /// A summary: what models up to 4.6 do.
    Summarized,
    /// Nothing: what models from 4.7 on do.
    Omitted,
}
