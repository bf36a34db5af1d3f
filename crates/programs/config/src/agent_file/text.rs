//! The text of a file: typed values out of TOML, and the problems with them.

pub(crate) mod json;
pub(crate) mod keys;
pub(crate) mod kinds;
pub(crate) mod patterns;
pub(crate) mod problem;
pub(crate) mod table;
