//! The errors of an agent file and of its use.

use std::{error::Error, fmt, path::PathBuf};

use neuron_mcp::McpError;
use neuron_sandbox::SandboxError;

use crate::{
    agent_file::{
        text::problem::{Meant, Problem},
        wants::Wants,
    },
    script::ScriptError,
};

/// An agent file, or something that an agent of it needs, cannot be used. The text is for people: what is wrong, then
/// what to do. It never contains a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentFileError {
    /// There is no such file.
    #[error("there is no agent file {}", .path.display())]
    NoFile {
        /// Where it should be.
        path: PathBuf,
    },
    /// The file could not be read.
    #[error("the agent file {} cannot be read: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is wrong.
    #[error("{}", Lines { problems })]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Everything that is wrong with it and with the files that it includes, by file and line.
        problems: Vec<Problem>,
    },
    /// The file was only found, and no person has trusted it as it is.
    #[error(
        "the agent file {} was found here, and its current content is not trusted; it would {}",
        .path.display(),
        .wants.lines().join("; ")
    )]
    Untrusted {
        /// The file.
        path: PathBuf,
        /// What it is to be trusted with.
        wants: Box<Wants>,
    },
    /// There is no such agent.
    #[error("{}", unknown("agent", name, known))]
    UnknownAgent {
        /// The name that was asked for.
        name: String,
        /// The existing agents.
        known: Vec<String>,
    },
    /// The agent names a provider that does not exist.
    #[error(
        "the agent {agent} cannot be used here: {}",
        unknown("provider", name, known)
    )]
    UnknownProvider {
        /// The agent.
        agent: String,
        /// The provider that it names.
        name: String,
        /// The existing providers.
        known: Vec<String>,
    },
    /// The agent has a tool that does not exist.
    #[error(
        "the agent {agent} cannot be used here: {}",
        unknown("tool", name, known)
    )]
    UnknownTool {
        /// The agent.
        agent: String,
        /// The tool that it has.
        name: String,
        /// The existing tools.
        known: Vec<String>,
    },
    /// There is no such provider.
    #[error("{}", unknown("provider", name, known))]
    NoProvider {
        /// The name that was asked for.
        name: String,
        /// The existing providers.
        known: Vec<String>,
    },
    /// The provider's model answers in this process.
    #[error("the provider {provider} has no server: its model answers in this process")]
    NoServer {
        /// The provider.
        provider: String,
    },
    /// No agent has a model of the provider, and none was named.
    #[error("no agent has a model of the provider {provider}: name one with --model")]
    NoModel {
        /// The provider.
        provider: String,
    },
    /// The provider needs a key and has none.
    #[error("the provider {provider} has no key: set the variable {}", .variables.join(" or "))]
    MissingKey {
        /// The provider.
        provider: String,
        /// The variables that may hold it.
        variables: Vec<String>,
    },
    /// The provider's key would go to another machine unencrypted.
    #[error(
        "the key of the provider {provider} would go to {host} unencrypted: use an address that begins with https://, or write insecure = true for the provider in the agent file"
    )]
    Unencrypted {
        /// The provider.
        provider: String,
        /// The machine.
        host: String,
    },
    /// The agent has a cost limit, and the price of one of its models is not known here.
    #[error(
        "the agent {agent} cannot be used here: its limit cost_usd cannot be enforced, because the price of {model} \
         is not known{why}: add [prices.\"{model}\"] to the agent file"
    )]
    UnknownPrice {
        /// The agent.
        agent: String,
        /// The model, as `provider/model`.
        model: String,
        /// Why the price is unknown, to be read after the rest; empty if the model has no price anywhere.
        why: String,
    },
    /// The agent's commands cannot be confined here.
    #[error("the agent {agent} cannot be used here: {source}")]
    Sandbox {
        /// The agent.
        agent: String,
        /// Why.
        source: SandboxError,
    },
    /// An MCP server cannot be used.
    #[error(transparent)]
    Mcp(#[from] McpError),
    /// An agent uses an MCP server, and this build has no support for them.
    #[error("the MCP server {server} cannot be started: this build is without MCP")]
    McpNotBuilt {
        /// The server.
        server: String,
    },
    /// There is no such MCP server.
    #[error("{}", unknown("MCP server", name, known))]
    UnknownMcpServer {
        /// The name that was asked for.
        name: String,
        /// The existing servers.
        known: Vec<String>,
    },
    /// An MCP server is to get a variable that is not set.
    #[error("the MCP server {server} needs the variable {variable}: set it")]
    McpVariable {
        /// The server.
        server: String,
        /// The variable.
        variable: String,
    },
    /// There is no program of this name for an MCP server.
    #[error(
        "the MCP server {server} cannot be started: there is no program {program}: install it, or correct its command"
    )]
    McpProgram {
        /// The server.
        server: String,
        /// The program.
        program: String,
    },
    /// An MCP server of the agent was not started, as the agent was not opened.
    #[error(
        "the agent {agent} uses the MCP server {server}, which was not started: open the agent too"
    )]
    McpNotStarted {
        /// The agent.
        agent: String,
        /// The server.
        server: String,
    },
    /// An MCP server no longer offers a tool that a run was started with.
    #[error(
        "the agent {agent} was started with the tool {tool}, which the MCP server {server} does not offer any more: bring the tool back, or start a new run"
    )]
    McpToolGone {
        /// The agent.
        agent: String,
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// The provider replays a script that cannot be used.
    #[error("the provider {provider} cannot be used: {source}")]
    Script {
        /// The provider.
        provider: String,
        /// Why.
        source: ScriptError,
    },
    /// The provider's client could not be made.
    #[error("the provider {provider} cannot be used: {source}")]
    Client {
        /// The provider.
        provider: String,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
}

fn unknown(what: &str, name: &str, known: &[String]) -> String {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let meant = Meant {
        name,
        known: &known,
    };
    format!("unknown {what} {name:?}: {meant}")
}

struct Lines<'a> {
    problems: &'a [Problem],
}

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let newline = if index > 0 { "\n" } else { "" };
            let path = problem.path.display();
            write!(f, "{newline}{path}:{}: {}", problem.line, problem.message)?;
        }
        Ok(())
    }
}
