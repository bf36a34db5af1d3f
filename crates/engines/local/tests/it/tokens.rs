//! Answers that are told while they come.

mod agent;
mod doors;
