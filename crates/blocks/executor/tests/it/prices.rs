//! What a call cost, and when that is unknown.

use neuron_executor::{LongPrompt, ModelPrice, PRICES_AS_OF, PriceList, Prices};
use neuron_types::{
    CacheControl, CacheTtl, CompletionRequest, RequestHead, SystemBlock, SystemPrompt, TokenUsage,
    UsageIteration,
};
use proptest::prelude::*;
use rust_decimal::Decimal;
use serde_json::json;

fn asking(model: &str) -> CompletionRequest {
    CompletionRequest::from(RequestHead::new(model.to_owned()))
}

/// A million tokens in, a tenth from a cache and a tenth into it, and as many out.
fn million(scale: u64) -> TokenUsage {
    TokenUsage {
        input_tokens: 100_000 * scale,
        output_tokens: 100_000 * scale,
        cache_read_tokens: Some(10_000 * scale),
        cache_creation_tokens: Some(10_000 * scale),
        ..TokenUsage::default()
    }
}

fn openai() -> Prices {
    let mut prices = Prices::default();
    prices.use_list("openai", PriceList::OpenAi);
    prices
}

fn dollars(text: &str) -> Option<Decimal> {
    Some(text.parse().unwrap())
}

#[test]
fn a_listed_model_costs_what_the_vendor_publishes() {
    let cost = openai().cost("openai", &asking("gpt-6.1-terra"), &million(1));
    // 80,000 at $1, 10,000 at $0.05, 10,000 at $1.25, 100,000 at $5.
    assert_eq!(cost, dollars("0.593"));

    let mut prices = Prices::default();
    prices.use_list("anthropic", PriceList::Anthropic);
    let cost = prices.cost("anthropic", &asking("claude-sonnet-5-5"), &million(1));
    // 80,000 at $2, 10,000 at $0.10, 10,000 at $2.50, 100,000 at $10.
    assert_eq!(cost, dollars("1.186"));
}

#[test]
fn a_list_holds_at_the_main_address_of_its_vendor_alone() {
    let list = PriceList::Anthropic;
    for home in [
        None,
        Some("https://api.anthropic.com"),
        Some("https://api.anthropic.com/v1/"),
    ] {
        assert_eq!(list.at(home), Some(list), "{home:?}");
    }
    for other in [
        "http://api.anthropic.com",
        "https://api.anthropic.com.example",
        "https://api.openai.com",
        "http://127.0.0.1:4000",
        "",
    ] {
        assert_eq!(list.at(Some(other)), None, "{other}");
    }
}

#[test]
fn all_of_a_call_with_a_long_prompt_costs_more() {
    let at_most = TokenUsage {
        input_tokens: 272_000,
        output_tokens: 1_000_000,
        ..TokenUsage::default()
    };
    let above = TokenUsage {
        input_tokens: 272_001,
        ..at_most.clone()
    };
    let request = asking("gpt-6.1-terra");
    assert_eq!(
        openai().cost("openai", &request, &at_most),
        dollars("5.272")
    );
    assert_eq!(
        openai().cost("openai", &request, &above),
        dollars("8.044002")
    );

    let haiku = PriceList::Anthropic.price("claude-haiku-4-5").unwrap();
    assert_eq!(haiku.long_prompt, None);
    let haiku = PriceList::Anthropic.price("claude-haiku-5-5").unwrap();
    let long = haiku.long_prompt.unwrap();
    assert_eq!(
        (long.above, long.price.output),
        (100_000, "2.5".parse().unwrap())
    );
}

#[test]
fn what_the_provider_compacted_costs_too() {
    let sampling = |kind: &str| UsageIteration {
        kind: kind.into(),
        input_tokens: 100_000,
        output_tokens: 100_000,
        cache_read_tokens: Some(10_000),
        cache_creation_tokens: Some(10_000),
    };
    let usage = TokenUsage {
        iterations: Some(vec![sampling("compaction"), sampling("message")]),
        ..million(1)
    };
    let cost = openai().cost("openai", &asking("gpt-6.1-terra"), &usage);
    assert_eq!(cost, dollars("1.186"), "the message stands in the totals");
}

#[test]
fn the_cost_is_unknown_rather_than_guessed() {
    let cost =
        |provider: &str, request: &CompletionRequest| openai().cost(provider, request, &million(1));
    assert_eq!(cost("openai", &asking("gpt-99")), None);
    assert_eq!(cost("openai", &asking("gpt-6.1-terra-mini")), None);
    assert_eq!(cost("another", &asking("gpt-6.1-terra")), None);
    let silent = TokenUsage::default();
    assert_eq!(
        openai().cost("openai", &asking("gpt-6.1-terra"), &silent),
        None
    );

    let with = |extra| asking("gpt-6.1-terra").with_head(|head| head.extra = Some(extra));
    for extra in [
        json!({"service_tier": "flex"}),
        json!({"service_tier": 7}),
        json!({"speed": "fast"}),
        json!({"inference_geo": "us"}),
        json!({"prompt_cache_options": {"ttl": "12h"}}),
        json!({"tools": [{"type": "web_search"}]}),
    ] {
        assert_eq!(cost("openai", &with(extra.clone())), None, "{extra}");
    }
    for extra in [
        json!({"service_tier": "default"}),
        json!({"seed": 7}),
        json!(null),
    ] {
        assert!(cost("openai", &with(extra.clone())).is_some(), "{extra}");
    }
    let block = SystemBlock {
        text: "x".into(),
        cache_control: Some(CacheControl {
            ttl: Some(CacheTtl::OneHour),
        }),
    };
    let kept = asking("gpt-6.1-terra")
        .with_head(|head| head.system = Some(SystemPrompt::Blocks(vec![block])));
    assert_eq!(cost("openai", &kept), None);
}

#[test]
fn a_price_that_was_set_outranks_the_list_whatever_the_terms() {
    let mut prices = openai();
    let price = ModelPrice {
        input: Decimal::ONE,
        output: Decimal::ZERO,
        cache_read: None,
        cache_write: None,
        long_prompt: Some(LongPrompt {
            above: 100_000,
            price: Box::new(ModelPrice {
                input: Decimal::TEN,
                output: Decimal::ZERO,
                cache_read: None,
                cache_write: None,
                long_prompt: None,
            }),
        }),
    };
    prices.insert("openai", "gpt-6.1-terra", price);
    let request = asking("gpt-6.1-terra")
        .with_head(|head| head.extra = Some(json!({"service_tier": "flex"})));
    assert_eq!(prices.cost("openai", &request, &million(1)), dollars("0.1"));
    assert_eq!(prices.cost("openai", &request, &million(2)), dollars("2"));
}

#[test]
fn a_name_with_a_date_has_the_price_of_the_name_without_it() {
    for (list, dated, undated) in [
        (
            PriceList::Anthropic,
            "claude-opus-4-5-20251101",
            "claude-opus-4-5",
        ),
        (
            PriceList::Anthropic,
            "claude-haiku-5-5-20261021",
            "claude-haiku-5-5",
        ),
        (
            PriceList::OpenAi,
            "gpt-6.1-terra-2026-10-01",
            "gpt-6.1-terra",
        ),
        (PriceList::OpenAi, "gpt-6.1-terra-latest", "gpt-6.1-terra"),
    ] {
        let price = list.price(dated);
        assert!(price.is_some(), "{dated}");
        assert_eq!(price, list.price(undated), "{dated}");
    }
    for other in [
        "claude-opus-4-5-2025110",
        "gpt-6.1-terra-2026-10",
        "20251101",
        "2026-10-01",
        "claude-opus-latest",
        "claude-opus-4-5-fast",
        "gpt-6-sol-mini",
        "gpt-6",
    ] {
        assert_eq!(PriceList::Anthropic.price(other), None, "{other}");
        assert_eq!(PriceList::OpenAi.price(other), None, "{other}");
    }
}

/// A price by which its rule is known.
fn priced(input: u32) -> ModelPrice {
    ModelPrice {
        input: input.into(),
        output: Decimal::ZERO,
        cache_read: None,
        cache_write: None,
        long_prompt: None,
    }
}

#[test]
fn the_price_of_the_model_goes_before_that_of_the_longest_beginning() {
    let mut prices = openai();
    prices.insert("openai", "gpt-5", priced(1));
    let input = |prices: &Prices, model: &str| prices.get("openai", model).map(|price| price.input);
    for snapshot in [
        "gpt-5",
        "gpt-5-latest",
        "gpt-5-2025-08-07",
        "gpt-5-20250807",
    ] {
        assert_eq!(input(&prices, snapshot), Some(1.into()), "{snapshot}");
    }
    for other in ["gpt-5-mini", "gpt-5.6", "gpt-50", "gpt-5-mini-2025-08-07"] {
        assert_eq!(input(&prices, other), None, "{other}");
    }

    prices.insert_prefix("openai", "gpt-5", priced(2));
    prices.insert_prefix("openai", "gpt-5-m", priced(3));
    prices.insert_prefix("openai", "gpt-6", priced(4));
    prices.insert_prefix("another", "gpt-5-mini", priced(5));
    prices.insert("openai", "gpt-5-latest", priced(6));
    for (model, expected) in [
        ("gpt-5", Some(1)),
        ("gpt-5-2025-08-07", Some(1)),
        ("gpt-5-latest", Some(6)),
        ("gpt-5-nano", Some(2)),
        ("gpt-5-mini", Some(3)),
        ("gpt-5-mini-2025-08-07", Some(3)),
        ("gpt-6-luna", Some(4)),
        ("gpt-4o", None),
    ] {
        assert_eq!(
            input(&prices, model),
            expected.map(Decimal::from),
            "{model}"
        );
    }
    let cost = prices.cost("openai", &asking("gpt-6-luna"), &million(1));
    assert_eq!(cost, dollars("0.4"), "what is set outranks the list");
}

proptest! {
    #[test]
    fn of_all_beginnings_that_fit_the_longest_holds(
        prefixes in proptest::collection::btree_set("[ab]{0,4}", 0..6),
        model in "[ab]{0,5}",
    ) {
        let mut prices = Prices::default();
        for prefix in &prefixes {
            let length = u32::try_from(prefix.len()).unwrap();
            prices.insert_prefix("p", prefix.as_str(), priced(length));
        }
        let fitting = prefixes.iter().filter(|prefix| model.starts_with(prefix.as_str()));
        let expected = fitting.map(|prefix| prefix.len()).max();
        let found = prices.get("p", &model).map(|price| price.input);
        prop_assert_eq!(found, expected.map(Decimal::from));
    }
}

#[test]
fn the_list_is_of_a_day() {
    let date: chrono::NaiveDate = PRICES_AS_OF.parse().unwrap();
    assert_eq!(date.to_string(), PRICES_AS_OF);
}
