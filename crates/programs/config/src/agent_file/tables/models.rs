//! The keys that name models, and the prices of models.

use std::collections::BTreeMap;

use neuron_executor::{LongPrompt, ModelPrice, PRICES_AS_OF, Prices};
use neuron_types::{Allowance, ReasoningEffort, ThinkingConfig};
use serde_json::{Value, json};

use crate::agent_file::{
    providers::{Kind, ProviderSettings},
    tables::{
        agent_keys::AgentKeys, guards::GuardSettings, hooks::HookSettings, model_name::read_name,
    },
    text::{
        keys::{ValueKind, keys},
        kinds::{Choice, Count, Money, Part, Required, Sub, words},
        table::{Table, Text},
    },
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

/// Reads a key that names a model, or several in the order in which they are asked. Empty if the key is absent, or if
/// one of the names cannot be read.
pub(crate) fn read_list<'a>(
    table: &Table<'a>,
    key: &str,
    texts: Vec<Text<'a>>,
    known: &Known<'_>,
) -> Vec<ModelName<'a>> {
    if table.is_empty_list(key) {
        let message = "is an empty list: name a model, as in \"openai/gpt-6.1-terra\"";
        table.problem(key, table.offset_of(key), message);
    }
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

words!(
    ThinkingConfig:
    "adaptive" => Self::Adaptive,
    "disabled" => Self::Disabled,
    "between_tools" => Self::BetweenTools,
);

/// A word, or a count of tokens.
impl ValueKind for ThinkingConfig {
    type Value<'a> = Option<Self>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Option<Self> {
        if table.is_integer(key) {
            let budget_tokens = table.count(key)?;
            return Some(Self::Enabled { budget_tokens });
        }
        Choice::<Self>::read(table, key)
    }

    fn schema() -> Value {
        json!({ "anyOf": [Choice::<Self>::schema(), Count::<u64>::schema()] })
    }
}

words!(
    ReasoningEffort:
    "none" => Self::None,
    "minimal" => Self::Minimal,
    "low" => Self::Low,
    "medium" => Self::Medium,
    "high" => Self::High,
    "xhigh" => Self::XHigh,
    "max" => Self::Max,
);

keys! {
    pub(crate) struct TokenPriceKeys {
        /// Prompt tokens.
        input: Required<Money>,
        /// Answer tokens, reasoning included.
        output: Required<Money>,
        /// Prompt tokens that were read from a cache.
        cache_read: Money,
        /// Prompt tokens that were written to a cache.
        cache_write: Money,
    }
}

keys! {
    pub(crate) struct PriceKeys {
        rates: Part<TokenPriceKeys<'_>>,
        /// All tokens of a call whose prompt has more tokens than `above`: a table with `above` and the keys of this table.
        long_prompt: Sub<LongPromptKeys<'_>>,
    }
}

keys! {
    pub(crate) struct LongPromptKeys {
        rates: Part<TokenPriceKeys<'_>>,
        /// The tokens of a prompt above which the prices hold.
        above: Required<Count<u64>>,
    }
}

/// Reads the `[prices."provider/model"]` tables. A `*` at the end stands for the rest of a model's name.
pub(crate) fn read_prices(
    tables: &[(&str, PriceKeys<'_>)],
    providers: &BTreeMap<String, ProviderSettings>,
) -> Prices {
    let mut prices = listed_prices(providers);
    for (name, table) in tables {
        let price = read_price(&table.rates());
        let long_prompt = table
            .long_prompt()
            .and_then(|table| read_long_prompt(&table));
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
                        "{} has a * before its end: a * stands for the rest of a model's name, as in [prices.\"{}/*\"]",
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

/// Reads a price without the part for long prompts.
fn read_price(table: &TokenPriceKeys<'_>) -> Option<ModelPrice> {
    for key in ["input", "output"] {
        if !table.has(key) {
            table.missing(&format!(
                "{key} = \"…\", the price of a million tokens in US dollars"
            ));
        }
    }
    let (input, output) = (table.input(), table.output());
    let cache_read = table.cache_read();
    let cache_write = table.cache_write();
    Some(ModelPrice {
        input: input?,
        output: output?,
        cache_read,
        cache_write,
        long_prompt: None,
    })
}

fn read_long_prompt(table: &LongPromptKeys<'_>) -> Option<LongPrompt> {
    if !table.has("above") {
        table.missing("above = 200_000, the tokens of a prompt above which it holds");
    }
    let long = read_price(&table.rates());
    Some(LongPrompt {
        above: table.above()?,
        price: Box::new(long?),
    })
}

/// Notes that a cost limit cannot be enforced for a model without a price. A script states its own costs.
pub(crate) fn require_price(
    agent: &AgentKeys<'_>,
    model: Option<ModelName<'_>>,
    known: &Known<'_>,
) {
    if let Some(why) = no_price(model, known)
        && let Some(limits) = agent.limits()
    {
        let message = format!("cannot be enforced, because {why}");
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
