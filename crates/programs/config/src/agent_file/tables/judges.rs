//! Guards in which a model judges: the keys `model`, `policy`, `max_tokens` and `timeout`.

use std::{collections::BTreeMap, time::Duration};

use neuron_guards::ModelGuard;
use serde::Serialize;

use crate::agent_file::{
    providers::ProviderSettings,
    tables::model_name::{ModelName, read_name},
    text::{
        keys::keys,
        kinds::{Count, Required, TextOrFile, Timespan, Words},
    },
};

/// The longest timeout of a model: guards have five minutes in a step of their own.
const MOST: Duration = Duration::from_secs(240);

keys! {
    pub(crate) struct JudgeKeys {
        /// The model that judges, written `provider/model`.
        model: Words,
        /// What is not allowed, as a text or as `{ file = "…" }`.
        policy: Required<TextOrFile>,
        /// How many tokens a verdict may have, including the reasoning before it: a count.
        max_tokens: Count<u64> = 2048,
        /// How long one answer may take; for a model 4 minutes at most.
        timeout: Timespan = "60s",
    }
}

/// A judging model as it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct JudgeSettings {
    /// The model as `provider/model`; the agent's own if `None`.
    pub(crate) model: Option<String>,
    policy: String,
    max_tokens: Option<u64>,
    timeout: Option<Duration>,
}

impl JudgeSettings {
    /// Returns the guard of these settings for an agent of this model.
    pub(crate) fn guard(&self, name: &str, own: &str) -> ModelGuard {
        let model = self.model.as_deref().unwrap_or(own);
        let mut guard = ModelGuard::new(name, model, self.policy.as_str());
        if let Some(tokens) = self.max_tokens {
            guard = guard.max_tokens(tokens);
        }
        match self.timeout {
            Some(timeout) => guard.within(timeout),
            None => guard,
        }
    }
}

/// Reads the keys.
pub(crate) fn read(
    table: &JudgeKeys<'_>,
    providers: &BTreeMap<String, ProviderSettings>,
) -> JudgeSettings {
    if !table.has("policy") {
        table.missing("policy = \"what is not allowed\", or { file = \"…\" }");
    }
    let policy = table.policy().unwrap_or_default();
    if table.has("policy") && policy.trim().is_empty() {
        let message = "is empty: write what is not allowed";
        table.problem("policy", table.offset_of("policy"), message);
    }
    let timeout = table.timeout();
    if timeout.is_some_and(|timeout| timeout > MOST) {
        let message = "is too long: a model that judges has 4 minutes at most";
        table.problem("timeout", table.offset_of("timeout"), message);
    }
    let model = table.model();
    let model = model.and_then(|text| read_name(table, "model", text, providers));
    JudgeSettings {
        model: model.map(ModelName::text),
        policy,
        max_tokens: table.max_tokens(),
        timeout,
    }
}
