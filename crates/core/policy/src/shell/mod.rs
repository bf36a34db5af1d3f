//! What a shell would execute of a text.

mod command;
mod document;
mod evaluated;
mod program;
pub(crate) mod reader;
mod script;
mod word;

pub(crate) use script::Script;
