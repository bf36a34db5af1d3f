mod activity;
mod anthropic;
mod builtin;
mod executor;
mod mcp;
mod openai;
mod problems;
mod spec;
mod tool_limits;

use neuron_runtime::{AgentFile, AgentFileError};

fn parse(text: &str) -> Result<AgentFile, AgentFileError> {
    AgentFile::parse(text, "neuron.toml")
}

/// An environment with these variables and no others.
fn variables(set: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
    move |name| {
        set.iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| (*value).to_owned())
    }
}
