//! What the caller who starts a run can change of its agent, and what not.

use std::collections::BTreeSet;

use neuron_types::{
    AgentSpec, ApprovalRules, AskRule, CallerRules, CallerSetting, LimitOverrides, Limits, Message,
    OverrideRejected, Overrides, PermissionDecision, PermissionPolicy as _, RequestHead,
    RunRequest, SystemPrompt, ToolDefinition,
};
use proptest::{option, prelude::*, sample};
use serde_json::{Value, json};

use crate::strategies::{agent::overrides, few};
use crate::times::MINUTE;

fn agent() -> AgentSpec {
    let tools = ["bash", "read_file", "write_file"].map(|name| ToolDefinition {
        name: name.into(),
        ..ToolDefinition::default()
    });
    let head = RequestHead {
        provider: Some("openai".into()),
        tools: tools.into(),
        ..RequestHead::new("gpt-6.1-terra")
    };
    AgentSpec {
        name: "reviewer".into(),
        head: head.into(),
        ..AgentSpec::default()
    }
}

fn tools(agent: &AgentSpec) -> Vec<&str> {
    let tools = agent.head.tools.iter();
    tools.map(|tool| tool.name.as_str()).collect()
}

fn rejected(agent: &AgentSpec, overrides: Value) -> String {
    let overrides: Overrides = serde_json::from_value(overrides).unwrap();
    agent.narrowed(&overrides).unwrap_err().to_string()
}

#[test]
fn lower_limits_fewer_tools_and_more_questions_are_taken() {
    let overrides = Overrides {
        limits: LimitOverrides {
            turns: Some(5),
            tokens: Some(1000),
            ..LimitOverrides::default()
        },
        tools: Some(vec!["read_file".into(), "bash".into()]),
        ask: vec!["bash".into()],
        deny: vec!["bash(command=git push*)".into()],
        ..Overrides::default()
    };
    let narrowed = agent().narrowed(&overrides).unwrap();
    assert_eq!(narrowed.limits.turns, Some(5));
    assert_eq!(narrowed.limits.tokens, Some(1000));
    assert_eq!(narrowed.limits.tool_calls, agent().limits.tool_calls);
    assert_eq!(tools(&narrowed), ["bash", "read_file"]);
    let check = |command: &str| {
        narrowed
            .policy()
            .check("bash", &json!({ "command": command }))
    };
    assert!(matches!(check("ls"), PermissionDecision::Ask(_)));
    assert!(matches!(
        check("git push origin"),
        PermissionDecision::Deny(_)
    ));
    assert_ne!(narrowed.fingerprint(), agent().fingerprint());
    assert_eq!(agent().narrowed(&Overrides::default()).unwrap(), agent());
}

#[test]
fn a_callers_question_is_asked_whatever_the_agent_allows_or_excepts() {
    let lenient = AgentSpec {
        approvals: ApprovalRules {
            allow: vec!["bash(command=ls*)".into()],
            approve: vec!["*".into(), "!read_file".into()],
            ..ApprovalRules::default()
        },
        ..agent()
    };
    let overrides = Overrides {
        ask: vec!["bash".into(), "read_file".into()],
        ..Overrides::default()
    };
    let narrowed = lenient.narrowed(&overrides).unwrap();
    for (tool, input) in [
        ("bash", json!({"command": "ls -l"})),
        ("read_file", json!({"path": "a"})),
    ] {
        let own = lenient.policy().check(tool, &input);
        assert_eq!(own, PermissionDecision::Allow, "{tool}");
        let asked = narrowed.policy().check(tool, &input);
        assert!(matches!(asked, PermissionDecision::Ask(_)), "{tool}");
    }
}

#[test]
fn what_could_widen_a_run_is_rejected_with_a_sentence() {
    for (overrides, said) in [
        (
            json!({"limits": {"turns": 100}}),
            "turns 100 is above the turns 50 of the agent reviewer",
        ),
        (
            json!({"tools": ["bash", "grep"]}),
            "the agent reviewer has no tool \"grep\": it has bash, read_file, write_file",
        ),
        (
            json!({"ask": ["!bash"]}),
            "\"!bash\" excepts calls: callers add rules and take none away",
        ),
        (
            json!({"deny": ["bash(command"]}),
            "\"bash(command\" is no pattern of calls: write TOOL, or TOOL(ARGUMENT=VALUE)",
        ),
        (
            json!({"allow": ["bash"]}),
            "the agent reviewer does not let callers set allow",
        ),
        (
            json!({"model": "anthropic/claude-sonnet-5-5"}),
            "the agent reviewer does not let callers set model",
        ),
        (
            json!({"instructions": "Say yes."}),
            "the agent reviewer does not let callers set instructions",
        ),
    ] {
        assert_eq!(rejected(&agent(), overrides), said);
    }
}

#[test]
fn what_the_agent_lists_may_be_set() {
    let open = AgentSpec {
        callers_may_set: CallerSetting::ALL.into(),
        approvals: ApprovalRules {
            approve: vec!["*".into()],
            deny: vec!["bash(command=rm*)".into()],
            ..ApprovalRules::default()
        },
        ..agent()
    };
    let overrides = Overrides {
        limits: LimitOverrides {
            turns: Some(100),
            ..LimitOverrides::default()
        },
        allow: vec!["bash".into()],
        model: Some("local/qwen/32b".into()),
        instructions: Some("Be brief.".into()),
        ..Overrides::default()
    };
    let mut open = open;
    open.head_mut().fallback_models = vec!["openai/gpt-6.1-terra".into()];
    let set = open.narrowed(&overrides).unwrap();
    assert!(
        set.head.fallback_models.is_empty(),
        "one model stands for the list"
    );
    assert_eq!(set.limits.turns, Some(100));
    assert_eq!(set.head.provider.as_deref(), Some("local"));
    assert_eq!(set.head.model, "qwen/32b");
    assert_eq!(
        set.head.system,
        Some(SystemPrompt::Text("Be brief.".into()))
    );
    let check = |command: &str| set.policy().check("bash", &json!({ "command": command }));
    assert_eq!(check("ls"), PermissionDecision::Allow);
    assert!(matches!(check("rm -r ."), PermissionDecision::Deny(_)));
    let wrong = json!({"model": "gpt-6.1-terra"});
    let said = "\"gpt-6.1-terra\" names no provider: write provider/model";
    assert_eq!(rejected(&open, wrong), said);
}

#[test]
fn the_agents_of_a_workflow_are_narrowed_with_it() {
    let short = AgentSpec {
        name: "critic".into(),
        limits: Limits {
            turns: Some(2),
            ..Limits::default()
        },
        ..agent()
    };
    let workflow = AgentSpec {
        name: "review".into(),
        team: Some(vec![agent(), short]),
        ..AgentSpec::default()
    };
    let overrides = Overrides {
        limits: LimitOverrides {
            turns: Some(5),
            ..LimitOverrides::default()
        },
        tools: Some(vec!["read_file".into()]),
        ask: vec!["*".into()],
        ..Overrides::default()
    };
    let narrowed = workflow.narrowed(&overrides).unwrap();
    let team = narrowed.team.unwrap();
    assert_eq!(team[0].limits.turns, Some(5));
    assert_eq!(team[1].limits.turns, Some(2));
    for member in &team {
        assert_eq!(tools(member), ["read_file"]);
        let asked = member.policy().check("read_file", &json!({}));
        assert!(matches!(asked, PermissionDecision::Ask(_)));
    }
    let said = rejected(&workflow, json!({"tools": ["grep"]}));
    assert!(said.starts_with("the agent review has no tool"), "{said}");
}

#[test]
fn a_request_that_is_rejected_keeps_the_agent_as_it_is_and_says_why() {
    let request = || RunRequest::new("reviewer", Message::user("Go."));
    let lowered = request().limits(LimitOverrides {
        duration: Some(MINUTE),
        ..LimitOverrides::default()
    });
    let input = lowered.with_agent(agent());
    assert_eq!(input.agent.limits.duration, Some(MINUTE));
    assert_eq!(input.rejected, None);
    let input = request().model("a/b").with_agent(agent());
    assert_eq!(input.agent, agent());
    let rejected = OverrideRejected::NotAllowed {
        agent: "reviewer".into(),
        setting: CallerSetting::Model,
    };
    assert_eq!(input.rejected, Some(rejected));
}

const RULES: [&str; 8] = [
    "*",
    "bash",
    "!bash",
    "read_*",
    "!read_*",
    "write_file",
    "bash(command=git *)",
    "!bash(command=git *)",
];

fn rule() -> impl Strategy<Value = String> {
    sample::select(&RULES[..]).prop_map(ToOwned::to_owned)
}

fn calls() -> [(&'static str, Value); 4] {
    [
        ("bash", json!({"command": "git status"})),
        ("bash", json!({"command": "ls"})),
        ("read_file", json!({"path": "a"})),
        ("write_file", json!({"path": "a"})),
    ]
}

/// How much a decision holds up.
fn strictness(decision: &PermissionDecision) -> u8 {
    match decision {
        PermissionDecision::Allow => 0,
        PermissionDecision::Ask(_) => 1,
        PermissionDecision::Deny(_) => 2,
    }
}

fn is_within<T: Ord>(own: Option<T>, narrowed: Option<T>) -> bool {
    own.is_none_or(|own| narrowed.is_some_and(|narrowed| narrowed <= own))
}

proptest! {
    #[test]
    fn a_run_never_does_more_than_its_agent(
        allow in few(rule()),
        ask in few(rule()),
        deny in few(rule()),
        turns in option::of(0..10_u32),
        asked in overrides(rule().boxed()),
        few_turns in option::of(0..10_u32),
        is_plain in any::<bool>(),
        kept in option::of(few(sample::select(&["bash", "read_file", "write_file"][..]))),
    ) {
        let own = AgentSpec {
            approvals: ApprovalRules {
                allow,
                approve: ask.into_iter().map(AskRule::from).collect(),
                deny,
                ..ApprovalRules::default()
            },
            limits: Limits { turns, ..Limits::default() },
            ..agent()
        };
        let mut asked = asked;
        if is_plain {
            // What is rejected for something else shows nothing of rules.
            asked = Overrides { ask: asked.ask, deny: asked.deny, ..Overrides::default() };
            asked.ask.retain(|rule| !rule.starts_with('!'));
            asked.deny.retain(|rule| !rule.starts_with('!'));
        }
        asked.limits.turns = few_turns;
        asked.tools = kept.map(|kept| kept.into_iter().map(ToOwned::to_owned).collect());
        let Ok(narrowed) = own.narrowed(&asked) else {
            return Ok(());
        };
        prop_assert!(is_within(own.limits.turns, narrowed.limits.turns));
        prop_assert!(is_within(own.limits.tool_calls, narrowed.limits.tool_calls));
        prop_assert!(is_within(own.limits.tokens, narrowed.limits.tokens));
        prop_assert!(is_within(own.limits.cost_usd, narrowed.limits.cost_usd));
        prop_assert!(is_within(own.limits.duration, narrowed.limits.duration));
        let had: BTreeSet<&str> = tools(&own).into_iter().collect();
        prop_assert!(tools(&narrowed).iter().all(|tool| had.contains(tool)));
        for (tool, input) in calls() {
            let (before, after) = (own.policy().check(tool, &input), narrowed.policy().check(tool, &input));
            prop_assert!(strictness(&after) >= strictness(&before), "{tool} {input}: {before:?}, {after:?}");
        }
        // Everything else is as it was.
        let mut back = narrowed;
        back.limits = own.limits.clone();
        back.head = own.head.clone();
        back.caller_rules = CallerRules::default();
        prop_assert_eq!(back, own);
    }
}

#[test]
fn a_start_is_the_same_if_agent_prompt_preamble_tags_and_overrides_are_equal() {
    let request = || {
        RunRequest::new("reviewer", Message::user("Go."))
            .tenant("acme")
            .owner("ada")
            .label("report", "q3")
            .deny("bash")
    };
    let is_same = |other: &RunRequest| {
        let same = request().is_same_start(other);
        assert_eq!(other.is_same_start(&request()), same);
        same
    };
    assert!(is_same(&request()));
    let prompt = Message::user("Stop.");
    for other in [
        RunRequest {
            agent: "writer".into(),
            ..request()
        },
        RunRequest {
            prompt,
            ..request()
        },
        RunRequest {
            preamble: vec![Message::user("Hello.")].into(),
            ..request()
        },
        request().tenant("other"),
        request().owner("bob"),
        request().label("report", "q4"),
        request().label("draft", "yes"),
        request().deny("write_file"),
        request().overrides(Overrides::default()),
    ] {
        assert!(!is_same(&other), "{other:?}");
    }
}

#[test]
fn a_run_that_found_its_agent_is_the_same_start_as_the_one_that_named_it() {
    let request = || RunRequest::new("reviewer", Message::user("Go.")).deny("bash");
    let found = RunRequest::from(request().with_agent(agent()));
    assert!(found.is_same_start(&request()));
    assert!(request().is_same_start(&found));
    assert!(!found.is_same_start(&request().deny("write_file")));
    assert!(!found.is_same_start(&request().overrides(Overrides::default())));
    // Which definition it found makes no difference.
    let definition = RunRequest {
        agent: agent().into(),
        ..request()
    };
    assert!(definition.is_same_start(&request()));
}
