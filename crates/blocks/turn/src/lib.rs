#![doc = include_str!("../README.md")]

mod asked_effect;
mod call_record;
mod carry_out;
mod config;
mod effect;
mod effect_tool;
mod error;
mod exit_reason;
mod in_memory_state;
mod input;
mod output;
mod overridden;
mod record;
mod recording;
mod state_reader;
mod trigger;
mod turn;

pub use call_record::ToolCallRecord;
pub use carry_out::{EffectFailed, EffectHandler, carry_out};
pub use config::TurnConfig;
pub use effect::{Effect, LogLevel};
pub use effect_tool::EffectTool;
pub use error::TurnError;
pub use exit_reason::ExitReason;
pub use in_memory_state::InMemoryState;
pub use input::TurnInput;
pub use output::{TurnMetadata, TurnOutput};
pub use record::Record;
pub use recording::Recording;
pub use state_reader::{StateError, StateReader};
pub use trigger::Trigger;
pub use turn::Turn;
