#![doc = include_str!("../README.md")]

mod agent_file;
mod demo;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod script;
mod trust;

pub use agent_file::{
    AGENT_FILE, AgentFile, AgentFileError, DEFAULT_AGENT, Environment, OpenAgents, OpenOptions,
    Problem, ProcessEnvironment, ProviderCheckup, WantedAddress, WantedKey, WantedProgram, Wants,
};
pub use demo::{DEMO_MODEL, DemoModel};
pub use neuron_provider_http::{Check, Examined, Finding, MAX_REQUESTS, Verdict};
pub use script::{ScriptError, ScriptModel};
pub use trust::{TRUST_VARIABLE, TrustStore, check_trust, trust_store_path, trusts_all};
