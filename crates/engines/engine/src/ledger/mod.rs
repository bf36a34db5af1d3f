//! What a door keeps of a run beside the loop.

mod run_clock;
mod run_ledger;
mod unobserved;

pub use run_clock::RunClock;
pub use run_ledger::RunLedger;
pub use unobserved::Unobserved;
