//! Rules about paths.

use neuron_types::{
    AgentSpec, ApprovalRules, ArgumentKind, CallPattern, CallerRules, JudgedCall,
    PermissionDecision, PermissionPolicy as _, RunPolicy, ToolDefinition,
};
use proptest::{prelude::*, sample::select};
use serde_json::json;

fn write_file() -> ToolDefinition {
    ToolDefinition {
        name: "write_file".into(),
        arguments: [("path".to_owned(), ArgumentKind::Path)].into(),
        ..ToolDefinition::default()
    }
}

fn agent() -> AgentSpec {
    let mut agent = AgentSpec {
        approvals: ApprovalRules {
            allow: vec!["write_file(path=src/*)".into()],
            approve: vec!["write_file".into()],
            deny: vec![
                "write_file(/path=*.lock)".into(),
                "write_file(path=.env)".into(),
            ],
            ..ApprovalRules::default()
        },
        ..AgentSpec::default()
    };
    agent.head_mut().tools.push(write_file());
    agent
}

fn said(policy: &RunPolicy, path: &str) -> &'static str {
    match policy.check("write_file", &json!({ "path": path })) {
        PermissionDecision::Allow => "allow",
        PermissionDecision::Ask(_) => "ask",
        PermissionDecision::Deny(_) => "deny",
    }
}

#[test]
fn paths_are_compared_by_where_they_lead() {
    let policy = agent().policy();
    for (path, expected) in [
        ("src/x", "allow"),
        ("./src/../src//x", "allow"),
        ("src/../x", "ask"),
        ("src/../../src/x", "ask"),
        ("/work/src/x", "ask"),
        ("Cargo.lock", "deny"),
        ("Cargo.lock/.", "deny"),
        ("src/a.lock/", "deny"),
        ("./.env", "deny"),
        ("src/../.env", "deny"),
        ("../work/.env", "deny"),
        ("/work/.env", "deny"),
        ("src/.env", "allow"),
    ] {
        assert_eq!(said(&policy, path), expected, "{path}");
    }
}

#[test]
fn where_the_directory_is_known_a_path_from_the_root_is_as_one_in_it() {
    let policy = agent().policy().in_directory("/work");
    for (path, expected) in [
        ("/work/src/x", "allow"),
        ("../work/src/x", "allow"),
        ("/work/../work/src/x", "allow"),
        ("/src/x", "ask"),
        ("/other/.env", "ask"),
        ("/work/.env", "deny"),
    ] {
        assert_eq!(said(&policy, path), expected, "{path}");
    }
}

#[test]
fn each_path_of_a_list_counts() {
    let rules = ApprovalRules {
        allow: vec!["write_file(path=src/*)".into()],
        approve: vec!["*".into()],
        deny: vec!["write_file(path=.env)".into()],
        ..ApprovalRules::default()
    };
    let policy = RunPolicy::new(rules, &CallerRules::default()).with_tools([&write_file()]);
    let check = |path| policy.check("write_file", &json!({ "path": path }));
    assert_eq!(
        check(json!(["src/a", "./src/b"])),
        PermissionDecision::Allow
    );
    assert!(matches!(
        check(json!(["src/a", "b"])),
        PermissionDecision::Ask(_)
    ));
    assert!(matches!(
        check(json!(["src/a", "./.env"])),
        PermissionDecision::Deny(_)
    ));
}

#[test]
fn a_prefix_is_the_directory_of_the_path() {
    let definition = write_file();
    for (path, expected) in [
        ("./src/../src/a/x", Some("write_file(path=src/a/*)")),
        ("x", Some("write_file(path=*)")),
        ("../x", None),
        ("/etc/x", None),
        (".", None),
    ] {
        let input = json!({ "path": path });
        let call = JudgedCall::new("write_file", &input, Some(&definition.arguments), None);
        let prefix = call.prefix();
        assert_eq!(prefix.as_deref(), expected, "{path}");
        if let Some(prefix) = prefix {
            assert!(CallPattern::parse(&prefix).unwrap().allows(&call), "{path}");
        }
    }
}

#[test]
fn what_a_tool_does_not_say_is_compared_as_text() {
    let rules = ApprovalRules {
        deny: vec!["write_file(path=.env)".into()],
        ..ApprovalRules::default()
    };
    let policy = RunPolicy::new(rules, &CallerRules::default());
    assert_eq!(said(&policy, ".env"), "deny");
    assert_eq!(said(&policy, "./.env"), "allow");
}

proptest! {
    #[test]
    fn no_spelling_of_a_path_gets_around_a_denial(
        detours in prop::collection::vec(select(&["./", ".//", "x/../", "a/b/../../", "./y/.././"][..]), 0..4),
        end in select(&["", "/", "/.", "//", "/x/.."][..]),
    ) {
        let path = format!("{}.env{end}", detours.concat());
        prop_assert_eq!(said(&agent().policy(), &path), "deny", "{}", path);
        let path = format!("{}src/x{end}", detours.concat());
        prop_assert_eq!(said(&agent().policy(), &path), "allow", "{}", path);
    }
}
