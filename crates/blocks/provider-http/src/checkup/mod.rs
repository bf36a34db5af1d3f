//! Finds out how a live server differs from what its API says.

mod candidate;
mod check;
mod examine;
mod finding;
mod judge;
mod question;
mod seen;

pub use candidate::{Candidate, Cure};
pub use check::Check;
pub use examine::{Checkup, Examined, MAX_REQUESTS};
pub use finding::{Finding, Verdict};
