//! What a run may do that another one has started: what that may do, and what its own definition says.

use std::time::Duration;

use neuron_types::{
    AgentSpec, ApprovalRules, AskRule, Bounds, CallerRules, JudgedCall, PermissionDecision,
    PermissionPolicy as _, RequestHead, SubAgent, ToolDefinition,
};
use proptest::{collection::vec, option, prelude::*, sample};
use serde_json::{Value, json};

use crate::{
    strategies::{approval::rules, few},
    times::MINUTE,
};

const TOOLS: [&str; 4] = ["bash", "read_file", "write_file", "mcp__push"];

fn agent(tools: &[&str], approvals: ApprovalRules) -> AgentSpec {
    let tools = tools.iter().map(|name| ToolDefinition {
        name: (*name).into(),
        ..ToolDefinition::default()
    });
    let head = RequestHead {
        tools: tools.collect(),
        ..RequestHead::new("m")
    };
    AgentSpec {
        head: head.into(),
        approvals,
        ..AgentSpec::default()
    }
}

fn asks(rule: AskRule) -> ApprovalRules {
    ApprovalRules {
        approve: vec![rule],
        ..ApprovalRules::default()
    }
}

fn tools(agent: &AgentSpec) -> Vec<&str> {
    let tools = agent.head.tools.iter();
    tools.map(|tool| tool.name.as_str()).collect()
}

fn bash(agent: &AgentSpec) -> PermissionDecision {
    agent.policy().check("bash", &json!({"command": "ls"}))
}

#[test]
fn a_child_has_the_tools_that_every_run_above_it_has_and_those_that_start_its_own_agents() {
    let top = agent(
        &["bash", "read_file", "write_file"],
        ApprovalRules::default(),
    );
    let mut lead = agent(
        &["read_file", "bash", "mcp__push", "agent_tester"],
        ApprovalRules::default(),
    );
    lead.subagents.push(SubAgent::new("tester"));
    let lead = lead.attenuated(&top.bounds_of_children());
    assert_eq!(tools(&lead), ["read_file", "bash", "agent_tester"]);
    let leaf = agent(
        &["bash", "write_file", "agent_tester"],
        ApprovalRules::default(),
    );
    let leaf = leaf.attenuated(&lead.bounds_of_children());
    assert_eq!(
        tools(&leaf),
        ["bash"],
        "it starts no agent that its own definition does not list"
    );
    assert_eq!(leaf.bounds.len(), 2);
}

#[test]
fn what_a_run_above_asks_about_is_asked_whatever_the_child_allows() {
    let ops = AskRule {
        from: Some("ops".into()),
        needed: 2,
        within: Some(MINUTE),
        ..AskRule::new("bash")
    };
    let top = agent(&["bash"], asks(ops));
    let child = agent(
        &["bash"],
        ApprovalRules {
            allow: vec!["*".into()],
            ..ApprovalRules::default()
        },
    );
    let child = child.attenuated(&top.bounds_of_children());
    let PermissionDecision::Ask(asking) = bash(&child) else {
        panic!("nobody is asked");
    };
    assert_eq!((asking.from.as_deref(), asking.needed), (Some("ops"), 2));
    assert_eq!(asking.within, Some(MINUTE));
}

#[test]
fn a_call_that_two_agents_have_asked_of_two_groups_is_refused() {
    let from = |group: &str| {
        asks(AskRule {
            from: Some(group.into()),
            ..AskRule::new("bash")
        })
    };
    let top = agent(&["bash"], from("ops"));
    let child = agent(&["bash"], from("leads")).attenuated(&top.bounds_of_children());
    let PermissionDecision::Deny(reason) = bash(&child) else {
        panic!("one of the groups is not asked");
    };
    assert!(
        reason.contains("ops") && reason.contains("leads"),
        "{reason}"
    );
}

/// How much a decision holds back.
fn rank(decision: &PermissionDecision) -> u8 {
    match decision {
        PermissionDecision::Allow => 0,
        PermissionDecision::Ask(_) => 1,
        PermissionDecision::Deny(_) => 2,
    }
}

fn pattern() -> impl Strategy<Value = String> {
    let patterns = [
        "*",
        "bash",
        "bash(command=git *)",
        "bash(command=rm*)",
        "write_file",
        "!bash(command=git *)",
        "!read_file",
        "mcp__*",
        "agent_tester",
    ];
    sample::select(patterns.to_vec()).prop_map(ToOwned::to_owned)
}

prop_compose! {
    fn ask_rule()(
        call in pattern(),
        from in option::of(sample::select(vec!["ops".to_owned(), "leads".to_owned()])),
        needed in 1..3_u32,
        within in option::of((1..5_u64).prop_map(Duration::from_secs)), // Only compared, never waited for.
        then in option::of(Just("leads".to_owned())),
    ) -> AskRule {
        AskRule { call, from, needed, within, then }
    }
}

prop_compose! {
    fn definition()(
        tools in sample::subsequence(TOOLS.to_vec(), 0..=TOOLS.len()),
        allow in few(pattern()),
        approve in few(ask_rule()),
        deny in few(pattern()),
        ask in few(sample::select(vec!["bash".to_owned(), "mcp__push".to_owned()])),
        allow_of_caller in few(sample::select(vec!["bash".to_owned()])),
        starts in any::<bool>(),
    ) -> AgentSpec {
        let mut agent = agent(&tools, ApprovalRules { allow, approve, deny, remembered: Vec::new() });
        agent.caller_rules = CallerRules { allow: allow_of_caller, ask, deny: Vec::new() };
        if starts {
            let tester = SubAgent::new("tester");
            agent.head_mut().tools.push(tester.definition());
            agent.subagents.push(tester);
        }
        agent
    }
}

fn input() -> impl Strategy<Value = Value> {
    sample::select(vec!["git push", "rm -rf .", "ls", "git a; rm b"])
        .prop_map(|command| json!({"command": command, "path": command}))
}

/// Whom a question is put to, and how many of them.
fn terms(decision: &PermissionDecision) -> Option<(Option<&str>, u32, Option<Duration>)> {
    match decision {
        PermissionDecision::Ask(asking) => {
            Some((asking.from.as_deref(), asking.needed, asking.within))
        }
        _ => None,
    }
}

proptest! {
    #[test]
    fn what_people_decided_for_the_rest_of_a_run_does_not_go_down(approvals in rules()) {
        let bounds = agent(&["bash"], approvals).bounds_of_children();
        prop_assert!(bounds.iter().all(|it| it.approvals.remembered.is_empty()));
    }

    #[test]
    fn no_child_does_what_a_run_above_it_may_not(
        line in vec(definition(), 2..4),
        tool in sample::select([&TOOLS[..], &["agent_tester"]].concat()),
        input in input(),
    ) {
        let mut runs: Vec<AgentSpec> = Vec::new();
        for definition in &line {
            let run = match runs.last() {
                Some(parent) => definition.attenuated(&parent.bounds_of_children()),
                None => definition.clone(),
            };
            runs.push(run);
        }
        for (run, parent) in runs.iter().skip(1).zip(&runs) {
            prop_assert_eq!(&run.attenuated(&parent.bounds_of_children()), run);
        }
        let (leaf, above) = runs.split_last().unwrap();
        let decided = leaf.policy().check(tool, &input);
        let own = line.last().unwrap();
        for (run, is_above) in above.iter().map(|run| (run, true)).chain([(own, false)]) {
            let has = |run: &AgentSpec| tools(run).contains(&tool);
            // Which agents a run may start is its own definition's to say: what they do is held to all.
            let starts_agents = tool == "agent_tester" && is_above;
            if starts_agents && !has(run) {
                continue;
            }
            let may = run.policy().check(tool, &input);
            prop_assert!(rank(&decided) >= rank(&may), "{decided:?} where {may:?}");
            if let (Some((from, needed, within)), Some(asked)) = (terms(&may), terms(&decided)) {
                prop_assert!(from.is_none() || from == asked.0);
                prop_assert!(asked.1 >= needed);
                prop_assert!(within.is_none_or(|most| asked.2.is_some_and(|time| time <= most)));
            }
            prop_assert!(starts_agents || has(run) || !has(leaf));
            if is_above && !starts_agents && !has(run) {
                prop_assert_eq!(rank(&decided), 2);
            }
        }
    }

    #[test]
    fn held_to_nothing_a_definition_says_what_it_said(
        definition in definition(),
        tool in sample::select(TOOLS.to_vec()),
        input in input(),
    ) {
        let same = definition.attenuated(&[]);
        prop_assert_eq!(&same, &definition);
        prop_assert_eq!(same.policy().check(tool, &input), definition.policy().check(tool, &input));
    }
}

#[test]
fn a_call_is_held_to_what_the_bounds_say_of_its_tool_and_to_nothing_where_they_say_nothing() {
    let parent = agent(
        &["bash", "read_file"],
        ApprovalRules {
            allow: vec!["bash(command=ls)".into()],
            approve: vec!["bash".into(), "!read_*".into()],
            deny: vec!["read_file(path=secret/*)".into(), "mcp__*".into()],
            ..ApprovalRules::default()
        },
    );
    let child = agent(&["bash", "read_file"], ApprovalRules::default());
    assert!(child.bounds_of_call("bash").is_empty());
    let child = child.attenuated(&parent.bounds_of_children());
    let [of_bash] = child.bounds_of_call("bash").try_into().unwrap();
    assert_eq!(of_bash.approvals.approve, ["bash".into()]);
    assert_eq!(of_bash.approvals.allow, ["bash(command=ls)"]);
    assert!(of_bash.approvals.deny.is_empty());
    assert_eq!(of_bash.tools.len(), 1);
    let [of_reads] = child.bounds_of_call("read_file").try_into().unwrap();
    assert_eq!(of_reads.approvals.deny, ["read_file(path=secret/*)"]);
    assert!(of_reads.approvals.allow.is_empty());
    // A tool that the parent lacks is rejected, whatever the rules say.
    let lacking = child.bounds_of_call("mcp__push");
    assert_eq!(lacking, [Bounds::default()]);
    let unheld = agent(&["bash"], ApprovalRules::default());
    let unheld = child.attenuated(&unheld.bounds_of_children());
    assert_eq!(unheld.bounds_of_call("bash"), [of_bash], "said once");
}

proptest! {
    /// A part of the bounds says of a call of its tool what the whole says.
    #[test]
    fn a_call_is_judged_by_the_part_of_the_bounds_about_its_tool_as_by_all(
        above in vec(definition(), 0..4),
        tool in sample::select(TOOLS.to_vec()),
        input in input(),
    ) {
        let mut run = agent(&TOOLS, ApprovalRules::default());
        for parent in above {
            run = run.attenuated(&parent.bounds_of_children());
        }
        let call = JudgedCall::of_texts(tool, &input);
        let of = |bounds: &[Bounds]| {
            let judged = bounds.iter().map(|it| it.judge(&call));
            judged.fold(PermissionDecision::Allow, PermissionDecision::and)
        };
        let (part, whole) = (of(&run.bounds_of_call(tool)), of(&run.bounds));
        match (&part, &whole) {
            // It does not matter which of several reasons is given.
            (PermissionDecision::Deny(_), PermissionDecision::Deny(_)) => {}
            _ => prop_assert_eq!(part, whole),
        }
    }
}
