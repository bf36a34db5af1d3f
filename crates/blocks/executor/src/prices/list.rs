//! What vendors charge, as their price pages said on [`PRICES_AS_OF`].
//!
//! Sources: the model pages below developers.openai.com/api/docs/models and the price page below
//! platform.claude.com/docs. A model is left out where any of its prices is not certain, for example while a
//! promotion runs.

use neuron_types::{CacheControl, CacheTtl, CompletionRequest, SystemPrompt};
use rust_decimal::Decimal;
use serde_json::Value;

use crate::{LongPrompt, ModelPrice};

/// The day on which the prices of every [`PriceList`] were read, as `YYYY-MM-DD`.
pub const PRICES_AS_OF: &str = "2026-11-21";

/// The published prices of one vendor's own API, at standard terms.
///
/// They are for the API under the vendor's main address. Resellers, compatible servers and regional
/// endpoints charge otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PriceList {
    /// OpenAI's, as of [`PRICES_AS_OF`].
    OpenAi,
    /// Anthropic's, as of [`PRICES_AS_OF`]. Its caches are taken to live for five minutes, which is the default.
    Anthropic,
}

/// In thousandths of a dollar for a million tokens.
struct Row {
    models: &'static [&'static str],
    input: i64,
    output: i64,
    cache_read: i64,
    cache_write: i64,
}

const fn row(
    models: &'static [&'static str],
    input: i64,
    output: i64,
    cache_read: i64,
    cache_write: i64,
) -> Row {
    Row {
        models,
        input,
        output,
        cache_read,
        cache_write,
    }
}

const OPENAI: &[Row] = &[
    row(&["gpt-6.2-sol", "gpt-6.1-sol"], 2_000, 10_000, 100, 2_500),
    row(&["gpt-6.1-terra"], 1_000, 5_000, 50, 1_250),
    row(&["gpt-6-astra"], 10_000, 50_000, 1_000, 12_500),
    row(&["gpt-6-sol"], 2_000, 10_000, 200, 2_500),
    row(&["gpt-6-luna"], 100, 500, 10, 125),
    row(&["gpt-5.6-terra"], 2_000, 12_000, 200, 2_500),
    row(&["gpt-5.6-luna"], 200, 1_200, 20, 250),
];

/// Above this, input and caches cost twice as much and output one and a half times.
const OPENAI_LONG_PROMPT: u64 = 272_000;

const ANTHROPIC: &[Row] = &[
    row(&["claude-fable-5-1"], 10_000, 50_000, 250, 12_500),
    row(&["claude-fable-5"], 10_000, 50_000, 1_000, 12_500),
    row(&["claude-opus-5-5"], 4_000, 20_000, 200, 5_000),
    row(
        &[
            "claude-opus-5",
            "claude-opus-4-8",
            "claude-opus-4-7",
            "claude-opus-4-6",
            "claude-opus-4-5",
        ],
        5_000,
        25_000,
        500,
        6_250,
    ),
    row(&["claude-sonnet-5-5"], 2_000, 10_000, 100, 2_500),
    row(&["claude-sonnet-5"], 2_000, 10_000, 200, 2_500),
    HAIKU_5_5,
    row(&["claude-haiku-4-5"], 1_000, 5_000, 100, 1_250),
];

const HAIKU_5_5: Row = row(&["claude-haiku-5-5"], 100, 500, 10, 125);

/// Above this, `HAIKU_5_5` costs five times as much.
const HAIKU_5_5_LONG_PROMPT: u64 = 100_000;

impl PriceList {
    /// Returns the list if it holds for a provider with this base URL, which is one of the vendor's main address. `None` as a
    /// base URL is that address.
    #[must_use]
    pub fn at(self, base_url: Option<&str>) -> Option<Self> {
        let home = match self {
            Self::OpenAi => "api.openai.com",
            Self::Anthropic => "api.anthropic.com",
        };
        let is_home = base_url.is_none_or(|url| {
            let rest = url.trim().strip_prefix("https://").unwrap_or_default();
            rest.split(['/', ':']).next() == Some(home)
        });
        is_home.then_some(self)
    }

    /// Returns the price of a model, by the vendor's name of it. A name with a date, `claude-opus-4-5-20251101` or
    /// `gpt-6.1-terra-2026-10-01`, has the price of the name without it, and so has one with `-latest`. Any other name that
    /// begins like one of the list is of another model, whose price is not known.
    #[must_use]
    pub fn price(self, model: &str) -> Option<ModelPrice> {
        let model = family(model);
        let rows = match self {
            Self::OpenAi => OPENAI,
            Self::Anthropic => ANTHROPIC,
        };
        let row = rows.iter().find(|row| row.models.contains(&model))?;
        let long = match self {
            Self::OpenAi => Some((OPENAI_LONG_PROMPT, [4, 3])),
            Self::Anthropic if HAIKU_5_5.models.contains(&model) => {
                Some((HAIKU_5_5_LONG_PROMPT, [10, 10]))
            }
            Self::Anthropic => None,
        };
        let long_prompt = long.map(|(above, halves)| LongPrompt {
            above,
            price: Box::new(row.times(halves)),
        });
        Some(ModelPrice {
            long_prompt,
            ..row.times([2, 2])
        })
    }
}

impl Row {
    /// Returns the price, times this number of halves for the prompt and for the answer.
    fn times(&self, [prompt, answer]: [i64; 2]) -> ModelPrice {
        let price =
            |thousandths: i64, halves: i64| Decimal::new(thousandths * halves * 5, 4).normalize();
        ModelPrice {
            input: price(self.input, prompt),
            output: price(self.output, answer),
            cache_read: Some(price(self.cache_read, prompt)),
            cache_write: Some(price(self.cache_write, prompt)),
            long_prompt: None,
        }
    }
}

/// Returns the name of a model without the date or `-latest` at its end.
pub(crate) fn family(model: &str) -> &str {
    if let Some(name) = model.strip_suffix("-latest") {
        return name;
    }
    let is_number = |part: &str, digits: usize| {
        part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let (name, last) = model.rsplit_once('-').unwrap_or((model, ""));
    if is_number(last, 8) {
        return name;
    }
    let mut parts = model.rsplitn(4, '-');
    let [day, month, year] = [(); 3].map(|()| parts.next().unwrap_or_default());
    match parts.next() {
        Some(name) if is_number(day, 2) && is_number(month, 2) && is_number(year, 4) => name,
        _ => model,
    }
}

/// Returns whether nothing in a request changes its price: no tier, speed, region or cache life but the default.
pub(crate) fn on_standard_terms(request: &CompletionRequest) -> bool {
    let standard = |name: &str, values: &[&str]| {
        let value = request.extra.as_ref().and_then(|extra| extra.get(name));
        match value {
            None | Some(Value::Null) => true,
            Some(Value::String(value)) => values.contains(&value.as_str()),
            Some(_) => false,
        }
    };
    let lives_long = |marker: &Option<CacheControl>| {
        let marker = marker.as_ref();
        marker.is_some_and(|marker| marker.ttl == Some(CacheTtl::OneHour))
    };
    let long_system = match &request.system {
        Some(SystemPrompt::Blocks(blocks)) => {
            blocks.iter().any(|block| lives_long(&block.cache_control))
        }
        _ => false,
    };
    let long_tools = || {
        request
            .tools
            .iter()
            .any(|tool| lives_long(&tool.cache_control))
    };
    standard(
        "service_tier",
        &["auto", "default", "standard", "standard_only"],
    ) && standard("speed", &["standard"])
        && standard("inference_geo", &[])
        && standard("cache_control", &[])
        && standard("prompt_cache_options", &[])
        // The vendor's own tools cost by the use, and another model at its own price.
        && standard("tools", &[])
        && standard("mcp_servers", &[])
        && standard("fallbacks", &[])
        && !long_system
        && !long_tools()
}
