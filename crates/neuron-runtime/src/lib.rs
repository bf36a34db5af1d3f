//! The executor room: effects, local doors, the journal, agent files.
//!
//! | You want to | Use |
//! | --- | --- |
//! | make model and tool calls, with hooks around them | [`Executor`] |
//! | run an agent in this process, in one line | [`LocalAgent`] |
//! | run it in memory, with signals and cancellation | [`LocalDurableContext`] |
//! | keep a run through a crash | [`Journal`], [`JournaledContext`] |
//! | read `neuron.toml` | [`AgentFile`] |
//! | do without a model | [`DemoModel`], [`ScriptModel`] |
//! | see what is going on | [`EventSink`], `tracing` spans |
//! | show answers while they come | [`LocalAgent::run_stream`], [`EventSink::token`] |
//!
//! The executor acts and never retries: it makes one attempt a call. The doors here retry, as
//! [`next_delay`] says.
//!
//! ```
//! use neuron_runtime::{AgentFile, StepScope};
//! use neuron_types::{Message, RunId};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Without a key in the environment the demo model answers.
//! let environment = |_: &str| None::<String>;
//! let file = AgentFile::builtin(&environment);
//! let agent = file.agent("default")?;
//! let executor = file.executor(&agent, ".", &environment)?;
//!
//! let mut request = agent.request.clone();
//! request.messages.push(Message::user("hello"));
//! let options = agent.model_options(1);
//! let scope = StepScope::new(RunId::new("run-1")?, &options, 1, Default::default());
//! let answer = executor.call_model(&scope, &request).await?;
//! assert!(answer.message.text().contains("demo model"));
//! # Ok(())
//! # }
//! ```
//!
//! # Spans
//!
//! `llm_call` and `tool_execution`, with the `gen_ai.*` attributes of OpenTelemetry, the run, the turn and the
//! attempt. They hold no content and no key.

mod agent_file;
mod agent_stream;
mod attempts;
mod demo;
mod executor;
mod journal;
mod local;
mod local_agent;
mod price_list;
mod prices;
mod retry;
mod scope;
pub mod script;
mod sink;
mod stop;
mod token;

pub use agent_file::{
    AgentFile, AgentFileError, DEFAULT_AGENT, Environment, Problem, ProcessEnvironment,
};
pub use agent_stream::AgentEvent;
pub use demo::{DEMO_MODEL, DemoModel};
pub use executor::{Executor, ExecutorBuilder};
pub use journal::{
    Interrupt, Journal, JournalError, JournalOptions, JournaledContext, OpenTicket, ParkPolicy,
};
pub use local::{LocalDurableContext, LocalHandle};
pub use local_agent::LocalAgent;
pub use price_list::PriceList;
pub use prices::{LongPrompt, ModelPrice, Prices};
pub use retry::{lost_write, next_delay};
pub use scope::StepScope;
pub use script::{ScriptError, ScriptModel};
pub use sink::{EventSink, NoSink, RetryNotice};
pub use token::{Delta, TokenDelta};
