use neuron_types::{
    CompletionResponse, GuardEnd, GuardNote, Guarded, Spent, StopReason, TokenUsage, UsageIteration,
};
use proptest::{option, prelude::*};

use super::{decimal, few, message::message, one_of, optional_json, text};
use crate::samples::response::NAMED_STOP_REASONS;

pub(crate) fn stop_reason() -> impl Strategy<Value = StopReason> {
    let other = text().prop_filter("a name of its own", |name| {
        NAMED_STOP_REASONS
            .iter()
            .all(|reason| serde_json::to_value(reason).unwrap() != name.as_str())
    });
    prop_oneof![
        one_of(&NAMED_STOP_REASONS),
        other.prop_map(StopReason::Other),
    ]
}

prop_compose! {
    pub(crate) fn usage_iteration()(
        kind in text(),
        input_tokens in any::<u64>(),
        output_tokens in any::<u64>(),
        cache_read_tokens in option::of(any::<u64>()),
        cache_creation_tokens in option::of(any::<u64>()),
    ) -> UsageIteration {
        UsageIteration { kind, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens }
    }
}

prop_compose! {
    pub(crate) fn token_usage()(
        input_tokens in any::<u64>(),
        output_tokens in any::<u64>(),
        cache_read_tokens in option::of(any::<u64>()),
        cache_creation_tokens in option::of(any::<u64>()),
        reasoning_tokens in option::of(any::<u64>()),
        iterations in option::of(few(usage_iteration())),
    ) -> TokenUsage {
        TokenUsage {
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_creation_tokens,
            reasoning_tokens,
            iterations,
        }
    }
}

prop_compose! {
    pub(crate) fn completion_response()(
        id in text(),
        model in text(),
        message in message(),
        usage in token_usage(),
        stop_reason in stop_reason(),
        cost_usd in option::of(decimal()),
        extra in optional_json(),
        left_out in few(text()),
        mismatch in option::of(text()),
        (spent_before, guarded) in (option::of(spent()), option::of(guarded().boxed())),
    ) -> CompletionResponse {
        CompletionResponse { left_out,
            id,
            model,
            message,
            usage,
            stop_reason,
            cost_usd,
            extra,
            mismatch,
            guarded: guarded.map(Box::new),
            spent_before,
        }
    }
}

fn guard_end() -> impl Strategy<Value = GuardEnd> {
    prop_oneof![
        Just(GuardEnd::Pass),
        text().prop_map(GuardEnd::Ask),
        text().prop_map(GuardEnd::Block),
        text().prop_map(GuardEnd::Trip),
    ]
}

prop_compose! {
    fn guard_note()([guard, verdict, reason] in [text(), text(), text()]) -> GuardNote {
        GuardNote { guard, verdict, reason }
    }
}

prop_compose! {
    pub(crate) fn guarded()(
        notes in few(guard_note()),
        [replaced, mismatch] in [option::of(text()), option::of(text())],
        end in guard_end(),
        deferred in few(text()),
        spent in option::of(spent()),
    ) -> Guarded {
        Guarded { notes, replaced, mismatch, end, deferred, spent }
    }
}

prop_compose! {
    pub(crate) fn spent()(
        usage in token_usage(),
        cost_usd in option::of(decimal()),
    ) -> Box<Spent> {
        Box::new(Spent::new(usage, cost_usd))
    }
}
