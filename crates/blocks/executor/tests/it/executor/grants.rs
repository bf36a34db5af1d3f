use std::{sync::Arc, time::Duration};

use neuron_executor::{Agents, Executor, Executors, StepScope};
use neuron_testing::effects::{TestHook, TestTool, call, scope, text_of};
use neuron_tool::{BuiltinOptions, ToolRegistry, builtin_tools};
use neuron_types::{
    AgentSpec, Approval, ApprovalRules, AskRule, Decision, FailureKind, HookAction, HookEvent,
    Needed, Overrides, RequestHead, Ticket, ToolAnnotations, ToolCall, ToolDefinition,
    ToolDyn as _, ToolEffects, ToolOutput, ticket_digest,
};
use serde_json::json;

fn registry(tools: &[&TestTool]) -> ToolRegistry {
    let mut registry = ToolRegistry::new();
    for tool in tools {
        registry.register_dyn(Arc::new((*tool).clone()));
    }
    registry
}

/// An agent that has these tools.
fn agent(tools: Vec<ToolDefinition>) -> AgentSpec {
    let head = RequestHead {
        tools,
        ..RequestHead::default()
    };
    AgentSpec {
        head: head.into(),
        ..AgentSpec::default()
    }
}

/// The call of the tool that a person approved.
fn approved(args: serde_json::Value) -> ToolCall {
    let mut ticket = Ticket {
        ticket: "t2-1".into(),
        run: Some(scope().run_id),
        tool: Some("echo".into()),
        args: Some(args.clone()),
        ..Ticket::default()
    };
    ticket.digest = ticket_digest(&ticket, None, None);
    let approval = Approval::of(&ticket, vec![Decision::approve(&ticket)], "", None);
    let call = call("echo", args);
    ToolCall {
        approval: Some(Box::new(approval.beside(&call.input))),
        ..call
    }
}

#[tokio::test]
async fn a_tool_that_the_agent_has_no_more_is_not_called() {
    let (kept, gone) = (
        TestTool::echo(),
        TestTool::new("gone", |_, _| async { Ok(ToolOutput::text("made")) }),
    );
    let executor = Executor::builder().tools(registry(&[&kept, &gone])).build();
    let executor = executor.granting(&agent(vec![kept.definition()]));
    let output = executor.call_tool(&scope(), &call("gone", json!({}))).await;
    let output = output.unwrap();
    assert!(output.is_error);
    assert_eq!(text_of(&output), "there is no tool \"gone\": use echo");
    assert!(gone.calls().is_empty());
}

#[tokio::test]
async fn what_the_agent_denies_now_is_not_called_whatever_the_run_began_with() {
    let tool = TestTool::echo();
    let redirect = TestHook(|event: &HookEvent<'_>| {
        Ok(match event {
            HookEvent::PreToolExecution { input, .. } if input["text"] == "changed" => {
                let input = json!({"text": "secret plans"});
                HookAction::ModifyToolInput { input }
            }
            _ => HookAction::Continue,
        })
    });
    let builder = Executor::builder().tools(registry(&[&tool]));
    let executor = builder.hook(redirect).build().granting(&AgentSpec {
        approvals: ApprovalRules {
            deny: vec!["echo(text=secret*)".into()],
            ..ApprovalRules::default()
        },
        ..agent(vec![tool.definition()])
    });
    for (text, is_denied) in [("secret", true), ("changed", true), ("public", false)] {
        let echo = call("echo", json!({ "text": text }));
        let output = executor.call_tool(&scope(), &echo).await.unwrap();
        assert_eq!(output.is_error, is_denied, "{text}: {}", text_of(&output));
        assert_eq!(text_of(&output).starts_with("denied: "), is_denied);
    }
    assert_eq!(tool.calls(), [json!({"text": "public"})]);
}

#[tokio::test]
async fn what_is_denied_is_denied_under_every_name_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir(root.join("open")).unwrap();
    std::fs::create_dir(root.join("closed")).unwrap();
    std::os::unix::fs::symlink("../closed", root.join("open/link")).unwrap();
    let tools = ToolRegistry::from_iter(builtin_tools(&BuiltinOptions::default()));
    let mut spec = agent(tools.definitions());
    spec.approvals = ApprovalRules {
        deny: vec!["write_file(path=closed/*)".into()],
        ..ApprovalRules::default()
    };
    let executor = Executor::builder().tools(tools).cwd(root).build();
    let executor = executor.granting(&spec);
    let absolute = root.join("closed/x").display().to_string();
    for path in [
        "closed/x",
        "./open/../closed//x",
        "open/link/x",
        absolute.as_str(),
    ] {
        let write = call("write_file", json!({"path": path, "content": "x"}));
        let output = executor.call_tool(&scope(), &write).await.unwrap();
        assert!(
            text_of(&output).starts_with("denied: "),
            "{path}: {}",
            text_of(&output)
        );
    }
    assert!(!root.join("closed/x").exists());
    let write = call("write_file", json!({"path": "open/x", "content": "x"}));
    assert!(!executor.call_tool(&scope(), &write).await.unwrap().is_error);
}

#[tokio::test]
async fn what_is_allowed_by_one_name_only_is_not_called_without_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir(root.join("src")).unwrap();
    std::fs::create_dir(root.join("other")).unwrap();
    std::os::unix::fs::symlink("../other", root.join("src/link")).unwrap();
    let tools = ToolRegistry::from_iter(builtin_tools(&BuiltinOptions::default()));
    let mut spec = agent(tools.definitions());
    spec.approvals = ApprovalRules {
        allow: vec!["write_file(path=src/*)".into()],
        approve: vec!["write_file".into()],
        ..ApprovalRules::default()
    };
    let executor = Executor::builder().tools(tools).cwd(root).build();
    let executor = executor.granting(&spec);
    for (path, is_made) in [("src/x", true), ("src/link/x", false), ("other/x", false)] {
        let write = call("write_file", json!({"path": path, "content": "x"}));
        let made = executor.call_tool(&scope(), &write).await;
        let failed = made.as_ref().map_err(|failure| failure.kind).err();
        assert_eq!(failed.is_none(), is_made, "{path}: {made:?}");
        assert!(failed.is_none_or(|kind| kind == FailureKind::NotApproved));
        assert_eq!(root.join(path).exists(), is_made, "{path}");
    }
}

#[tokio::test]
async fn what_a_hook_makes_of_a_call_is_asked_about_for_no_other_reason_than_the_call() {
    let tool = TestTool::echo();
    let redirect = TestHook(|event: &HookEvent<'_>| {
        Ok(match event {
            HookEvent::PreToolExecution { input, .. } if input["text"] != "plain" => {
                let input = json!({"text": "changed"});
                HookAction::ModifyToolInput { input }
            }
            _ => HookAction::Continue,
        })
    });
    let builder = Executor::builder().tools(registry(&[&tool]));
    let executor = builder.hook(redirect).build().granting(&AgentSpec {
        approvals: ApprovalRules {
            approve: vec!["echo(text=c*)".into()],
            ..ApprovalRules::default()
        },
        ..agent(vec![tool.definition()])
    });
    for (text, is_made) in [("plain", true), ("free", false), ("checked", true)] {
        let echo = approved(json!({ "text": text }));
        let output = executor.call_tool(&scope(), &echo).await.unwrap();
        assert_eq!(!output.is_error, is_made, "{text}: {}", text_of(&output));
    }
    assert_eq!(
        tool.calls(),
        [json!({"text": "plain"}), json!({"text": "changed"})]
    );
}

#[tokio::test]
async fn a_write_is_not_called_for_a_run_that_takes_it_for_none() {
    let tool = TestTool::echo();
    let executor = Executor::builder().tools(registry(&[&tool])).build();
    let writes = executor.clone().granting(&agent(vec![tool.definition()]));
    let harmless = ToolDefinition {
        annotations: Some(ToolAnnotations {
            idempotent_hint: Some(true),
            ..ToolAnnotations::default()
        }),
        ..tool.definition()
    };
    let repeats = executor.granting(&agent(vec![harmless]));
    let mut taken_for = scope();
    for (executor, effects, is_called) in [
        (&writes, ToolEffects::ReadOnly, false),
        (&writes, ToolEffects::Idempotent, false),
        (&writes, ToolEffects::Write, true),
        (&repeats, ToolEffects::ReadOnly, true),
        (&repeats, ToolEffects::Write, true),
    ] {
        taken_for.effects = effects;
        let echo = call("echo", json!({"text": "x"}));
        let output = executor.call_tool(&taken_for, &echo).await.unwrap();
        assert_eq!(output.is_error, !is_called, "{effects:?}");
    }
    assert_eq!(tool.calls().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn no_attempt_takes_longer_than_the_agent_lets_it() {
    let tool = TestTool::new("slow", |_, context| async move {
        context.cancellation_token.cancelled().await;
        Ok::<_, neuron_types::ToolError>(std::future::pending().await)
    });
    let executor = Executor::builder().tools(registry(&[&tool])).build();
    let executor = executor.granting(&AgentSpec {
        tool_timeout: Duration::from_secs(2), // The clock is paused.
        ..agent(vec![tool.definition()])
    });
    let failure = executor.call_tool(&scope(), &call("slow", json!({}))).await;
    let failure = failure.unwrap_err();
    assert_eq!(failure.kind, FailureKind::OutcomeUnknown);
    assert!(failure.message.contains("within 2s"), "{}", failure.message);
}

#[tokio::test]
async fn what_is_granted_and_not_here_is_left_to_another_worker() {
    let executor = Executor::builder().build();
    let tool = TestTool::echo();
    // An executor without grants has all the tools that there are.
    assert!(executor.check(None, Needed::Tool("echo")).is_ok());
    let executor = executor.granting(&agent(vec![tool.definition()]));
    for failure in [
        executor.check(None, Needed::Tool("echo")).unwrap_err(),
        executor
            .call_tool(&scope(), &call("echo", json!({"text": "x"})))
            .await
            .unwrap_err(),
        executor
            .check(None, Needed::Provider(Some("p")))
            .unwrap_err(),
        executor
            .check(Some("critic"), Needed::Tool("echo"))
            .unwrap_err(),
    ] {
        assert_eq!(failure.kind, FailureKind::NoWorker, "{failure}");
    }
}

#[tokio::test]
async fn the_executors_of_a_worker_grant_what_its_agents_have() {
    let tool = TestTool::echo();
    let executor = Executor::builder().tools(registry(&[&tool])).build();
    let agents: Agents = [agent(Vec::new())].into_iter().collect();
    let all = Executors::from(executor.clone()).granting(&agents);
    let named = [("default".to_owned(), executor)];
    let named = Executors::by_agent(named).granting(&agents);
    let echo = call("echo", json!({"text": "x"}));
    for (executors, agent, is_error) in [
        (&all, "default", true),
        (&all, "another", false),
        (&named, "default", true),
    ] {
        let executor = executors.of(agent).unwrap();
        let output = executor.call_tool(&scope(), &echo).await.unwrap();
        assert_eq!(output.is_error, is_error, "{agent}: {}", text_of(&output));
    }
    assert!(named.of("another").is_err());
}

#[tokio::test]
async fn what_the_runs_above_deny_is_denied_under_every_name_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir(root.join("open")).unwrap();
    std::fs::create_dir(root.join("secret")).unwrap();
    std::fs::write(root.join("secret/code"), "4711").unwrap();
    std::fs::write(root.join("open/note"), "nothing").unwrap();
    std::os::unix::fs::symlink("../secret", root.join("open/link")).unwrap();
    let tools = ToolRegistry::from_iter(builtin_tools(&BuiltinOptions::default()));
    let spec = agent(tools.definitions());
    let parent = AgentSpec {
        approvals: ApprovalRules {
            deny: vec!["read_file(path=secret/*)".into()],
            ..ApprovalRules::default()
        },
        ..spec.clone()
    };
    let child = spec.attenuated(&parent.bounds_of_children());
    let held = StepScope {
        bounds: child.bounds_of_call("read_file"),
        effects: ToolEffects::ReadOnly,
        ..scope()
    };
    let executor = Executor::builder().tools(tools).cwd(root).build();
    let absolute = root.join("secret/code").display().to_string();
    // Whether or not anything is granted.
    for executor in [executor.clone().granting(&spec), executor] {
        for path in [
            "secret/code",
            "./open/../secret//code",
            "open/link/code",
            absolute.as_str(),
        ] {
            let read = call("read_file", json!({ "path": path }));
            let output = executor.call_tool(&held, &read).await.unwrap();
            assert!(
                text_of(&output).starts_with("denied: "),
                "{path}: {}",
                text_of(&output)
            );
        }
        let read = call("read_file", json!({"path": "open/note"}));
        let output = executor.call_tool(&held, &read).await.unwrap();
        assert!(!output.is_error, "{}", text_of(&output));
    }
}

#[tokio::test]
async fn what_a_run_above_asks_about_is_asked_about_where_a_path_leads_and_by_a_hook_not_let_through()
 {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir(root.join("secret")).unwrap();
    std::fs::write(root.join("secret/code"), "4711").unwrap();
    std::os::unix::fs::symlink("secret", root.join("link")).unwrap();
    let tools = ToolRegistry::from_iter(builtin_tools(&BuiltinOptions::default()));
    let spec = agent(tools.definitions());
    let parent = AgentSpec {
        approvals: ApprovalRules {
            approve: vec![AskRule {
                from: Some("ops".into()),
                ..AskRule::new("read_file(path=secret/*)")
            }],
            ..ApprovalRules::default()
        },
        ..spec.clone()
    };
    let child = spec.attenuated(&parent.bounds_of_children());
    let held = StepScope {
        bounds: child.bounds_of_call("read_file"),
        effects: ToolEffects::ReadOnly,
        ..scope()
    };
    let redirect = TestHook(|event: &HookEvent<'_>| {
        Ok(match event {
            HookEvent::PreToolExecution { input, .. } if input["path"] == "note" => {
                let input = json!({"path": "link/code"});
                HookAction::ModifyToolInput { input }
            }
            _ => HookAction::Continue,
        })
    });
    let builder = Executor::builder().tools(tools).cwd(root).hook(redirect);
    let executor = builder.build().granting(&spec);
    let read = call("read_file", json!({"path": "link/code"}));
    let failure = executor.call_tool(&held, &read).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotApproved);
    let asking = failure.asking.unwrap();
    assert_eq!(asking.from.as_deref(), Some("ops"));
    let read = call("read_file", json!({"path": "note"}));
    let output = executor.call_tool(&held, &read).await.unwrap();
    assert!(
        text_of(&output).starts_with("not called: "),
        "{}",
        text_of(&output)
    );
}

#[tokio::test]
async fn what_a_caller_refuses_is_refused_where_a_path_leads() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir(root.join("secret")).unwrap();
    std::fs::write(root.join("secret/code"), "4711").unwrap();
    std::os::unix::fs::symlink("secret", root.join("link")).unwrap();
    let tools = ToolRegistry::from_iter(builtin_tools(&BuiltinOptions::default()));
    let spec = agent(tools.definitions());
    let asked = Overrides {
        deny: vec!["read_file(path=secret/*)".into()],
        ..Overrides::default()
    };
    let run = spec.narrowed(&asked).unwrap();
    let held = StepScope {
        bounds: run.bounds_of_call("read_file"),
        effects: ToolEffects::ReadOnly,
        ..scope()
    };
    let executor = Executor::builder().tools(tools).cwd(root).build();
    let executor = executor.granting(&spec);
    let read = call("read_file", json!({"path": "link/code"}));
    let output = executor.call_tool(&held, &read).await.unwrap();
    assert!(
        text_of(&output).starts_with("denied: "),
        "{}",
        text_of(&output)
    );
}
