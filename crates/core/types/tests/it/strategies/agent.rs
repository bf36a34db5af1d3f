use neuron_types::{
    AgentOrigin, AgentRef, AgentSpec, Bounds, CallerSetting, ContextPolicy, ContextRule,
    GuardPoint, GuardSpec, HandedConversation, Handoff, JudgeSpec, LimitOverrides, Limits, OnHalt,
    OnLoop, OnUnknownOutcome, Overrides, Parent, Priority, Reminder, ReminderTrigger, RunRequest,
    SkillSpec, SubAgent, ToolSearch, ToolSettings,
};
use proptest::{
    collection::{btree_map, btree_set},
    option,
    prelude::*,
};
use uuid::Uuid;

use super::{
    approval::{caller_rules, on_expiry, rules},
    decimal, few,
    message::message,
    millis, one_of, optional_json,
    request::request_head,
    run::{allowance, lease, run_id, run_tags, trace_context},
    step::{activity_settings, retry_policy},
    text,
};
use crate::samples::agent::ON_UNKNOWN_OUTCOME;

fn on_halt() -> impl Strategy<Value = OnHalt> {
    one_of(&[OnHalt::End, OnHalt::Ask])
}

pub(crate) fn on_unknown_outcome() -> impl Strategy<Value = OnUnknownOutcome> {
    one_of(&ON_UNKNOWN_OUTCOME)
}

pub(crate) fn context_rule() -> impl Strategy<Value = ContextRule> {
    prop_oneof![
        any::<usize>().prop_map(|keep| ContextRule::SlidingWindow { keep }),
        any::<usize>().prop_map(|keep| ContextRule::ClearToolResults { keep }),
        (any::<usize>(), option::of(text()), option::of(text())).prop_map(
            |(keep, model, summary_prompt)| ContextRule::Summarize {
                keep,
                model,
                summary_prompt,
            }
        ),
    ]
}

fn reminder() -> impl Strategy<Value = Reminder> {
    let when = prop_oneof![
        any::<u32>().prop_map(ReminderTrigger::EveryTurns),
        any::<u32>().prop_map(ReminderTrigger::EveryToolCalls),
        any::<u64>().prop_map(ReminderTrigger::AtTokens),
    ];
    (text(), when).prop_map(|(text, when)| Reminder { text, when })
}

prop_compose! {
    pub(crate) fn context_policy()(
        rules in few(context_rule()),
        at_tokens in option::of(any::<u64>()),
        reminders in few(reminder()),
    ) -> ContextPolicy {
        ContextPolicy { rules, at_tokens, reminders }
    }
}

prop_compose! {
    pub(crate) fn limits()(
        turns in option::of(any::<u32>()),
        tool_calls in option::of(any::<u32>()),
        tokens in option::of(any::<u64>()),
        cost_usd in option::of(decimal()),
        duration in option::of(millis()),
        deadline in option::of(millis()),
    ) -> Limits {
        Limits { turns, tool_calls, tokens, cost_usd, duration, deadline }
    }
}

prop_compose! {
    fn sub_agent()(
        [name, description] in [text(), text()],
        input in optional_json(),
        background in any::<bool>(),
        limits in limit_overrides(),
        pools in btree_set(text(), 0..3),
    ) -> SubAgent {
        SubAgent { name, description, input, background, limits, pools }
    }
}

pub(crate) fn handed_conversation() -> impl Strategy<Value = HandedConversation> {
    one_of(&[
        HandedConversation::Whole,
        HandedConversation::Summary,
        HandedConversation::Last,
    ])
}

prop_compose! {
    fn handoff()(
        [name, description] in [text(), text()],
        conversation in handed_conversation(),
    ) -> Handoff {
        Handoff { name, description, conversation }
    }
}

prop_compose! {
    pub(crate) fn bounds()(
        tools in btree_set(text(), 0..3),
        approvals in rules(),
        caller_rules in caller_rules(),
    ) -> Bounds {
        Bounds { tools, approvals, caller_rules }
    }
}

prop_compose! {
    pub(crate) fn tool_settings()(
        retry in option::of(retry_policy()),
        timeout in option::of(millis()),
        parallel_writes in any::<Option<bool>>(),
        activity in activity_settings(),
    ) -> ToolSettings {
        ToolSettings { retry, timeout, parallel_writes, activity }
    }
}

prop_compose! {
    fn steps()(
        [parallel_tools, parallel_writes, stop_on_first_tool] in any::<[bool; 3]>(),
        calls_per_turn in any::<Option<u32>>(),
        retry in retry_policy(),
        model_retry in option::of(retry_policy()),
        give_up_after in option::of(millis()),
        priority in one_of(&[Priority::Interactive, Priority::Batch]),
        model_timeout in millis(),
        tool_timeout in millis(),
        activity in activity_settings(),
        tool_settings in btree_map(text(), tool_settings(), 0..3),
        caller_rules in caller_rules(),
        callers_may_set in btree_set(one_of(&CallerSetting::ALL), 0..4),
        (subagents, handoffs, bounds) in (few(sub_agent()), few(handoff()), few(bounds())).boxed(),
        [max_depth, max_children] in any::<[u32; 2]>(),
        (pool, pools) in (option::of(text()), btree_map(text(), allowance(), 0..3)),
        (guards, hooks_calls, skills) in (few(guard_spec()), any::<bool>(), few(skill_spec())),
        tool_search in option::of((any::<u32>(), any::<u8>(), any::<bool>()).prop_map(|(above, at_percent, provider)| ToolSearch { above, at_percent, provider })),
        (max_repeats, on_loop) in (any::<Option<u32>>(), one_of(&[OnLoop::Hint, OnLoop::Ask, OnLoop::End])),
    ) -> AgentSpec {
        AgentSpec {
            guards,
            hooks_calls,
            skills,
            max_repeats,
            on_loop,
            tool_search,
            subagents,
            handoffs,
            bounds,
            max_depth,
            max_children,
            pool,
            pools,
            caller_rules,
            callers_may_set,
            parallel_tools,
            parallel_writes,
            calls_per_turn,
            stop_on_first_tool,
            retry,
            model_retry,
            give_up_after,
            priority,
            model_timeout,
            tool_timeout,
            activity,
            tool_settings,
            ..AgentSpec::default()
        }
    }
}

prop_compose! {
    fn judge_spec()(
        model in text(),
        [max_tokens, frame] in any::<[u64; 2]>(),
        tools in btree_set(text(), 0..3),
    ) -> JudgeSpec {
        JudgeSpec { model, max_tokens, frame, tools }
    }
}

prop_compose! {
    fn skill_spec()([name, description, digest] in [text(), text(), text()]) -> SkillSpec {
        SkillSpec { name, description, digest }
    }
}

prop_compose! {
    fn guard_spec()(
        name in text(),
        at in btree_set(one_of(&GuardPoint::ALL), 0..4),
        settings in text(),
        judge in option::of(judge_spec()),
    ) -> GuardSpec {
        GuardSpec { name, at, settings, judge: judge.map(Box::new) }
    }
}

// Its parts are boxed: together they are too much for a test's stack.
prop_compose! {
    pub(crate) fn agent_spec()(
        name in text(),
        head in request_head().boxed(),
        input in optional_json(),
        approvals in rules().boxed(),
        approval_timeout in option::of(millis()),
        on_expiry in on_expiry(),
        on_unknown_outcome in on_unknown_outcome(),
        (on_failure, on_limit) in (on_halt(), on_halt()),
        limits in limits(),
        context in context_policy(),
        steps in steps().boxed(),
    ) -> AgentSpec {
        AgentSpec {
            name,
            head: head.into(),
            input,
            approvals,
            approval_timeout,
            on_expiry,
            on_unknown_outcome,
            on_failure,
            on_limit,
            limits,
            context,
            ..steps
        }
    }
}

prop_compose! {
    pub(crate) fn limit_overrides()(
        turns in option::of(any::<u32>()),
        tool_calls in option::of(any::<u32>()),
        tokens in option::of(any::<u64>()),
        cost_usd in option::of(decimal()),
        duration in option::of(millis()),
        deadline in option::of(millis()),
    ) -> LimitOverrides {
        LimitOverrides { turns, tool_calls, tokens, cost_usd, duration, deadline }
    }
}

prop_compose! {
    pub(crate) fn overrides(rule: BoxedStrategy<String>)(
        limits in limit_overrides(),
        tools in option::of(few(text())),
        ask in few(rule.clone()),
        deny in few(rule.clone()),
        allow in few(rule),
        model in option::of(text()),
        instructions in option::of(text()),
    ) -> Overrides {
        Overrides { limits, tools, ask, deny, allow, model, instructions }
    }
}

prop_compose! {
    pub(crate) fn agent_origin()(
        overrides in overrides(text().boxed()).boxed(),
        may_set in btree_set(one_of(&CallerSetting::ALL), 0..3),
    ) -> AgentOrigin {
        AgentOrigin { overrides, may_set }
    }
}

prop_compose! {
    pub(crate) fn parent()(
        [run, root] in [run_id(), run_id()],
        key in any::<u128>(),
        levels in any::<u32>(),
        bounds in few(bounds()),
        signed in any::<bool>(),
        lease in option::of(lease()),
    ) -> Parent {
        Parent { run, root, key: Uuid::from_u128(key), levels, bounds, signed, lease }
    }
}

prop_compose! {
    pub(crate) fn run_request()(
        agent in prop_oneof![
            text().prop_map(AgentRef::Name),
            agent_spec().boxed().prop_map(AgentRef::from),
        ],
        tags in run_tags(),
        overrides in overrides(text().boxed()).boxed(),
        origin in option::of(agent_origin().boxed()),
        preamble in few(message()),
        (parent, trace) in (option::of(parent().boxed()), option::of(trace_context())),
        prompt in message().boxed(),
    ) -> RunRequest {
        RunRequest {
            tags,
            parent: parent.map(Box::new),
            trace,
            overrides,
            origin,
            preamble: preamble.into(),
            ..RunRequest::new(agent, prompt)
        }
    }
}
