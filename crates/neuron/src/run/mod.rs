//! A run: what happens in it, its questions, and its result.

mod finished;
mod follower;
mod handle;
mod item;
mod queue;
mod reader;
mod run_failure;
mod started;
mod ticket;
mod unanswered;

pub use finished::Finished;
pub use handle::Run;
pub use item::RunItem;
pub use run_failure::RunFailure;
pub use started::Started;
pub use ticket::Ticket;
pub(crate) use {queue::Queue, ticket::Way, unanswered::Unanswered};
