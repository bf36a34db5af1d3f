//! `neuron mcp`, and runs with the tools of MCP servers.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
};

use neuron_harness::{HOSTILE_SERVER, mcp_program};
use serde_json::{Value, json};

use crate::support::Home;

/// Returns an agent that calls `h__fine` and `h__evil`.
fn home(mode: &str) -> Home {
    let turns = json!([
        {"tool_calls": [
            {"name": "h__fine", "input": {}},
            {"name": "h__evil", "input": {}},
        ]},
        {"text": "Done."},
    ]);
    let lines = format!(
        "tools = [\"read_file\", \"mcp:h\"]\n\n[mcp.h]\ncommand = [\"node\", {HOSTILE_SERVER:?}, {mode:?}]"
    );
    Home::with_script(&turns, &lines)
}

#[test]
fn lists_what_a_server_offers_and_what_is_left_out() {
    let home = home("names");
    let listed = home.neuron(&["mcp", "list", "--json"]).exits(0).json();
    assert_eq!(listed[0]["server"], "h");
    assert_eq!(listed[0]["tools"][0]["name"], "h__fine");
    assert_eq!(listed[0]["tools"][0]["own_name"], "fine");
    assert_eq!(listed[0]["tools"][0]["effects"], "read_only");
    assert_eq!(listed[0]["left_out"].as_array().unwrap().len(), 4);
    let text = home.neuron(&["mcp", "list", "h"]).exits(0).stdout;
    assert!(text.contains("tool     h__fine  read-only"), "{text}");
    assert!(text.contains("left out"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn a_run_says_once_which_tools_of_a_server_cannot_be_used_and_why() {
    let home = home("names");
    let ran = home.neuron(&["run", "Go.", "--id", "mcp"]).exits(0);
    let lines = ran.stderr.lines();
    let lines: Vec<_> = lines.filter(|line| line.contains("left out: ")).collect();
    let [line] = lines.as_slice() else {
        panic!("it is said once: {}", ran.stderr);
    };
    let empty = "the tool \"\" of the MCP server h is left out: it has no name";
    assert!(line.contains(empty), "{line}");
    assert!(
        line.contains("of the MCP server h is left out: another tool"),
        "{line}"
    );
    assert!(!line.contains('\u{1b}'), "{line:?}");

    let events = home.neuron(&["events", "mcp", "--json"]).exits(0);
    let events = events.json_lines();
    let answers = |event: &&Value| event["type"] == "model_responded";
    assert_eq!(events.iter().filter(answers).count(), 2);
    let told = |event: &&Value| event["type"] == "left_out";
    let told: Vec<_> = events.iter().filter(told).collect();
    let [told] = told.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(told["turn"], 1);
    let what = told["what"].as_array().unwrap();
    assert_eq!(what.len(), 4, "{what:?}");
    assert!(what.contains(&json!(empty)), "{what:?}");
}

#[test]
fn a_server_that_does_not_start_is_named_with_the_reason() {
    let home = home("stillborn");
    let listed = home.neuron(&["mcp", "list", "--json"]).exits(2).json();
    let error = listed[0]["error"].as_str().unwrap();
    assert!(error.contains("cannot find my configuration"), "{error}");
    let run = home.neuron(&["run", "Go."]).exits(2).stderr;
    assert!(run.contains("the MCP server h did not initialise"), "{run}");
    let unknown = home.neuron(&["mcp", "list", "x"]).exits(2).stderr;
    assert!(unknown.contains("unknown MCP server \"x\""), "{unknown}");
}

#[test]
fn a_run_calls_the_tools_and_survives_what_they_answer() {
    let home = home("invalid-json");
    let output = home
        .neuron(&["run", "Go.", "--id", "mcp", "--json"])
        .exits(0)
        .json();
    assert_eq!(output["output"], "Done.");
    let events = home.neuron(&["events", "mcp", "--json"]).exits(0).stdout;
    assert!(
        events.contains("h__fine") && events.contains("h__evil"),
        "{events}"
    );
}

#[test]
fn serves_the_tools_of_an_agent_over_its_standard_input_and_output() {
    let home = home("refuses");
    home.write("a.txt", "hello");
    let mut child = home
        .command(&["mcp", "serve"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |message: Value| {
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    };
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    let mut answer = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    ask(initialize);
    assert_eq!(answer()["result"]["serverInfo"]["name"], "neuron");
    ask(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    ask(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    let tools = answer();
    let tools = tools["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["h__evil", "h__fine", "read_file"]);
    let call = |id: u32, name: &str, arguments: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params":
            {"name": name, "arguments": arguments}})
    };
    ask(call(3, "read_file", json!({"path": "a.txt"})));
    assert!(
        answer()["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("hello")
    );
    ask(call(4, "h__fine", json!({})));
    assert_eq!(answer()["result"]["content"][0]["text"], "fine");
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn an_address_that_others_can_reach_is_not_served_without_a_token() {
    let home = home("refuses");
    let stderr = home
        .neuron(&["mcp", "serve", "--http", "0.0.0.0:0"])
        .exits(2)
        .stderr;
    assert!(
        stderr.contains("can be reached from other machines"),
        "{stderr}"
    );
    assert!(!stderr.contains("serving"), "{stderr}");
}

#[test]
fn passes_the_inspector_over_standard_input_and_output() {
    let home = home("refuses");
    home.write("a.txt", "hello");
    let folder = home.path("");
    let folder = folder.as_path();
    // The inspector passes on no variable except those that every program has.
    home.neuron(&["trust"]).exits(0);
    let inspect = |args: &[&str]| -> Value {
        let ran = Command::new("node")
            .arg(mcp_program("mcp-inspector"))
            .args(["--cli", env!("CARGO_BIN_EXE_neuron"), "mcp", "serve"])
            .args(args)
            .current_dir(folder)
            .env("HOME", home.person())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let complaint = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{complaint}");
        serde_json::from_slice(&ran.stdout).unwrap()
    };
    let list = inspect(&["--method", "tools/list"]);
    assert_eq!(list["tools"].as_array().unwrap().len(), 3, "{list}");
    let call = [
        "--method",
        "tools/call",
        "--tool-name",
        "read_file",
        "--tool-arg",
        "path=a.txt",
    ];
    let read = inspect(&call);
    let text = read["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("hello"), "{read}");
}
