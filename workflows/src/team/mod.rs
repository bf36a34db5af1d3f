//! Teams: agents that work together in a custom workflow, each team written once over the door.
//!
//! | Team | Its agents |
//! | --- | --- |
//! | [`pipeline`] | work one after the other, each on the answer of the one before |
//! | [`critique`] | are a writer and a critic: the text is revised until it is accepted, or often enough |
//! | [`parallel`] | work on the same prompt at the same time, and a judge makes one answer of theirs |
//!
//! They are functions that a workflow calls, as often as it likes and with whatever it likes between them. A workflow
//! that is replayed gets the same results again.

mod critique;
mod parallel;
mod pipeline;

pub use critique::{Critiqued, Remark, critique};
pub use parallel::{Judged, parallel};
pub use pipeline::{Piped, Said, pipeline};
