//! What a shell would execute of a text.

mod command;
mod document;
mod program;
mod reader;
mod script;
mod word;

pub(crate) use script::Script;
