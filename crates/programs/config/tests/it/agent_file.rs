mod activity;
mod anthropic;
mod approvers;
mod builtin;
mod checkup;
mod cost_limit;
mod defaults;
mod executor;
mod files;
mod find;
mod guards;
mod handoffs;
mod mcp;
mod openai;
mod places;
mod pools;
mod problems;
mod rates;
mod schema;
mod sessions;
mod skills;
mod spec;
mod tool_limits;
mod tool_search;
mod trust;
mod wants;

use std::path::PathBuf;

use neuron_config::{AgentFile, AgentFileError, Environment, OpenAgents, OpenOptions};
use neuron_types::AgentSpec;

/// Parses a file, and checks that the schema has the same opinion of it.
fn parse(text: &str) -> Result<AgentFile, AgentFileError> {
    let file = AgentFile::parse(text, "neuron.toml");
    schema::agrees(text, file.as_ref().err());
    file
}

/// Returns the definition of an agent.
fn definition(text: &str, name: &str) -> AgentSpec {
    parse(text).unwrap().definition(name).unwrap().clone()
}

/// Returns the agents of a file, at work in a folder with an environment. No MCP server is started.
fn open(
    text: &str,
    cwd: impl Into<PathBuf>,
    environment: impl Environment + Send + Sync + 'static,
) -> OpenAgents {
    opened(parse(text).unwrap(), cwd, environment)
}

fn opened(
    file: AgentFile,
    cwd: impl Into<PathBuf>,
    environment: impl Environment + Send + Sync + 'static,
) -> OpenAgents {
    let options = OpenOptions::new(cwd).environment(environment);
    futures::executor::block_on(file.open(options)).unwrap()
}

/// Returns an environment with these variables and no others.
fn variables(set: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
    move |name| {
        set.iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| (*value).to_owned())
    }
}
