//! Tools for tests of an executor itself.

pub mod effects;
pub mod tokens;
