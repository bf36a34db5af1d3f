//! What the commands show about a run and the runs below it, and decide there.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::support::{HELD_UP, Home, eventually};

/// Returns a lead with two helpers. Each has a leaf do something.
pub(crate) fn three_levels(of_leaf: &str, command: &str) -> Home {
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

[providers.leaf]
kind = "script"
file = "leaf.json"

[agents.default]
model = "lead/script"
tools = ["bash"]
subagents = ["helper"]

[agents.helper]
description = "Makes things."
model = "helper/script"
tools = ["bash"]
subagents = ["leaf"]

[agents.leaf]
description = "Makes one thing."
model = "leaf/script"
tools = ["bash"]
{of_leaf}
"#
        ),
    );
    let calls = |tool: &str, count: usize| {
        let call = json!({"name": tool, "input": {"prompt": "Make it."}});
        json!({
            "tool_calls": vec![call; count],
            "usage": {"input_tokens": 100, "output_tokens": 20},
            "cost_usd": "0.001",
        })
    };
    let says = |text: &str| {
        json!({
            "text": text,
            "usage": {"input_tokens": 10, "output_tokens": 2},
            "cost_usd": "0.002",
        })
    };
    let makes = json!({"tool_calls": [{"name": "bash", "input": {"command": command}}]});
    for (file, turns) in [
        ("lead.json", json!([calls("agent_helper", 2), says("All.")])),
        ("helper.json", json!([calls("agent_leaf", 1), says("Two.")])),
        ("leaf.json", json!([makes, says("One.")])),
    ] {
        home.write(file, &json!({ "turns": turns }).to_string());
    }
    home
}

fn asks() -> Home {
    let home = three_levels("ask = [\"bash\"]", "echo made >> made");
    home.neuron(&["run", "--id", "r1", "Go."]).exits(3);
    home
}

fn ended() -> Home {
    let home = three_levels("", "true");
    home.neuron(&["run", "--id", "r1", "Go."]).exits(0);
    home
}

fn ids<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    let list = list.as_array().unwrap().iter();
    list.map(|one| one[key].as_str().unwrap()).collect()
}

const ALL: [&str; 5] = ["r1", "r1.1-1", "r1.1-1.1-1", "r1.1-2", "r1.1-2.1-1"];

#[test]
fn the_status_of_a_tree_is_a_picture_and_a_sum() {
    let home = asks();
    let text = home.neuron(&["status", "r1", "--tree"]).exits(0).stdout;
    insta::assert_snapshot!(text);
    let alone = home.neuron(&["status", "r1.1-1.1-1", "--tree"]);
    assert_eq!(alone.exits(0).stdout.lines().count(), 2);
}

#[test]
fn the_status_of_a_tree_is_one_json_document() {
    let home = ended();
    let status = home
        .neuron(&["status", "r1", "--tree", "--json"])
        .exits(0)
        .json();
    assert_eq!(status["run_id"], "r1");
    let tree = &status["tree"];
    assert_eq!(ids(tree, "run_id"), ALL);
    assert_eq!(tree[0]["parent"], Value::Null);
    assert_eq!(tree[2]["parent"], "r1.1-1");
    assert_eq!(tree[2]["depth"], 2);
    assert_eq!(tree[2]["agent"], "leaf");
    assert_eq!(tree[2]["state"], "completed");
    assert_eq!(tree[2]["turn"], 2);
    assert_eq!(status["tree_total"]["runs"], 5);
    assert_eq!(status["tree_total"]["usage"]["input_tokens"], 350);
    let waits = asks();
    let status = waits.neuron(&["status", "r1", "--tree", "--json"]).json();
    assert_eq!(status["tree"][2]["approvals"][0]["ticket"], "t1-1");
}

#[test]
fn a_run_of_a_tree_that_is_gone_is_named_and_the_others_are_shown() {
    let home = ended();
    home.neuron(&["rm", "r1.1-2"]).exits(0);
    let text = home.neuron(&["status", "r1", "--tree"]).exits(0).stdout;
    let gone = "r1.1-2          helper   not known: there is no run r1.1-2 here\n";
    assert!(text.contains(gone), "{text}");
    let status = home.neuron(&["status", "r1", "--tree", "--json"]).json();
    let why = &status["tree"][3]["unknown"];
    assert_eq!(why, "there is no run r1.1-2 here");
    assert_eq!(status["tree_total"]["usage"]["input_tokens"], 350);
    let events = home.neuron(&["events", "r1", "--tree", "--json"]).exits(0);
    let events = events.says("run r1.1-2 cannot be read: there is no run r1.1-2 here");
    let mut lines = events.json_lines().into_iter();
    assert!(lines.any(|event| event["run"] == "r1.1-1"));
    let shown = home.neuron(&["show", "r1", "--tree"]).exits(0).stdout;
    let gone = "run r1.1-2, agent helper\n  [not complete: there is no run r1.1-2 here]";
    assert!(shown.contains(gone), "{shown}");
    home.neuron(&["approvals", "r1"]).exits(0).prints("");
}

#[test]
fn the_events_of_a_tree_come_in_order_of_time_and_name_their_runs() {
    let home = ended();
    let events = home.neuron(&["events", "r1", "--tree", "--json"]);
    let events = events.exits(0).json_lines();
    let mut of_runs: Vec<_> = events.iter().map(|e| e["run"].as_str().unwrap()).collect();
    assert_eq!(of_runs.first(), Some(&"r1"));
    assert_eq!(of_runs.last(), Some(&"r1"));
    // The times are compared as times: the text of a whole millisecond is shorter than that of the microsecond after
    // it.
    let times: Vec<DateTime<Utc>> = events
        .iter()
        .map(|event| serde_json::from_value(event["at"].clone()).unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    for run in ALL {
        let alone = home.neuron(&["events", run, "--json"]).json_lines();
        let numbers = events.iter().filter(|event| event["run"] == run);
        let numbers: Vec<_> = numbers
            .map(|event| event["seq"].as_u64().unwrap())
            .collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        assert_eq!(numbers.len(), alone.len());
    }
    of_runs.sort_unstable();
    of_runs.dedup();
    assert_eq!(of_runs, ALL);
    let mut started = events.iter();
    let started = started.find(|event| event["type"] == "child_started");
    assert_eq!(started.unwrap()["run_id"], "r1.1-1", "and not the lead's");
    let text = home.neuron(&["events", "r1", "--tree"]).exits(0).stdout;
    assert!(text.starts_with("r1              1  "), "{text}");
    assert!(text.contains("\nr1.1-2.1-1      1  "), "{text}");
}

#[test]
fn whoever_follows_a_tree_sees_all_of_it_until_its_end() {
    let home = three_levels("", HELD_UP);
    let run = home.start(&["run", "--id", "r1", "Go."]);
    home.await_file("begun");
    let follow = home.start(&["events", "r1", "--tree", "--follow", "--json"]);
    home.write("go", "");
    run.done().exits(0);
    let followed = follow.done().exits(0).json_lines();
    let ends = followed.iter().filter(|event| event["type"] == "run_ended");
    let mut ends: Vec<_> = ends.map(|event| event["run"].as_str().unwrap()).collect();
    ends.sort_unstable();
    assert_eq!(ends, ALL);
}

#[test]
fn whoever_follows_a_tree_is_told_when_nobody_goes_on_with_it() {
    let home = asks();
    home.neuron(&["events", "r1", "--tree", "--follow"])
        .exits(3)
        .says("run r1.1-2.1-1 is waiting for approval")
        .says("`neuron approvals r1` lists the questions; continue it with: neuron resume r1");
}

#[test]
fn the_transcripts_of_a_tree_follow_each_other_under_their_names() {
    let home = ended();
    let text = home.neuron(&["show", "r1", "--tree"]).exits(0).stdout;
    let heads = text.lines().filter(|line| line.contains(", agent "));
    let expected = [
        "run r1, agent default",
        "run r1.1-1, agent helper",
        "run r1.1-1.1-1, agent leaf",
        "run r1.1-2, agent helper",
        "run r1.1-2.1-1, agent leaf",
    ];
    assert_eq!(heads.collect::<Vec<_>>(), expected);
    assert!(text.contains("$ true"), "{text}");
    let list = home.neuron(&["show", "r1", "--tree", "--json"]);
    assert_eq!(ids(&list.exits(0).json(), "run_id"), ALL);
    home.neuron(&["show", "r1", "--tree", "--turn", "1"])
        .exits(2)
        .says("--turn");
}

#[test]
fn the_tickets_of_a_tree_are_listed_and_decided_at_its_top() {
    let home = asks();
    let open = home.neuron(&["approvals", "r1", "--json"]).exits(0).json();
    assert_eq!(ids(&open, "run_id"), ["r1.1-1.1-1", "r1.1-2.1-1"]);
    for child in ["r1.1-1.1-1", "r1.1-2.1-1"] {
        home.neuron(&["approve", "r1", &format!("{child}/t1-1")])
            .exits(0)
            .says("continue it with: neuron resume r1\n");
    }
    home.neuron(&["approvals", "r1"]).exits(0).prints("");
    home.neuron(&["resume", "r1"]).exits(0).prints("All.\n");
    assert_eq!(home.read("made"), "made\nmade\n");
}

#[test]
fn a_decision_is_not_made_about_a_run_outside_of_the_tree() {
    let home = asks();
    home.neuron(&["run", "--id", "r2", "Go."]).exits(3);
    home.neuron(&["approve", "r1", "r2.1-1.1-1/t1-1"])
        .exits(2)
        .says("run r2.1-1.1-1 is not below run r1: r1.1-1, r1.1-1.1-1, r1.1-2, r1.1-2.1-1 are");
    home.neuron(&["deny", "r1.1-1.1-1", "r1/t1-1"])
        .exits(2)
        .says("run r1 is not below run r1.1-1.1-1: there is no run below it");
    let open = home.neuron(&["approvals", "--json"]).exits(0).json();
    assert_eq!(open.as_array().unwrap().len(), 4, "nothing was decided");
}

#[test]
fn where_only_runs_below_have_the_ticket_it_is_said_what_to_type() {
    let home = asks();
    for named in [&["deny", "r1"][..], &["deny", "r1", "t1-1"]] {
        home.neuron(named)
            .exits(2)
            .says("r1.1-1.1-1/t1-1, r1.1-2.1-1/t1-1 are open")
            .says("as in `neuron deny r1 r1.1-1.1-1/t1-1`");
    }
    home.neuron(&["answer", "r1.1-2", "t1-1", "yes"])
        .exits(2)
        .says(
            "run r1.1-2 has no open ticket t1-1, and below it r1.1-2.1-1/t1-1 is open: type \
             `neuron answer r1.1-2 r1.1-2.1-1/t1-1 TEXT`",
        );
    home.neuron(&["approve", "r1", "t9"])
        .exits(2)
        .says("run r1 has no ticket t9");
}

#[test]
fn a_ticket_that_is_decided_at_the_top_of_a_tree_goes_on_at_once_in_a_worker() {
    let home = three_levels("ask = [\"bash\"]", "echo made >> made");
    let worker = home.start(&["worker"]);
    home.neuron(&["submit", "--id", "r1", "Go."]).exits(0);
    for child in ["r1.1-1.1-1", "r1.1-2.1-1"] {
        eventually("the leaf asks", || {
            let open = home.neuron(&["approvals", "r1", "--json"]).stdout;
            open.contains(child)
        });
        let ticket = format!("{child}/t1-1");
        home.neuron(&["deny", "r1", &ticket, "--comment", "Not now."])
            .exits(0);
    }
    home.neuron(&["wait", "r1"]).exits(0).prints("All.\n");
    worker.signal("TERM");
    worker.done().exits(0);
    assert!(!home.exists("made"));
}
