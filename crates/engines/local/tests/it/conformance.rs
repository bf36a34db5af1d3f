//! The conformance kit on both local doors.

mod journal;
mod memory;
