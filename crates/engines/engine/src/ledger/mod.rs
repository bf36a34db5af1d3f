//! The state of a run that a door keeps besides the loop's.

mod run_clock;
mod run_ledger;
mod unobserved;

pub use run_clock::RunClock;
pub use run_ledger::RunLedger;
pub use unobserved::Unobserved;
