//! What an executor itself is tested with.

pub mod effects;
pub mod tokens;
