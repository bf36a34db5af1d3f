//! The client against local servers: real sockets, no network.

mod errors;
mod faults;
mod raw_server;
mod requests;
