//! The names of the models of a provider.

use std::collections::BTreeMap;

use crate::agent_file::{
    providers::ProviderSettings,
    text::table::{Table, Text},
};

/// A model of a provider, written `provider/model`.
#[derive(Clone, Copy)]
pub(crate) struct ModelName<'a> {
    pub(crate) provider: &'a str,
    pub(crate) name: &'a str,
}

/// Returns the parts of `provider/model`. The model's own name may contain slashes.
pub(crate) fn split(text: &str) -> Option<ModelName<'_>> {
    let (provider, name) = text.split_once('/')?;
    (!provider.is_empty() && !name.is_empty()).then_some(ModelName { provider, name })
}

impl ModelName<'_> {
    /// Returns `provider/model`.
    pub(crate) fn text(self) -> String {
        format!("{}/{}", self.provider, self.name)
    }
}

/// Reads the name of a model of one of these providers.
pub(crate) fn read_name<'a>(
    table: &Table<'a>,
    key: &str,
    text: Text<'a>,
    providers: &BTreeMap<String, ProviderSettings>,
) -> Option<ModelName<'a>> {
    let Some(model) = split(text.value) else {
        let message = "names no provider: write provider/model, as in \"openai/gpt-6.1-terra\"";
        table.problem(key, text.offset, message);
        return None;
    };
    if !providers.contains_key(model.provider) {
        let name = Text {
            value: model.provider,
            ..text
        };
        let known: Vec<&str> = providers.keys().map(String::as_str).collect();
        table.unknown_value("provider", key, name, &known);
        return None;
    }
    Some(model)
}
