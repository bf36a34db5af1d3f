//! The executor room: effects, local doors, the journal, agent files.

mod executor;
mod prices;
mod scope;

pub use executor::{Executor, ExecutorBuilder};
pub use prices::{ModelPrice, Prices};
pub use scope::StepScope;
