//! The executor room: effects, local doors, the journal, agent files.

mod agent_file;
mod attempts;
mod demo;
mod executor;
mod journal;
mod local;
mod local_agent;
mod prices;
mod retry;
mod scope;
pub mod script;
mod sink;
mod stop;

pub use agent_file::{
    AgentFile, AgentFileError, DEFAULT_AGENT, Environment, Problem, ProcessEnvironment,
};
pub use demo::{DEMO_MODEL, DemoModel};
pub use executor::{Executor, ExecutorBuilder};
pub use journal::{
    Interrupt, Journal, JournalError, JournalOptions, JournaledContext, OpenTicket, ParkPolicy,
};
pub use local::{LocalDurableContext, LocalHandle};
pub use local_agent::LocalAgent;
pub use prices::{ModelPrice, Prices};
pub use retry::next_delay;
pub use scope::StepScope;
pub use script::{ScriptError, ScriptModel};
pub use sink::{EventSink, NoSink, RetryNotice};
