use neuron_types::{
    ActivityOptions, ActivitySettings, FailureKind, Placement, Priority, RetryPolicy, StepFailure,
    StepId,
};
use proptest::{collection::btree_map, option, prelude::*};
use uuid::Uuid;

use super::{
    agent::bounds,
    approval::asking,
    few, finite, millis, one_of,
    response::spent,
    run::{held, run_id, run_tags, trace_context},
    text,
    tool::effects,
};
use crate::samples::{self, step::FAILURE_KINDS};

pub(crate) fn failure_kind() -> impl Strategy<Value = FailureKind> {
    one_of(&FAILURE_KINDS)
}

prop_compose! {
    pub(crate) fn failure()(
        kind in failure_kind(),
        message in text(),
        status in option::of(any::<u16>()),
        retry_after in option::of(millis()),
        retryable in any::<bool>(),
        spent in option::of(spent()),
        asking in option::of(asking().boxed().prop_map(Box::new)),
    ) -> StepFailure {
        StepFailure { kind, message, status, retry_after, retryable, spent, asking }
    }
}

prop_compose! {
    pub(crate) fn step_id()(
        scope in any::<u16>(),
        turn in any::<u32>(),
        position in any::<u32>(),
    ) -> StepId {
        StepId { scope, turn, position }
    }
}

prop_compose! {
    pub(crate) fn retry_policy()(
        maximum_attempts in any::<u32>(),
        initial_interval in millis(),
        backoff_coefficient in finite(),
        maximum_interval in millis(),
        non_retryable in few(failure_kind()),
        give_up_after in option::of(millis()),
    ) -> RetryPolicy {
        RetryPolicy {
            maximum_attempts,
            initial_interval,
            backoff_coefficient,
            maximum_interval,
            non_retryable,
            give_up_after,
        }
    }
}

prop_compose! {
    pub(crate) fn activity_settings()(
        heartbeat_timeout in option::of(millis()),
        task_queue in option::of(text()),
        priority in option::of(any::<u32>()),
        placement in option::of(one_of(&[Placement::Activity, Placement::Local])),
    ) -> ActivitySettings {
        // What is not drawn is as in the sample.
        ActivitySettings { heartbeat_timeout, task_queue, priority, ..sample(placement) }
    }
}

fn sample(placement: Option<Placement>) -> ActivitySettings {
    ActivitySettings {
        placement,
        ..samples::step::activity_settings()
    }
}

prop_compose! {
    pub(crate) fn activity_options()(
        step in step_id(),
        effects in effects(),
        start_to_close_timeout in millis(),
        retry_policy in retry_policy(),
        activity in activity_settings(),
        agent in proptest::option::of("[a-z]{1,8}"),
        (nonce, trace) in (option::of(any::<u128>().prop_map(Uuid::from_u128)), option::of(trace_context())),
        tags in run_tags(),
        root in option::of(run_id()),
        allow in few(text()),
        priority in one_of(&[Priority::Interactive, Priority::Batch]),
        held in option::of(held()),
        (bounds, guards, skills) in (few(bounds()), few(text()), btree_map(text(), text(), 0..3)),
    ) -> ActivityOptions {
        ActivityOptions {
    step, agent, nonce, trace, tags, root, allow, bounds, guards, priority, effects, start_to_close_timeout, skills,
            retry_policy, held, activity,
        }
    }
}
