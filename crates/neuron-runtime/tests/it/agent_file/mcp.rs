//! Agents with the tools of MCP servers.

use std::path::Path;

use neuron_runtime::{AgentFile, AgentFileError, ProcessEnvironment};
use neuron_types::ToolDefinition;

/// A server with the tools `fine` and `evil`.
const SERVER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../neuron-mcp/tests/it/hostile.mjs"
);

fn file() -> AgentFile {
    let text = format!(
        "[mcp.h]\ncommand = [\"node\", {SERVER:?}, \"refuses\"]\n\n\
         [mcp.unused]\ncommand = [\"no-such-program\"]\n\n\
         [agents.default]\nmodel = \"demo/demo\"\ntools = [\"read_file\", \"mcp:h\"]\n\
         approve = [\"mcp:h\", \"!h__fine\"]\ndeny = [\"!mcp:h\"]\n\n\
         [agents.default.tool.h__fine]\ntimeout = \"1s\"\n\n\
         [agents.plain]\nmodel = \"demo/demo\"\n"
    );
    AgentFile::parse(&text, "neuron.toml").unwrap()
}

fn names(tools: &[ToolDefinition]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}

#[tokio::test]
async fn a_run_carries_the_tools_that_its_servers_have_when_it_starts() {
    let mut file = file();
    let cwd = Path::new(".");
    let servers = file
        .start_mcp(["default"], cwd, &ProcessEnvironment)
        .await
        .unwrap();
    assert!(
        servers.names().eq(["h"]),
        "only what the agent uses is started"
    );
    let agent = file.agent("default").unwrap();
    assert_eq!(
        names(&agent.request.tools),
        ["h__evil", "h__fine", "read_file"]
    );
    assert_eq!(agent.approvals.approve, ["h__fine", "h__evil", "!h__fine"]);
    assert_eq!(agent.approvals.deny, ["!h__fine", "!h__evil"]);
    let executor = file.executor(&agent, cwd, &ProcessEnvironment).unwrap();
    assert!(
        executor
            .tools()
            .names()
            .eq(["h__evil", "h__fine", "read_file"])
    );
    servers.stop().await;

    // The same agent later, with a tool that the server has lost since.
    let mut later = self::file();
    let mut agent = agent;
    let servers = later
        .start_mcp_for(&agent, cwd, &ProcessEnvironment)
        .await
        .unwrap();
    later.executor(&agent, cwd, &ProcessEnvironment).unwrap();
    agent.request.tools[0].name = "h__gone".into();
    let error = later
        .executor(&agent, cwd, &ProcessEnvironment)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the agent default was started with the tool h__gone, which the MCP server h does not offer any \
         more: bring the tool back, or start a new run"
    );
    servers.stop().await;
}

#[tokio::test]
async fn an_agent_is_of_no_use_before_its_servers_were_started() {
    let mut file = file();
    assert!(file.agent("plain").is_ok());
    let error = file.agent("default").unwrap_err();
    assert!(
        matches!(error, AgentFileError::McpNotStarted { .. }),
        "{error}"
    );
    let cwd = Path::new(".");
    let servers = file
        .start_mcp(["plain"], cwd, &ProcessEnvironment)
        .await
        .unwrap();
    assert_eq!(servers.names().count(), 0);
    assert!(file.agent("default").is_err());
}

#[tokio::test]
async fn a_server_that_needs_a_variable_says_so() {
    let text = "[mcp.h]\ncommand = [\"node\"]\nenv = [\"NEURON_NO_SUCH_VARIABLE\"]\n\
                [agents.default]\nmodel = \"demo/demo\"\ntools = [\"mcp:h\"]";
    let mut file = AgentFile::parse(text, "neuron.toml").unwrap();
    let started = file
        .start_mcp(["default"], Path::new("."), &ProcessEnvironment)
        .await;
    assert_eq!(
        started.unwrap_err().to_string(),
        "the MCP server h needs the variable NEURON_NO_SUCH_VARIABLE: set it"
    );
}

fn problems(lines: &str) -> String {
    let text = format!(
        "[mcp.h]\ncommand = [\"node\"]\n{lines}\n\n\
         [agents.default]\nmodel = \"openai/small\"\ntools = [\"mcp:h\"]\n\n\
         [agents.other]\nmodel = \"openai/large\"\ntools = [\"mcp:h\"]\n\n\
         [agents.third]\nmodel = \"demo/demo\"\n"
    );
    match AgentFile::parse(&text, "neuron.toml") {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_server_may_ask_one_model_that_is_plain_to_see() {
    assert_eq!(problems("elicitation = true"), "");
    assert_eq!(
        problems("sampling = \"openai/small\"\nsampling_max_tokens = 9"),
        ""
    );
    assert_eq!(
        problems("sampling = true"),
        "neuron.toml:3: sampling in [mcp.h] is true, and the agents that use this server have different \
         models: write the model, as in \"openai/gpt-6.1-terra\""
    );
    assert_eq!(
        problems("sampling_max_tokens = 9"),
        "neuron.toml:3: sampling_max_tokens in [mcp.h] has no use without sampling"
    );
    let unknown = problems("sampling = \"nobody/small\"");
    assert!(
        unknown.contains("unknown provider \"nobody\" in sampling of [mcp.h]"),
        "{unknown}"
    );
    let nonsense = problems("sampling = 3");
    assert!(nonsense.contains("sampling in [mcp.h] is 3"), "{nonsense}");
}
