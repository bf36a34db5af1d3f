use neuron_types::{
    CompletionResponse, GuardEnd, GuardNote, Guarded, Message, Spent, StopReason, TokenUsage,
    UsageIteration,
};
use serde_json::json;

use super::price;

/// The reasons that have a name of their own.
pub(crate) const NAMED_STOP_REASONS: [StopReason; 9] = [
    StopReason::EndTurn,
    StopReason::ToolUse,
    StopReason::MaxTokens,
    StopReason::StopSequence,
    StopReason::ContentFilter,
    StopReason::Refusal,
    StopReason::Compaction,
    StopReason::PauseTurn,
    StopReason::ContextWindowExceeded,
];

pub(crate) fn stop_reasons() -> Vec<StopReason> {
    NAMED_STOP_REASONS
        .into_iter()
        .chain([StopReason::Other("malformed_function_call".into())])
        .collect()
}

/// Counts that are all known.
pub(crate) fn usage() -> TokenUsage {
    TokenUsage {
        input_tokens: 1200,
        output_tokens: 80,
        cache_read_tokens: Some(1000),
        cache_creation_tokens: Some(0),
        reasoning_tokens: Some(32),
        iterations: Some(vec![
            UsageIteration {
                kind: "compaction".into(),
                input_tokens: 900,
                output_tokens: 50,
                cache_read_tokens: Some(800),
                cache_creation_tokens: Some(0),
            },
            UsageIteration {
                kind: "message".into(),
                input_tokens: 300,
                output_tokens: 30,
                cache_read_tokens: None,
                cache_creation_tokens: None,
            },
        ]),
    }
}

/// Findings of guards that a person is asked about.
pub(crate) fn guarded() -> Guarded {
    Guarded {
        notes: vec![GuardNote {
            guard: "no_secrets".into(),
            verdict: "ask".into(),
            reason: "it has a secret".into(),
        }],
        replaced: Some("[secret]".into()),
        mismatch: Some("it is no JSON".into()),
        end: GuardEnd::Ask("it has a secret".into()),
        deferred: vec!["judge".into()],
        spent: Some(Box::new(Spent::new(usage(), Some(price())))),
    }
}

pub(crate) fn responses() -> Vec<CompletionResponse> {
    vec![
        CompletionResponse {
            id: "resp_1".into(),
            model: "gpt-6.1-terra-2026-01-01".into(),
            message: Message::assistant("Hello."),
            usage: usage(),
            cost_usd: Some(price()),
            extra: Some(json!({"stop_sequence": "END"})),
            guarded: Some(Box::new(guarded())),
            ..CompletionResponse::default()
        },
        CompletionResponse {
            model: "demo".into(),
            message: Message::assistant(""),
            stop_reason: StopReason::Other("eos".into()),
            ..CompletionResponse::default()
        },
    ]
}
