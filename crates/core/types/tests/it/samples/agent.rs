use std::collections::{BTreeMap, BTreeSet};

use neuron_types::{
    ActivitySettings, AgentSpec, Allowance, Bounds, CallerSetting, ContextPolicy, ContextRule,
    GuardPoint, GuardSpec, HandedConversation, Handoff, JudgeSpec, LimitOverrides, Limits, Message,
    ModelRate, OnExpiry, OnHalt, OnLoop, OnUnknownOutcome, Overrides, Priority, Reminder,
    ReminderTrigger, RunRequest, SkillSpec, SubAgent, ToolSearch, ToolSettings,
};
use rust_decimal::Decimal;
use serde_json::json;

use super::{approval, request, run, step};
use crate::times::{DAY, HOUR, MILLISECOND, MINUTE, SECOND};

pub(crate) const ON_UNKNOWN_OUTCOME: [OnUnknownOutcome; 2] =
    [OnUnknownOutcome::TellModel, OnUnknownOutcome::AskPerson];

pub(crate) fn context_rules() -> Vec<ContextRule> {
    vec![
        ContextRule::SlidingWindow { keep: 20 },
        ContextRule::ClearToolResults { keep: 10 },
        ContextRule::Summarize {
            keep: 4,
            model: Some("openai/gpt-6.1-terra".into()),
            summary_prompt: None,
        },
        ContextRule::Summarize {
            keep: 4,
            model: None,
            summary_prompt: Some("List what was decided.".into()),
        },
    ]
}

pub(crate) fn limits() -> Vec<Limits> {
    vec![
        Limits {
            turns: Some(10),
            tool_calls: Some(20),
            tokens: Some(2_000_000),
            cost_usd: Some(Decimal::new(500, 2)),
            duration: Some(30 * MINUTE),
            deadline: Some(2 * DAY),
        },
        Limits {
            turns: None,
            tool_calls: None,
            tokens: None,
            cost_usd: None,
            duration: None,
            deadline: None,
        },
    ]
}

/// A definition with every field set to something else than its default, but for the input, which [`typed`] has.
pub(crate) fn full() -> AgentSpec {
    AgentSpec {
        name: "reviewer".into(),
        signed: true,
        head: request::full().head,
        input: None,
        approvals: approval::rules(),
        caller_rules: approval::caller_rules(),
        callers_may_set: CallerSetting::ALL.into(),
        approval_timeout: Some(HOUR),
        on_expiry: OnExpiry::Fail,
        on_unknown_outcome: OnUnknownOutcome::AskPerson,
        on_failure: OnHalt::Ask,
        on_limit: OnHalt::Ask,
        parallel_tools: false,
        parallel_writes: true,
        calls_per_turn: Some(8),
        stop_on_first_tool: true,
        limits: limits().swap_remove(0),
        context: ContextPolicy {
            rules: context_rules(),
            at_tokens: Some(100_000),
            reminders: vec![Reminder {
                text: "Mind the budget.".into(),
                when: ReminderTrigger::EveryTurns(5),
            }],
        },
        retry: step::retry_policy(),
        model_retry: Some(step::retry_policy()),
        give_up_after: Some(2 * HOUR),
        priority: Priority::Batch,
        model_timeout: 2 * MINUTE,
        tool_timeout: 2500 * MILLISECOND,
        activity: ActivitySettings {
            priority: Some(5),
            ..ActivitySettings::default()
        },
        tool_settings: BTreeMap::from([
            ("bash".into(), ToolSettings::default()),
            (
                "read_file".into(),
                ToolSettings {
                    retry: Some(step::retry_policy()),
                    timeout: Some(5 * SECOND),
                    parallel_writes: Some(false),
                    activity: step::activity_settings(),
                },
            ),
        ]),
        team: Some(vec![AgentSpec::default()]),
        guards: vec![GuardSpec {
            name: "no_secrets".into(),
            at: [GuardPoint::Result, GuardPoint::Output].into(),
            settings: "sha256:0a1b".into(),
            judge: Some(Box::new(JudgeSpec {
                model: "openai/gpt-6.1-terra".into(),
                max_tokens: 2_048,
                frame: 1_500,
                tools: BTreeSet::from(["bash".into()]),
            })),
        }],
        hooks_calls: true,
        skills: vec![SkillSpec {
            name: "reports".into(),
            description: "Writes reports.".into(),
            digest: "sha256:5e1f".into(),
        }],
        max_repeats: Some(4),
        on_loop: OnLoop::Ask,
        tool_search: Some(ToolSearch {
            above: 20,
            at_percent: 5,
            provider: true,
        }),
        subagents: vec![SubAgent {
            name: "explorer".into(),
            description: "Looks around.".into(),
            input: Some(json!({"type": "object"})),
            background: true,
            limits: LimitOverrides {
                turns: Some(5),
                ..LimitOverrides::default()
            },
            pools: BTreeSet::from(["research".into()]),
        }],
        handoffs: vec![Handoff {
            name: "billing".into(),
            description: "Knows the invoices.".into(),
            conversation: HandedConversation::Summary,
        }],
        pool: Some("research".into()),
        pools: BTreeMap::from([("research".into(), Allowance::default())]),
        max_depth: 3,
        max_children: 50,
        bounds: bounds(),
        lease: MINUTE,
        rates: vec![ModelRate {
            model: "anthropic/claude-sonnet-5-5".into(),
            input: Decimal::new(375, 2),
            output: Decimal::new(15, 0),
        }],
    }
}

/// What a run is held to that an agent with one tool has started.
pub(crate) fn bounds() -> Vec<Bounds> {
    vec![Bounds {
        tools: BTreeSet::from(["bash".into()]),
        ..Bounds::default()
    }]
}

/// A definition whose runs are given values.
pub(crate) fn typed() -> AgentSpec {
    AgentSpec {
        input: Some(json!({"type": "object"})),
        ..AgentSpec::default()
    }
}

/// Everything that a caller can change.
pub(crate) fn overrides() -> Overrides {
    Overrides {
        limits: LimitOverrides {
            turns: Some(5),
            tool_calls: Some(10),
            tokens: Some(100_000),
            cost_usd: Some(Decimal::new(50, 2)),
            duration: Some(MINUTE),
            deadline: Some(HOUR),
        },
        tools: Some(vec!["read_file".into()]),
        ask: vec!["read_file".into()],
        deny: vec!["bash".into()],
        allow: vec!["read_file(path=docs/*)".into()],
        model: Some("anthropic/claude-sonnet-5-5".into()),
        instructions: Some("Be brief.".into()),
    }
}

pub(crate) fn run_requests() -> Vec<RunRequest> {
    let prompt = Message::user("Review the last commit.");
    vec![
        RunRequest::new("reviewer", prompt.clone()),
        RunRequest::new("reviewer", prompt.clone()).overrides(overrides()),
        RunRequest {
            tags: run::tags(),
            preamble: vec![Message::user("Hi"), Message::assistant("Hello.")].into(),
            ..RunRequest::new(AgentSpec::default(), prompt)
        },
    ]
}
