//! The scenarios of the conformance kit. Each panics if the host does not do what it must.

mod answers;
mod approvals;
mod cancelling;
mod context;
mod engine;
mod failures;
mod hooks;
mod killing;
mod limits;
mod messages;
mod rolling;
mod status;
mod timeouts;
mod turns;
mod volume;
mod writes;

pub use answers::*;
pub use approvals::*;
pub use cancelling::*;
pub use context::*;
pub use engine::*;
pub use failures::*;
pub use hooks::*;
pub use killing::*;
pub use limits::*;
pub use messages::*;
pub use rolling::*;
pub use status::*;
pub use timeouts::*;
pub use turns::*;
pub use volume::*;
pub use writes::*;
