//! The turn protocol: one exchange with an agent, and the effects that it asks its caller for.
//!
//! ```
//! use std::sync::Arc;
//!
//! use neuron::{Agent, Model, turn::{AgentTurn, Effect, InMemoryState, Turn, TurnInput, carry_out}};
//! # use neuron_config::ScriptModel;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let script = ScriptModel::parse(r#"{"turns": [
//! #     {"tool_calls": [{"name": "write_memory", "input": {"scope": "user", "key": "city", "value": "Lisbon"}}]},
//! #     {"text": "Noted."}
//! # ]}"#)?;
//! let agent = Agent::builder("clerk").model(Model::of(script, "script")).build()?;
//! let state = Arc::new(InMemoryState::new());
//! let turn: Box<dyn Turn> = Box::new(AgentTurn::new(&agent).state(state.clone()));
//!
//! let output = turn.execute(TurnInput::text("I live in Lisbon.")).await?;
//! assert_eq!(output.text(), "Noted.");
//! assert_eq!(state.value("user", "city"), None);
//!
//! // The turn has written nothing: its caller does.
//! carry_out(output.effects, &[&*state]).await?;
//! assert_eq!(state.value("user", "city"), Some(json!("Lisbon")));
//! # Ok(())
//! # }
//! ```

mod agent_turn;
mod watching;

pub use agent_turn::AgentTurn;
pub use neuron_turn::*;
