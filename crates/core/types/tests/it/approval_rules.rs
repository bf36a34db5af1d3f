use crate::times::HOUR;
use neuron_types::{ApprovalRules, AskRule, Asking, PermissionDecision, PermissionPolicy};
use proptest::prelude::*;
use serde_json::{Value, json};

fn rules(approve: &[&str], deny: &[&str]) -> ApprovalRules {
    let owned = |entries: &[&str]| entries.iter().map(|&entry| entry.to_owned()).collect();
    ApprovalRules {
        approve: approve.iter().map(|&call| call.into()).collect(),
        deny: owned(deny),
        ..ApprovalRules::default()
    }
}

#[track_caller]
fn assert_verdicts(rules: &ApprovalRules, expected: &[(&str, &str)]) {
    for (tool, verdict) in expected {
        let said = match rules.check(tool, &Value::Null) {
            PermissionDecision::Allow => "allow",
            PermissionDecision::Deny(_) => "deny",
            PermissionDecision::Ask(_) => "ask",
        };
        assert_eq!((*tool, said), (*tool, *verdict));
    }
}

#[test]
fn without_entries_everything_is_allowed() {
    assert_verdicts(
        &rules(&[], &[]),
        &[("bash", "allow"), ("*", "allow"), ("", "allow")],
    );
}

#[test]
fn a_name_matches_that_tool_only() {
    let rules = rules(&["bash"], &["write_file"]);
    assert_verdicts(
        &rules,
        &[
            ("bash", "ask"),
            ("bash2", "allow"),
            ("Bash", "allow"),
            ("write_file", "deny"),
            ("read_file", "allow"),
        ],
    );
}

#[test]
fn a_star_matches_every_tool_but_the_exceptions_wherever_they_stand() {
    for approve in [["*", "!read_file"], ["!read_file", "*"]] {
        assert_verdicts(
            &rules(&approve, &[]),
            &[("bash", "ask"), ("read_file", "allow")],
        );
    }
    assert_verdicts(
        &rules(&[], &["*", "!read_file"]),
        &[("bash", "deny"), ("read_file", "allow")],
    );
}

#[test]
fn patterns_are_for_tools_and_arguments() {
    let owned = |entries: &[&str]| entries.iter().map(|&entry| entry.to_owned()).collect();
    let rules = ApprovalRules {
        allow: owned(&["bash(command=git status)"]),
        approve: [
            "bash",
            "mcp__git*hub__*",
            "!mcp__github__get_*",
            "add(/by/n=2?)",
        ]
        .map(AskRule::from)
        .into(),
        deny: owned(&["bash(command=*rm *-r*)", "read_file(path=*.env)"]),
        ..ApprovalRules::default()
    };
    let cases = [
        ("bash", json!({"command": "git status"}), "allow"),
        ("bash", json!({"command": "git status; ls"}), "ask"),
        ("bash", json!({"command": "cd /; rm  -v -r ."}), "deny"),
        ("bash", json!({}), "ask"),
        ("mcp__github__push", json!({}), "ask"),
        ("mcp__github__get_file", json!({}), "allow"),
        ("mcp__gitlab__push", json!({}), "allow"),
        ("add", json!({"by": {"n": 25}}), "ask"),
        ("add", json!({"by": {"n": 2}}), "allow"),
        ("read_file", json!({"path": "a/.env"}), "deny"),
        ("read_file", json!({"path": "a/.envrc"}), "allow"),
    ];
    for (tool, input, expected) in cases {
        let verdict = match rules.check(tool, &input) {
            PermissionDecision::Allow => "allow",
            PermissionDecision::Ask(_) => "ask",
            PermissionDecision::Deny(_) => "deny",
        };
        assert_eq!(verdict, expected, "{tool} {input}");
    }
}

#[test]
fn what_cannot_be_read_allows_nothing() {
    let broken = || vec!["bash(command".to_owned()];
    let allow = ApprovalRules {
        allow: broken(),
        approve: vec!["*".into()],
        ..ApprovalRules::default()
    };
    assert!(matches!(
        allow.check("bash", &Value::Null),
        PermissionDecision::Ask(_)
    ));
    let deny = ApprovalRules {
        deny: broken(),
        ..ApprovalRules::default()
    };
    assert!(matches!(
        deny.check("bash", &Value::Null),
        PermissionDecision::Deny(_)
    ));
}

#[test]
fn an_exception_alone_changes_nothing() {
    assert_verdicts(
        &rules(&["!bash"], &["!bash"]),
        &[("bash", "allow"), ("read_file", "allow")],
    );
}

#[test]
fn an_exception_holds_in_its_own_list_only() {
    assert_verdicts(
        &rules(&["*"], &["*", "!bash"]),
        &[("bash", "ask"), ("read_file", "deny")],
    );
}

#[test]
fn a_refusal_and_a_question_name_the_tool() {
    let rules = rules(&["bash"], &["write_file"]);
    assert_eq!(
        rules.check("bash", &Value::Null),
        PermissionDecision::Ask("the agent asks before it calls bash".into())
    );
    assert_eq!(
        rules.check("write_file", &Value::Null),
        PermissionDecision::Deny("the agent may not call write_file".into())
    );
}

#[test]
fn the_most_specific_question_says_who_is_asked_and_any_how_many() {
    let hour = HOUR;
    let plain = AskRule {
        needed: 2,
        from: Some("anybody".into()),
        ..AskRule::new("bash")
    };
    let push = AskRule {
        from: Some("ops".into()),
        within: Some(hour),
        then: Some("leads".into()),
        ..AskRule::new("bash(command=git push*)")
    };
    for approve in [[plain.clone(), push.clone()], [push, plain]] {
        let rules = ApprovalRules {
            approve: approve.into(),
            ..ApprovalRules::default()
        };
        let asked = |command: &str| match rules.check("bash", &json!({ "command": command })) {
            PermissionDecision::Ask(asking) => asking,
            other => panic!("{other:?}"),
        };
        let reason = "the agent asks before it calls bash";
        let expected = Asking {
            from: Some("ops".into()),
            needed: 2,
            within: Some(hour),
            then: Some("leads".into()),
            ..Asking::new(reason)
        };
        assert_eq!(asked("git push"), expected);
        let expected = Asking {
            from: Some("anybody".into()),
            needed: 2,
            ..Asking::new(reason)
        };
        assert_eq!(asked("ls"), expected);
    }
}

#[test]
fn a_question_that_says_only_its_calls_is_a_text() {
    let old = r#"{"approve":["bash"],"deny":[]}"#;
    let rules: ApprovalRules = serde_json::from_str(old).unwrap();
    assert_eq!(rules.approve, [AskRule::new("bash")]);
    assert_eq!(serde_json::to_string(&rules).unwrap(), old);
    let table = json!({"call": "bash", "needed": 2, "within_ms": 5000, "then": "leads"}); // Only read, never waited for.
    let rule: AskRule = serde_json::from_value(table.clone()).unwrap();
    assert_eq!(serde_json::to_value(rule).unwrap(), table);
}

fn entries() -> impl Strategy<Value = Vec<String>> {
    let entry = prop_oneof![Just("*"), Just("a"), Just("b"), Just("!a"), Just("!b")];
    proptest::collection::vec(entry.prop_map(str::to_owned), 0..4)
}

proptest! {
    #[test]
    fn deny_wins_over_approve(approve in entries(), deny in entries()) {
        let alone = ApprovalRules { deny: deny.clone(), ..ApprovalRules::default() };
        let approve = approve.into_iter().map(AskRule::from).collect();
        let both = ApprovalRules { approve, deny, ..ApprovalRules::default() };
        for tool in ["a", "b", "c"] {
            let denied = alone.check(tool, &Value::Null);
            if denied != PermissionDecision::Allow {
                prop_assert_eq!(both.check(tool, &Value::Null), denied);
            } else {
                let answer = both.check(tool, &Value::Null);
                prop_assert!(!matches!(answer, PermissionDecision::Deny(_)));
            }
        }
    }

    #[test]
    fn the_order_of_entries_does_not_matter(approve in entries(), deny in entries()) {
        let approve = approve.into_iter().map(AskRule::from).collect();
        let rules = ApprovalRules { approve, deny, ..ApprovalRules::default() };
        let mut reversed = rules.clone();
        reversed.approve.reverse();
        reversed.deny.reverse();
        for tool in ["a", "b", "c"] {
            prop_assert_eq!(
                rules.check(tool, &Value::Null),
                reversed.check(tool, &Value::Null)
            );
        }
    }
}
