//! The protocol's own test server in an agent file.

use neuron_harness::mcp_program;
use serde_json::{Value, json};

use crate::support::Home;

/// Returns lines for an agent with `bash` and the tools of the server as a program, with more lines for the server. Its
/// process groups are written to the file `ids`, and its input to the file `seen`.
pub(crate) fn over_pipes(lines: &str) -> String {
    piped("", lines)
}

/// Returns the same with a shell command that filters the server's input.
pub(crate) fn over_pipes_through(command: &str) -> String {
    piped(&format!("{command} | "), "")
}

fn piped(through: &str, lines: &str) -> String {
    let program = mcp_program("mcp-server-everything");
    let script = format!("echo $$ >> ids; tee -a seen | {through}node {program} stdio");
    // The processes of the server are observed from outside.
    with_server(&format!(
        "command = [\"sh\", \"-c\", {script:?}]\nsandbox = \"off\"\n{lines}"
    ))
}

/// Returns the same with a server at an address.
pub(crate) fn over_http(url: &str) -> String {
    with_server(&format!("url = {url:?}"))
}

fn with_server(server: &str) -> String {
    format!(
        "tools = [\"bash\", \"mcp:everything\"]\nsandbox = \"off\"\nparallel_writes = true\n\n[agents.default.retry]\ninitial = \"10ms\" # Only so that it does not take long.\n\n\
         [mcp.everything]\n{server}"
    )
}

pub(crate) fn call(tool: &str, input: &Value) -> Value {
    json!({"name": format!("everything__{tool}"), "input": input})
}

/// Returns turns with this call, and "Done.".
pub(crate) fn one(tool: &str, input: &Value) -> Value {
    json!([{"tool_calls": [call(tool, input)]}, {"text": "Done."}])
}

/// Returns the names of the tools that the server offers to the agent.
pub(crate) fn offered(home: &Home) -> Vec<String> {
    let listed = home.neuron(&["mcp", "list", "--json"]).exits(0).json();
    let tools = listed[0]["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["own_name"].as_str().unwrap().to_owned())
        .collect()
}
