use std::collections::BTreeMap;

use crate::times::{HOUR, MILLISECOND, MINUTE, SECOND};
use neuron_types::{
    ActivityOptions, ActivitySettings, FailureKind, Placement, Priority, RetryPolicy, RunTags,
    StepFailure, StepId, ToolEffects,
};
use uuid::Uuid;

pub(crate) const FAILURE_KINDS: [FailureKind; 26] = [
    FailureKind::RateLimited,
    FailureKind::Overloaded,
    FailureKind::Timeout,
    FailureKind::Network,
    FailureKind::Unavailable,
    FailureKind::ModelLoading,
    FailureKind::Authentication,
    FailureKind::Permission,
    FailureKind::InvalidRequest,
    FailureKind::ContextLength,
    FailureKind::ModelNotFound,
    FailureKind::Quota,
    FailureKind::ContentFilter,
    FailureKind::Guardrail,
    FailureKind::Terminated,
    FailureKind::ToolFailed,
    FailureKind::ToolInput,
    FailureKind::Cancelled,
    FailureKind::OutcomeUnknown,
    FailureKind::InvalidAnswer,
    FailureKind::MalformedAnswer,
    FailureKind::NoWorker,
    FailureKind::NotApproved,
    FailureKind::WorkerLost,
    FailureKind::OutOfBudget,
    FailureKind::Internal,
];

pub(crate) fn retry_policy() -> RetryPolicy {
    RetryPolicy {
        maximum_attempts: 3,
        initial_interval: 500 * MILLISECOND,
        backoff_coefficient: 1.5,
        maximum_interval: 10 * SECOND,
        non_retryable: vec![FailureKind::Overloaded],
        give_up_after: Some(HOUR),
    }
}

/// Settings with every field set.
pub(crate) fn activity_settings() -> ActivitySettings {
    ActivitySettings {
        heartbeat_timeout: Some(2500 * MILLISECOND),
        task_queue: Some("gpu".into()),
        priority: Some(1),
        placement: Some(Placement::Local),
    }
}

/// One set of options for each kind of effect; only the first has settings for the engine, and a
/// nonce, and the second is no hurry.
pub(crate) fn activity_options() -> Vec<ActivityOptions> {
    [
        ToolEffects::ReadOnly,
        ToolEffects::Idempotent,
        ToolEffects::Write,
    ]
    .into_iter()
    .zip(0..)
    .map(|(effects, position)| ActivityOptions {
        step: StepId::new(2, position),
        agent: None,
        nonce: (position == 0).then(|| Uuid::from_u128(7)),
        trace: None,
        tags: RunTags::default(),
        root: None,
        allow: match position {
            0 => vec!["bash(command=git status*)".to_owned()],
            _ => Vec::new(),
        },
        bounds: match position {
            0 => super::agent::bounds(),
            _ => Vec::new(),
        },
        guards: match position {
            0 => vec!["no_secrets".to_owned()],
            _ => Vec::new(),
        },
        skills: match position {
            0 => BTreeMap::from([("reports".to_owned(), "sha256:5e1f".to_owned())]),
            _ => BTreeMap::new(),
        },
        priority: match position {
            1 => Priority::Batch,
            _ => Priority::Interactive,
        },
        effects,
        start_to_close_timeout: 10 * MINUTE,
        retry_policy: retry_policy(),
        held: (position == 1).then(super::run::held),
        activity: if position == 0 {
            activity_settings()
        } else {
            ActivitySettings::default()
        },
    })
    .collect()
}

/// One failure of every kind, and one with everything that the other side may say.
pub(crate) fn failures() -> Vec<StepFailure> {
    FAILURE_KINDS
        .into_iter()
        .map(|kind| StepFailure::new(kind, format!("a failure of kind {kind}")))
        .chain([StepFailure {
            status: Some(429),
            retry_after: Some(1500 * MILLISECOND),
            retryable: false,
            ..StepFailure::new(FailureKind::RateLimited, "too many requests (HTTP 429)")
        }])
        .collect()
}
