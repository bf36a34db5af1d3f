//! The macros that make tools.

mod arguments;
pub(crate) mod derive;
mod field;
pub(crate) mod function;
pub(crate) mod home;
pub(crate) mod options;
mod property;
mod signature;
