//! What every door does with what a run has started.

mod retry;
mod step_life;
