#![doc = include_str!("../README.md")]

mod agent_file;
mod demo;
pub mod script;

pub use agent_file::{
    AGENT_FILE, AgentFile, AgentFileError, DEFAULT_AGENT, Environment, OpenAgents, OpenOptions,
    Problem, ProcessEnvironment,
};
pub use demo::{DEMO_MODEL, DemoModel};
pub use script::{ScriptError, ScriptModel};
