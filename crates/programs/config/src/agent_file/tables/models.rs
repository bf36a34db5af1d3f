//! The keys that name models, and the prices of models.

use std::collections::BTreeMap;

use neuron_executor::{LongPrompt, ModelPrice, PRICES_AS_OF, Prices};
use neuron_types::{Allowance, ReasoningEffort, ThinkingConfig};

use crate::agent_file::{
    providers::{Kind, ProviderSettings},
    tables::{guards::GuardSettings, hooks::HookSettings, model_name::read_name},
    text::table::{Table, Text},
};

pub(crate) use crate::agent_file::tables::model_name::{ModelName, split};

/// What the tables of agents refer to.
pub(crate) struct Known<'a> {
    pub(crate) providers: &'a BTreeMap<String, ProviderSettings>,
    pub(crate) prices: &'a Prices,
    pub(crate) pools: &'a BTreeMap<String, Allowance>,
    pub(crate) guards: &'a BTreeMap<String, GuardSettings>,
    pub(crate) hooks: &'a BTreeMap<String, HookSettings>,
}

/// Reads a key that names a model.
pub(crate) fn read<'a>(table: &Table<'a>, key: &str, known: &Known<'_>) -> Option<ModelName<'a>> {
    read_name(table, key, table.text(key)?, known.providers)
}

/// Reads a key that names a model, or several in the order in which they are asked. Empty if the key is absent, or if
/// one of the names cannot be read.
pub(crate) fn read_list<'a>(table: &Table<'a>, key: &str, known: &Known<'_>) -> Vec<ModelName<'a>> {
    if table.is_empty_list(key) {
        let message = "is an empty list: name a model, as in \"openai/gpt-6.1-terra\"";
        table.problem(key, table.offset_of(key), message);
    }
    let texts = table.text_or_texts(key);
    for (index, text) in texts.iter().enumerate() {
        let mut before = texts.iter().take(index);
        if before.any(|other| other.value == text.value) {
            table.problem(key, text.offset, "names the same model twice");
        }
    }
    let models = texts
        .into_iter()
        .map(|text| read_name(table, key, text, known.providers));
    // All names are read, so that every problem is noted.
    let models: Vec<_> = models.collect();
    models
        .into_iter()
        .collect::<Option<_>>()
        .unwrap_or_default()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a temperature has few digits"
)]
pub(crate) fn read_temperature(agent: &Table<'_>) -> Option<f32> {
    agent.number("temperature", 0.0).map(|number| number as f32)
}

pub(crate) fn read_thinking(agent: &Table<'_>) -> Option<ThinkingConfig> {
    const WORDS: [(&str, ThinkingConfig); 3] = [
        ("adaptive", ThinkingConfig::Adaptive),
        ("disabled", ThinkingConfig::Disabled),
        ("between_tools", ThinkingConfig::BetweenTools),
    ];
    if agent.is_integer("thinking") {
        let budget_tokens = agent.count("thinking")?;
        return Some(ThinkingConfig::Enabled { budget_tokens });
    }
    agent.choice("thinking", &WORDS)
}

pub(crate) fn read_effort(agent: &Table<'_>) -> Option<ReasoningEffort> {
    agent.choice(
        "effort",
        &[
            ("none", ReasoningEffort::None),
            ("minimal", ReasoningEffort::Minimal),
            ("low", ReasoningEffort::Low),
            ("medium", ReasoningEffort::Medium),
            ("high", ReasoningEffort::High),
            ("xhigh", ReasoningEffort::XHigh),
            ("max", ReasoningEffort::Max),
        ],
    )
}

/// Reads the `[prices."provider/model"]` tables. A `*` at the end stands for the rest of a model's name.
pub(crate) fn read_prices(
    root: &Table<'_>,
    providers: &BTreeMap<String, ProviderSettings>,
) -> Prices {
    let mut prices = listed_prices(providers);
    for (name, table) in root.named_tables("prices") {
        let price = read_price(&table, &["long_prompt"]);
        let long_prompt = read_long_prompt(&table);
        let model = split(name);
        match model {
            None => table.problems.add(
                table.offset,
                format!(
                    "{} names no model: write [prices.\"provider/model\"]",
                    table.place()
                ),
            ),
            Some(model) if !providers.contains_key(model.provider) => {
                let provider = Text {
                    value: model.provider,
                    offset: table.offset,
                };
                let known: Vec<&str> = providers.keys().map(String::as_str).collect();
                table.unknown("provider", &table.place(), provider, &known);
            }
            Some(model)
                if model
                    .name
                    .strip_suffix('*')
                    .unwrap_or(model.name)
                    .contains('*') =>
            {
                table.problems.add(
                    table.offset,
                    format!(
                        "{} has a * that is not its end: a * stands for the rest of a model's name, as in [prices.\"{}/*\"]",
                        table.place(),
                        model.provider,
                    ),
                );
            }
            Some(_) => {}
        }
        if let (Some(model), Some(price)) = (model, price) {
            let price = ModelPrice {
                long_prompt,
                ..price
            };
            match model.name.strip_suffix('*') {
                Some(prefix) => prices.insert_prefix(model.provider, prefix, price),
                None => prices.insert(model.provider, model.name, price),
            }
        }
    }
    prices
}

/// Returns the published prices of the providers that are vendors themselves.
pub(crate) fn listed_prices(providers: &BTreeMap<String, ProviderSettings>) -> Prices {
    let mut prices = Prices::default();
    for (name, settings) in providers {
        if let Some(list) = settings.price_list(settings.base_url.as_deref()) {
            prices.use_list(name.as_str(), list);
        }
    }
    prices
}

/// Reads a price without the part for long prompts. The table may have `further` keys.
fn read_price(table: &Table<'_>, further: &[&str]) -> Option<ModelPrice> {
    let keys = ["input", "output", "cache_read", "cache_write"];
    table.expect_keys(&[&keys, further].concat());
    for key in ["input", "output"] {
        if !table.has(key) {
            table.missing(&format!(
                "{key} = \"…\", the price of a million tokens in US dollars"
            ));
        }
    }
    let (input, output) = (table.decimal("input"), table.decimal("output"));
    let cache_read = table.decimal("cache_read");
    let cache_write = table.decimal("cache_write");
    Some(ModelPrice {
        input: input?,
        output: output?,
        cache_read,
        cache_write,
        long_prompt: None,
    })
}

fn read_long_prompt(price: &Table<'_>) -> Option<LongPrompt> {
    let table = price.table("long_prompt")?;
    if !table.has("above") {
        table.missing("above = 200_000, the tokens of a prompt above which it holds");
    }
    let long = read_price(&table, &["above"]);
    Some(LongPrompt {
        above: table.count("above")?,
        price: Box::new(long?),
    })
}

/// Notes that a cost limit cannot be enforced for a model without a price. A script states its own costs.
pub(crate) fn require_price(agent: &Table<'_>, model: Option<ModelName<'_>>, known: &Known<'_>) {
    if let Some(why) = no_price(model, known)
        && let Some(limits) = agent.table("limits")
    {
        let message = format!("cannot be kept, because {why}");
        limits.problem("cost_usd", limits.offset_of("cost_usd"), &message);
    }
}

/// Returns why the cost of a model's calls is unknown, and what to do about it; `None` if it is known.
pub(crate) fn no_price(model: Option<ModelName<'_>>, known: &Known<'_>) -> Option<String> {
    let ModelName { provider, name } = model?;
    let scripted = known
        .providers
        .get(provider)
        .is_some_and(|settings| settings.kind == Kind::Script);
    let is_known = scripted || known.prices.get(provider, name).is_some();
    let listed = known.prices.list(provider);
    let listed = listed.map(|_| format!(" and not in the price list of {PRICES_AS_OF}"));
    let listed = listed.unwrap_or_default();
    (!is_known).then(|| {
        format!(
            "the price of {provider}/{name} is not known{listed}: add [prices.\"{provider}/{name}\"] with input and output in US \
             dollars for a million tokens"
        )
    })
}
