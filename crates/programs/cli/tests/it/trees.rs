//! Agents that start others, from the agent file.

use neuron_harness::HOSTILE_SERVER;
use serde_json::{Value, json};

use crate::support::{Home, eventually};

/// Returns a lead that gives a task to a helper, which makes a call first.
fn lead_and_helper(of_lead: &str) -> Home {
    let home = Home::new();
    home.write(
        "neuron.toml",
        &format!(
            r#"


[providers.lead]
kind = "script"
file = "lead.json"

[providers.helper]
kind = "script"
file = "helper.json"

[agents.default]
model = "lead/script"
subagents = ["helper"]
{of_lead}

[agents.helper]
description = "Makes things."
model = "helper/script"
tools = ["bash"]
"#
        ),
    );
    let asks = json!({"turns": [
        {"tool_calls": [{"name": "agent_helper", "input": {"prompt": "Make it."}}]},
        {"text": "It is made."},
    ]});
    let makes = json!({"turns": [
        {"tool_calls": [{"name": "bash", "input": {"command": "echo made >> made"}}]},
        {"text": "Made."},
    ]});
    home.write("lead.json", &asks.to_string());
    home.write("helper.json", &makes.to_string());
    home
}

#[test]
fn a_run_here_executes_the_runs_that_it_starts() {
    let home = lead_and_helper("tools = [\"bash\"]");
    home.neuron(&["run", "--id", "r1", "Go."])
        .exits(0)
        .prints("It is made.\n");
    assert_eq!(home.read("made"), "made\n");
    let status = home.status("r1");
    assert_eq!(status["children"][0]["run_id"], "r1.1-1");
    assert_eq!(status["children"][0]["agent"], "helper");
    assert_eq!(status["children"][0]["state"], "completed");
    assert_eq!(home.status("r1.1-1")["last_message"], "Made.");
    let shown = home.neuron(&["status", "r1"]).exits(0).stdout;
    assert!(
        shown.contains("child    r1.1-1  helper  completed"),
        "{shown}"
    );
}

#[test]
fn a_helper_does_not_make_calls_that_its_lead_may_not() {
    let home = lead_and_helper("");
    home.neuron(&["run", "--id", "r1", "Go."]).exits(0);
    assert!(!home.exists("made"));
}

#[test]
fn what_a_helper_asks_parks_the_run_and_is_decided_there() {
    let home = lead_and_helper("tools = [\"bash\"]\nask = [\"bash\"]");
    home.neuron(&["run", "--id", "r1", "Go."])
        .exits(3)
        .says("run r1.1-1 asks");
    assert!(!home.exists("made"));
    home.neuron(&["approve", "r1.1-1"]).exits(0);
    home.neuron(&["resume", "r1"])
        .exits(0)
        .prints("It is made.\n");
    assert_eq!(home.read("made"), "made\n");
}

#[test]
fn a_tree_that_waits_for_people_says_where_they_are_asked_and_counts_all_when_it_is_cancelled() {
    let home = lead_and_helper("tools = [\"bash\"]\nask = [\"bash\"]");
    let usage = json!({"input_tokens": 90, "output_tokens": 10});
    let makes = json!({"turns": [
        {"tool_calls": [{"name": "bash", "input": {"command": "echo made >> made"}}], "usage": usage},
    ]});
    home.write("helper.json", &makes.to_string());
    home.neuron(&["run", "--id", "r1", "Go."]).exits(3).says(
        "run r1 waits for people, who are asked in r1.1-1: neuron approvals r1 lists the questions",
    );
    home.neuron(&["cancel", "r1"]).exits(0);
    let status = home.status("r1");
    assert_eq!(status["children"][0]["state"], "cancelled");
    assert_eq!(status["children"][0]["usage"]["input_tokens"], 90);
    assert_eq!(status["tree_usage"]["output_tokens"], 10);
    assert_eq!(home.status("r1.1-1")["state"], "cancelled");
    let output = home.neuron(&["wait", "r1", "--json"]).stdout;
    let output: Value = serde_json::from_str(&output).unwrap();
    assert_eq!(output["tree"]["usage"]["input_tokens"], 90);
}

#[test]
fn a_worker_executes_the_runs_of_a_tree_and_a_cancel_ends_them() {
    let home = lead_and_helper("tools = [\"bash\"]\nask = [\"bash\"]");
    let worker = home.start(&["worker"]);
    home.neuron(&["submit", "--id", "r1", "Go."]).exits(0);
    eventually("the helper asks", || {
        home.exists("neuron.toml") && {
            let status = home.neuron(&["status", "r1.1-1", "--json"]);
            status.stdout.contains("waiting_for_approval")
        }
    });
    home.neuron(&["cancel", "r1"]).exits(0);
    for run in ["r1", "r1.1-1"] {
        eventually("it is cancelled", || {
            home.status(run)["state"] == "cancelled"
        });
    }
    worker.signal("TERM");
    worker.done().exits(0);
    assert!(!home.exists("made"));
}

/// Returns what the MCP server receives about the runs that call it, in order: the lead's call, and then that of its
/// helper.
fn said_to_a_server(lines: &str) -> Vec<Value> {
    let home = Home::new();
    home.write("said", "");
    let said = home.path("said");
    home.write(
        "neuron.toml",
        &format!(
            r#"
[providers.lead]
kind = "script"
file = "lead.json"

[providers.helper]
kind = "script"
file = "helper.json"

[mcp.h]
command = ["node", {HOSTILE_SERVER:?}, "meta", {said:?}]
sandbox = "off"
{lines}

[agents.default]
model = "lead/script"
tools = ["mcp:h"]
subagents = ["helper"]

[agents.helper]
description = "Makes things."
model = "helper/script"
tools = ["mcp:h"]
"#
        ),
    );
    let calls = json!({"name": "h__fine", "input": {}});
    let asks = json!({"name": "agent_helper", "input": {"prompt": "Make it."}});
    let lead =
        json!({"turns": [{"tool_calls": [calls]}, {"tool_calls": [asks]}, {"text": "Done."}]});
    let helper = json!({"turns": [{"tool_calls": [calls]}, {"text": "Made."}]});
    home.write("lead.json", &lead.to_string());
    home.write("helper.json", &helper.to_string());
    let whose = ["--tenant", "acme", "--label", "team=a"];
    home.neuron(&[&["run", "--id", "r1"][..], &whose, &["Go."]].concat())
        .exits(0);
    let said = home.read("said");
    let metas = said.lines().map(|line| {
        let mut meta: Value = serde_json::from_str(line).unwrap();
        let keys = meta.as_object_mut().unwrap();
        keys.retain(|key, _| key.starts_with("neuron/"));
        meta
    });
    metas.collect()
}

#[test]
fn a_server_that_a_helper_calls_learns_whose_the_run_at_the_top_is() {
    let of = |run: &str| {
        json!({
            "neuron/run": run,
            "neuron/root": "r1",
            "neuron/tenant": "acme",
            "neuron/labels": {"team": "a"},
        })
    };
    assert_eq!(said_to_a_server(""), [of("r1"), of("r1.2-1")]);
}

#[test]
fn a_server_that_is_to_know_nothing_of_a_tree_learns_nothing() {
    assert_eq!(said_to_a_server("tags = false"), [json!({}), json!({})]);
}
