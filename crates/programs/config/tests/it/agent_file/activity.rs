use neuron_types::{ActivitySettings, Placement, StepId, ToolCall};

use super::{definition, parse};
use crate::times::{MINUTE, SECOND};

fn problems(lines: &str) -> String {
    let text = format!("[agents.a]\nmodel = \"demo/demo\"\ntools = [\"grep\", \"bash\"]\n{lines}");
    parse(&text).expect_err(lines).to_string()
}

#[test]
fn settings_of_a_tool_go_before_those_of_its_agent() {
    let agent = definition(
        r#"
[agents.default]
model = "demo/demo"
tools = ["grep", "bash", "glob"]
heartbeat_timeout = "30s"
priority = 4
placement = "local"

[agents.default.tool.bash]
timeout = "1h"
heartbeat_timeout = "5m"
task_queue = "builders"
priority = 5

[agents.default.tool.glob]
placement = "activity"
"#,
        "default",
    );
    let of = |name: &str| {
        let call = ToolCall {
            id: String::new(),
            name: name.into(),
            input: serde_json::Value::Null,
            ..ToolCall::default()
        };
        agent.tool_options(&call, StepId::default()).activity
    };
    let agents = ActivitySettings {
        heartbeat_timeout: Some(30 * SECOND),
        priority: Some(4),
        placement: Some(Placement::Local),
        ..ActivitySettings::default()
    };
    assert_eq!(agent.activity, agents);
    assert_eq!(of("grep"), agents);
    let bash = of("bash");
    assert_eq!(bash.heartbeat_timeout, Some(5 * MINUTE));
    assert_eq!(bash.task_queue.as_deref(), Some("builders"));
    assert_eq!(bash.priority, Some(5));
    assert_eq!(bash.placement, Some(Placement::Activity));
    assert_eq!(
        of("glob"),
        ActivitySettings {
            placement: Some(Placement::Activity),
            ..agents.clone()
        }
    );
    assert_eq!(agent.model_options(1).activity, agents);
}

#[test]
fn what_no_engine_could_do_is_refused_with_its_key_and_line() {
    let long = format!("task_queue = \"{}\"", "q".repeat(1_001));
    let cases = [
        "heartbeat_timeout = \"500ms\"",
        "heartbeat_timeout = \"11m\"",
        "heartbeat_timeout = 10",
        "task_queue = \" \"",
        &long,
        "priority = 0",
        "priority = 6",
        "priority = \"high\"",
        "placement = \"worker\"",
        "plaecment = \"local\"",
        "[agents.a.tool.bash]\nplacement = \"local\"",
        "[agents.a.tool.grep]\ntimeout = \"5s\"\nheartbeat_timeout = \"10s\"",
        "[agents.a.tool.grep]\nplacement = \"local\"\ntask_queue = \"other\"",
        "[agents.a.tool.grep]\nplacement = \"local\"\nheartbeat_timeout = \"2s\"\npriority = 1",
        "[agents.a.tool.grep]\nqueue = \"other\"",
    ];
    let said = cases.map(|case| {
        let shown: String = case.chars().take(100).collect();
        format!("{shown}\n  {}", problems(case).replace('\n', "\n  "))
    });
    insta::assert_snapshot!(said.join("\n\n"));
}
