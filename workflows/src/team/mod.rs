//! Teams: agents that work together in a workflow of one's own, each written once over the door.
//!
//! | Team | Its agents |
//! | --- | --- |
//! | [`pipeline`] | work one after the other, each on the answer of the one before |
//! | [`critique`] | are a writer and a critic: the text is mended until it is accepted, or often enough |
//! | [`parallel`] | work on the same at the same time, and a judge makes one answer of theirs |
//!
//! They are functions that a workflow calls, as often and with whatever between them it likes. A workflow that is replayed
//! makes the same of them again.

mod critique;
mod parallel;
mod pipeline;

pub use critique::{Critiqued, Remark, critique};
pub use parallel::{Judged, parallel};
pub use pipeline::{Piped, Said, pipeline};
