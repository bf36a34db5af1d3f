//! Hooks that are programs.

use std::time::Duration;

use neuron_guards::{CommandHook, Program};
use neuron_types::{Hook as _, HookAction, HookEvent};
use serde_json::{Value, json};

use crate::scripts::Script;

async fn asked(lines: &str) -> HookAction {
    let script = Script::new(lines);
    let hook = CommandHook::new("own", script.program());
    hook.on_event(&HookEvent::LoopIteration { turn: 3 })
        .await
        .unwrap()
}

#[tokio::test]
async fn say_each_action_and_all_is_well_where_they_say_nothing() {
    let reason = || "why".to_owned();
    for (answer, expected) in [
        ("", HookAction::Continue),
        (" \\n", HookAction::Continue),
        ("{\"action\":\"continue\"}", HookAction::Continue),
        (
            "{\"action\":\"skip\",\"reason\":\"why\"}",
            HookAction::Skip { reason: reason() },
        ),
        (
            "{\"action\":\"terminate\",\"reason\":\"why\"}",
            HookAction::Terminate { reason: reason() },
        ),
        (
            "{\"action\":\"modify\",\"input\":{\"a\":[1]}}",
            HookAction::ModifyToolInput {
                input: json!({"a": [1]}),
            },
        ),
    ] {
        assert_eq!(asked(&format!("printf '{answer}'")).await, expected);
    }
}

#[tokio::test]
async fn read_each_event_that_they_are_asked_about() {
    let script = Script::new("cat > asked");
    let input = json!({"command": "ls"});
    let hook = CommandHook::new("own", script.program());
    for (event, expected) in [
        (
            HookEvent::SessionStart { run_id: "r" },
            json!({"event": "session_start", "run_id": "r"}),
        ),
        (
            HookEvent::LoopIteration { turn: 2 },
            json!({"event": "loop_iteration", "turn": 2}),
        ),
        (
            HookEvent::PreToolExecution {
                tool_name: "bash",
                input: &input,
            },
            json!({"event": "pre_tool_execution", "tool_name": "bash", "input": {"command": "ls"}}),
        ),
        (
            HookEvent::ContextCompaction {
                old_tokens: 9,
                new_tokens: 1,
            },
            json!({"event": "context_compaction", "old_tokens": 9, "new_tokens": 1}),
        ),
        (
            HookEvent::ExitCheck { turn: 2 },
            json!({"event": "exit_check", "turn": 2}),
        ),
        (
            HookEvent::SessionEnd { run_id: "r" },
            json!({"event": "session_end", "run_id": "r"}),
        ),
    ] {
        let action = hook.on_event(&event).await.unwrap();
        assert_eq!(action, HookAction::Continue);
        let read: Value = serde_json::from_str(&script.wrote("asked")).unwrap();
        assert_eq!(read, expected);
        assert!(CommandHook::EVENTS.contains(&expected["event"].as_str().unwrap()));
    }
}

#[tokio::test]
async fn are_not_started_for_other_events() {
    let missing = Program::new(["/nowhere/check"]);
    let hook = CommandHook::new("own", missing).on(["pre_tool_execution"]);
    let other = hook.on_event(&HookEvent::LoopIteration { turn: 1 }).await;
    assert_eq!(other.unwrap(), HookAction::Continue);
    let input = json!({});
    let event = HookEvent::PreToolExecution {
        tool_name: "bash",
        input: &input,
    };
    let HookAction::Terminate { reason } = hook.on_event(&event).await.unwrap() else {
        panic!("it is not there");
    };
    assert!(
        reason.starts_with("the hook own failed: the program \"/nowhere/check\" could not"),
        "{reason}"
    );
}

#[tokio::test]
async fn that_fail_end_the_run_unless_that_is_ignored() {
    for (lines, why) in [
        ("echo ok", "its answer is no action"),
        ("echo '{}'", "its answer is no action"),
        ("echo '{\"action\":\"skip\"}'", "its answer is no action"),
        (
            "echo '{\"action\":\"modify\",\"input\":{},\"reason\":\"a\"}'",
            "its answer is no action",
        ),
        (
            "echo no >&2; exit 2",
            "the program \"sh\" ended with exit status: 2: no",
        ),
        (
            "exec yes",
            "the program \"sh\" answered more than 1048576 bytes",
        ),
    ] {
        let script = Script::new(lines);
        let hook = CommandHook::new("own", script.program());
        let event = HookEvent::ExitCheck { turn: 1 };
        let HookAction::Terminate { reason } = hook.on_event(&event).await.unwrap() else {
            panic!("{lines}");
        };
        let expected = format!("the hook own failed: {why}");
        assert!(reason.starts_with(&expected), "{reason}");
        let ignored = hook.ignoring_failures().on_event(&event).await;
        assert_eq!(ignored.unwrap_err().message, reason);
    }
}

#[tokio::test]
async fn have_no_more_than_their_time() {
    const SHORT: Duration = Duration::from_millis(1); // It never answers, so that any time is too short.
    let script = Script::new("exec tail -f /dev/null");
    let hook = CommandHook::new("own", script.program().timeout(SHORT));
    let event = HookEvent::ExitCheck { turn: 1 };
    assert_eq!(
        hook.on_event(&event).await.unwrap(),
        HookAction::Terminate {
            reason: "the hook own failed: it said nothing within 1ms".to_owned()
        }
    );
}
