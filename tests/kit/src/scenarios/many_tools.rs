//! Agents with many tools, which their models search.

use neuron_types::{AgentSpec, FIND_TOOLS, ToolDefinition, ToolSearch};
use serde_json::json;

use super::held::{Held, killed_in};
use crate::{Host, Record, Stage, World, agent};

/// The largest size of the tools of the first request.
const MOST_BYTES: usize = 8_000;

/// Returns an agent with 400 tools of servers. The world has one of them.
fn many() -> AgentSpec {
    searching(400, ToolSearch::default())
}

/// An agent with 60 tools of servers, and a search above ten.
fn some() -> AgentSpec {
    let search = ToolSearch {
        above: 10,
        ..ToolSearch::default()
    };
    searching(60, search)
}

/// Returns an agent with this number of tools of servers. The world has one of them.
fn searching(tools: usize, search: ToolSearch) -> AgentSpec {
    let mut agent = AgentSpec {
        tool_search: Some(search),
        ..agent()
    };
    let others = (1..tools).map(|number| ToolDefinition {
        name: format!("server_{}__tool_{number}", number % 7),
        description: format!("Does the thing {number}, whatever that takes."),
        ..World::served_tool()
    });
    let tools = others.chain([World::served_tool()]);
    agent.head_mut().tools.extend(tools);
    agent
}

/// The steps of a run that searches a tool and calls it are killed: the first request contains few tools, the later
/// ones contain the loaded ones, and the result of the run is the same.
pub async fn killed_while_tools_are_searched<H: Host>(host: &H) {
    killed(host, "killed_searching", many).await;
}

/// As [`killed_while_tools_are_searched`], of an agent whose definition is small.
pub async fn killed_while_some_tools_are_searched<H: Host>(host: &H) {
    killed(host, "killed_searching_some", some).await;
}

async fn killed<H: Host>(host: &H, scenario: &str, agent: fn() -> AgentSpec) {
    let stage = Stage::open(host, scenario).await;
    let script = json!({"turns": [
        {"tool_calls": [{"name": FIND_TOOLS, "input": {"query": "create an issue at github", "limit": 1}}]},
        {"tool_calls": [{"name": "github__create_issue", "input": {"text": "created"}}]},
        {"text": "Done."},
    ]});
    let undisturbed = stage.submit("undisturbed", &script, agent()).await;
    let undisturbed = undisturbed.ends().await;
    let steps = [(1, 0), (2, 0), (2, 1), (3, 0)];
    let runs = steps.map(|step| Held::at(step, agent()));
    let killed = killed_in(&stage, &script, runs).await;
    for record in &killed {
        assert_eq!(record.course(), undisturbed.course(), "{}", record.name);
    }
    for record in killed.iter().chain([&undisturbed]) {
        check(&stage.world, record);
    }
}

fn check(world: &World, record: &Record) {
    let name = &record.name;
    let first = world.sent_tools(name, 1);
    assert!(first.bytes <= MOST_BYTES, "{name}: {first:?}");
    assert_eq!(first.names, ["look", "put", "write", FIND_TOOLS], "{name}");
    for turn in [2, 3] {
        let mut whole = first.names.clone();
        whole.push("github__create_issue".to_owned());
        let sent = world.sent_tools(name, turn).names;
        assert_eq!(sent, whole, "{name} in turn {turn}");
    }
    assert!(!record.attempts_at(2, 1).is_empty(), "{record:#?}");
}
