//! Engines on this machine, for development.

mod program;
mod server;
mod started;

pub(crate) use server::DevServer;
pub(crate) use started::Started;
