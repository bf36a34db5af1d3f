//! Answers that are told while they come.

mod doors;
