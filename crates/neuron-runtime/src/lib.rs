//! The executor room: effects, local doors, the journal, agent files.

mod attempts;
mod executor;
mod journal;
mod local;
mod prices;
mod retry;
mod scope;
mod sink;
mod stop;

pub use executor::{Executor, ExecutorBuilder};
pub use journal::{
    Interrupt, Journal, JournalError, JournalOptions, JournaledContext, OpenTicket, ParkPolicy,
};
pub use local::{LocalDurableContext, LocalHandle};
pub use prices::{ModelPrice, Prices};
pub use retry::next_delay;
pub use scope::StepScope;
pub use sink::{EventSink, NoSink, RetryNotice};
