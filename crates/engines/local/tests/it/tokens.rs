//! Answers that are emitted while they arrive.

mod doors;
