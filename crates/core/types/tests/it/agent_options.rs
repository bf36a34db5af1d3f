//! How an agent's definition becomes the options of a step.

use std::{collections::BTreeMap, time::Duration};

use crate::times::{DAY, MILLISECOND, MINUTE, SECOND};
use neuron_types::{
    ActivityOptions, ActivitySettings, AgentSpec, Bounds, Placement, Priority, RetryPolicy, RunId,
    RunTags, SkillSpec, StepId, ToolAnnotations, ToolCall, ToolDefinition, ToolEffects,
    ToolSettings,
};
use serde_json::json;

const STEP: StepId = StepId::new(3, 2);

fn agent() -> AgentSpec {
    let mut agent = AgentSpec {
        model_timeout: 30 * SECOND,
        tool_timeout: 20 * SECOND,
        ..AgentSpec::default()
    };
    agent.head_mut().tools.push(ToolDefinition {
        name: "grep".into(),
        annotations: Some(ToolAnnotations {
            read_only_hint: Some(true),
            ..ToolAnnotations::default()
        }),
        ..ToolDefinition::default()
    });
    agent
}

fn call(name: &str) -> ToolCall {
    ToolCall::new("call_1", name, json!({}))
}

#[test]
fn whose_a_run_is_stands_beside_the_rest_of_a_steps_options() {
    let plain = AgentSpec::default().model_options(1);
    let before = serde_json::to_value(&plain).unwrap();
    for key in ["tags", "tenant", "owner", "labels", "root"] {
        assert!(before.get(key).is_none(), "{key}");
    }
    let options = ActivityOptions {
        tags: RunTags {
            tenant: Some("acme".to_owned()),
            owner: Some("ada".to_owned()),
            labels: [("team".to_owned(), "a".to_owned())].into(),
        },
        root: Some(RunId::new("top").unwrap()),
        ..plain
    };
    let mut expected = before;
    expected["tenant"] = "acme".into();
    expected["owner"] = "ada".into();
    expected["labels"]["team"] = "a".into();
    expected["root"] = "top".into();
    let written = serde_json::to_value(&options).unwrap();
    assert_eq!(written, expected);
    let read: ActivityOptions = serde_json::from_value(written).unwrap();
    assert_eq!(read, options);
}

#[test]
fn a_model_call_is_idempotent_and_the_first_step_of_its_turn() {
    assert_eq!(
        agent().model_options(3),
        ActivityOptions {
            step: StepId::new(3, 0),
            agent: None,
            nonce: None,
            trace: None,
            tags: RunTags::default(),
            root: None,
            allow: Vec::new(),
            bounds: Vec::new(),
            guards: Vec::new(),
            skills: BTreeMap::new(),
            priority: Priority::Interactive,
            effects: ToolEffects::Idempotent,
            start_to_close_timeout: 30 * SECOND,
            retry_policy: RetryPolicy {
                maximum_attempts: 0,
                give_up_after: Some(DAY),
                ..RetryPolicy::default()
            },
            held: None,
            activity: ActivitySettings::default(),
        }
    );
}

#[test]
fn a_tool_call_has_the_effects_of_its_tool_and_the_timeout_and_retries_of_the_agent() {
    assert_eq!(
        agent().tool_options(&call("grep"), STEP),
        ActivityOptions {
            step: STEP,
            agent: None,
            nonce: None,
            trace: None,
            tags: RunTags::default(),
            root: None,
            allow: Vec::new(),
            bounds: Vec::new(),
            guards: Vec::new(),
            skills: BTreeMap::new(),
            priority: Priority::Interactive,
            effects: ToolEffects::ReadOnly,
            start_to_close_timeout: 20 * SECOND,
            retry_policy: RetryPolicy {
                give_up_after: Some(DAY),
                ..RetryPolicy::default()
            },
            held: None,
            activity: ActivitySettings::default(),
        }
    );
}

#[test]
fn a_tool_that_the_agent_does_not_know_is_a_write() {
    let options = agent().tool_options(&call("rm"), STEP);
    assert_eq!(options.effects, ToolEffects::Write);
}

#[test]
fn a_tool_with_settings_of_its_own_keeps_the_agents_for_what_it_leaves_open() {
    let once = RetryPolicy {
        maximum_attempts: 1,
        ..RetryPolicy::default()
    };
    let mut agent = agent();
    agent.tool_settings.insert(
        "grep".into(),
        ToolSettings {
            timeout: Some(5 * SECOND),
            ..ToolSettings::default()
        },
    );
    agent.tool_settings.insert(
        "bash".into(),
        ToolSettings {
            retry: Some(once),
            ..ToolSettings::default()
        },
    );
    let grep = agent.tool_options(&call("grep"), STEP);
    assert_eq!(grep.start_to_close_timeout, 5 * SECOND);
    assert_eq!(grep.retry_policy, agent.tool_retry_policy("look"));
    let bash = agent.tool_options(&call("bash"), STEP);
    assert_eq!(bash.start_to_close_timeout, 20 * SECOND);
    assert_eq!(bash.retry_policy.maximum_attempts, 1);
    assert_eq!(bash.retry_policy, agent.tool_retry_policy("bash"));
}

#[test]
fn model_calls_are_tried_until_they_are_given_up_unless_a_policy_of_their_own_limits_them() {
    let mut agent = agent();
    agent.retry = RetryPolicy {
        maximum_attempts: 2,
        initial_interval: 10 * MILLISECOND,
        ..RetryPolicy::default()
    };
    agent.give_up_after = Some(MINUTE);
    let model = agent.model_options(1).retry_policy;
    assert_eq!(model.maximum_attempts, 0);
    assert_eq!(model.initial_interval, 10 * MILLISECOND);
    assert_eq!(model.give_up_after, Some(MINUTE));
    let tool = agent.tool_options(&call("grep"), STEP).retry_policy;
    assert_eq!(tool.maximum_attempts, 2);
    assert_eq!(tool.give_up_after, Some(MINUTE));
    let own = RetryPolicy {
        maximum_attempts: 3,
        give_up_after: Some(5 * SECOND),
        ..RetryPolicy::default()
    };
    agent.model_retry = Some(own.clone());
    assert_eq!(agent.model_options(1).retry_policy, own);
}

#[test]
fn a_policy_says_how_many_attempts_are_left_and_until_when() {
    let policy = RetryPolicy {
        maximum_attempts: 2,
        give_up_after: Some(MINUTE),
        ..RetryPolicy::default()
    };
    assert!(policy.leaves_attempts(1) && !policy.leaves_attempts(2));
    let [long, short] = [59 * SECOND, SECOND];
    assert!(policy.is_in_time(long, short));
    assert!(!policy.is_in_time(long, 2 * short));
    let endless = RetryPolicy {
        maximum_attempts: 0,
        ..RetryPolicy::default()
    };
    assert!(endless.leaves_attempts(u32::MAX));
    assert!(endless.is_in_time(Duration::MAX, short));
}

#[test]
fn a_tool_that_says_how_long_it_takes_has_no_longer_than_the_agent_gives() {
    let mut agent = agent();
    agent.head_mut().tools[0].timeout = Some(5 * SECOND);
    let timeout = |agent: &AgentSpec| {
        let options = agent.tool_options(&call("grep"), STEP);
        options.start_to_close_timeout
    };
    assert_eq!(timeout(&agent), 5 * SECOND);
    agent.tool_timeout = SECOND;
    assert_eq!(timeout(&agent), SECOND);
    let own = ToolSettings {
        timeout: Some(30 * SECOND),
        ..ToolSettings::default()
    };
    agent.tool_settings.insert("grep".into(), own);
    assert_eq!(timeout(&agent), 30 * SECOND);
}

#[test]
fn a_tools_own_settings_go_before_the_agents_and_its_queue_before_the_agents_placement() {
    let mut agent = agent();
    agent.activity = ActivitySettings {
        heartbeat_timeout: Some(30 * SECOND),
        priority: Some(4),
        placement: Some(Placement::Local),
        ..ActivitySettings::default()
    };
    let model = agent.model_options(1).activity;
    assert_eq!(model, agent.activity);
    assert_eq!(
        agent.tool_options(&call("grep"), STEP).activity,
        agent.activity
    );
    let own = |activity| ToolSettings {
        activity,
        ..ToolSettings::default()
    };
    let queue = ActivitySettings {
        task_queue: Some("gpu".into()),
        ..ActivitySettings::default()
    };
    agent.tool_settings.insert("grep".into(), own(queue));
    assert_eq!(
        agent.tool_options(&call("grep"), STEP).activity,
        ActivitySettings {
            task_queue: Some("gpu".into()),
            placement: Some(Placement::Activity),
            ..agent.activity.clone()
        }
    );
    let local = ActivitySettings {
        placement: Some(Placement::Local),
        ..ActivitySettings::default()
    };
    agent.activity.placement = Some(Placement::Activity);
    agent.tool_settings.insert("grep".into(), own(local));
    let grep = agent.tool_options(&call("grep"), STEP).activity;
    assert_eq!(grep.placement, Some(Placement::Local));
}

#[test]
fn writes_have_an_order_unless_the_agent_or_their_tool_says_otherwise() {
    let mut agent = agent();
    assert!(!agent.has_parallel_writes("bash"));
    agent.parallel_writes = true;
    let own = ToolSettings {
        parallel_writes: Some(false),
        ..ToolSettings::default()
    };
    agent.tool_settings.insert("bash".into(), own);
    assert!(!agent.has_parallel_writes("bash"));
    assert!(agent.has_parallel_writes("grep"));
}

/// An agent with one skill, held to what one without may do.
fn with_skill() -> AgentSpec {
    let spec = AgentSpec {
        skills: vec![SkillSpec {
            name: "reports".into(),
            description: "Writes reports.".into(),
            digest: "sha256:5e1f".into(),
        }],
        ..agent()
    };
    let mut spec = spec.attenuated(&[Bounds {
        tools: [("grep".to_owned())].into(),
        ..Bounds::default()
    }]);
    let reader = ToolDefinition {
        name: SkillSpec::TOOL.into(),
        ..ToolDefinition::default()
    };
    spec.head_mut().tools.push(reader);
    spec
}

#[test]
fn a_call_that_reads_skills_is_told_their_digests_and_no_other_call_is() {
    let agent = with_skill();
    let digests = BTreeMap::from([("reports".to_owned(), "sha256:5e1f".to_owned())]);
    let reads = agent.tool_options(&call(SkillSpec::TOOL), STEP);
    assert_eq!(reads.skills, digests);
    assert!(agent.tool_options(&call("grep"), STEP).skills.is_empty());
    assert!(agent.model_options(1).skills.is_empty());
}

#[test]
fn an_agent_that_another_starts_keeps_its_skills() {
    let agent = with_skill();
    let kept = agent.attenuated(&agent.bounds);
    assert!(
        kept.head
            .tools
            .iter()
            .any(|tool| tool.name == SkillSpec::TOOL)
    );
    assert!(agent.bounds_of_call(SkillSpec::TOOL).is_empty());
    // What has the name and reads no skills is held to the bounds as any other tool.
    let other = AgentSpec {
        skills: Vec::new(),
        ..agent.clone()
    };
    assert!(!other.bounds_of_call(SkillSpec::TOOL).is_empty());
    let cut = other.attenuated(&other.bounds);
    assert!(
        cut.head
            .tools
            .iter()
            .all(|tool| tool.name != SkillSpec::TOOL)
    );
    // The rules of those above hold for it, too.
    let mut asked = agent;
    asked.bounds[0].approvals.deny = vec!["read_*".to_owned()];
    assert!(!asked.bounds_of_call(SkillSpec::TOOL).is_empty());
}
