use neuron_types::TokenUsage;
use proptest::prelude::*;

use crate::strategies::response::token_usage;

fn sum(left: &TokenUsage, right: &TokenUsage) -> TokenUsage {
    let mut sum = left.clone();
    sum.add(right);
    sum
}

#[test]
fn counts_are_added_up() {
    let first = TokenUsage {
        input_tokens: 100,
        output_tokens: 10,
        cache_read_tokens: Some(80),
        cache_creation_tokens: None,
        reasoning_tokens: Some(5),
        iterations: None,
    };
    let second = TokenUsage {
        input_tokens: 200,
        output_tokens: 20,
        cache_read_tokens: None,
        cache_creation_tokens: None,
        reasoning_tokens: Some(6),
        iterations: Some(vec![]),
    };
    assert_eq!(
        sum(&first, &second),
        TokenUsage {
            input_tokens: 300,
            output_tokens: 30,
            cache_read_tokens: Some(80),
            cache_creation_tokens: None,
            reasoning_tokens: Some(11),
            iterations: None,
        }
    );
}

#[test]
fn a_count_that_is_too_large_stops_at_the_largest() {
    let most = TokenUsage {
        input_tokens: u64::MAX,
        output_tokens: 1,
        cache_read_tokens: Some(u64::MAX),
        ..TokenUsage::default()
    };
    assert_eq!(most.total(), u64::MAX);
    let doubled = sum(&most, &most);
    assert_eq!(doubled.input_tokens, u64::MAX);
    assert_eq!(doubled.cache_read_tokens, Some(u64::MAX));
    assert_eq!(doubled.output_tokens, 2);
}

proptest! {
    #[test]
    fn adding_nothing_changes_nothing(usage in token_usage()) {
        prop_assert_eq!(sum(&usage, &TokenUsage::default()), usage);
    }

    #[test]
    fn the_order_of_adding_does_not_matter(calls in proptest::collection::vec(token_usage(), 0..5)) {
        let total = |calls: &mut dyn Iterator<Item = &TokenUsage>| {
            calls.fold(TokenUsage::default(), |total, call| sum(&total, call))
        };
        prop_assert_eq!(total(&mut calls.iter()), total(&mut calls.iter().rev()));
    }
}
