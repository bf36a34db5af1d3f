//! Ports of this machine that nobody listens at.

use std::{io, net::TcpListener};

/// An address of this machine that nobody listens at, as `host:port`.
///
/// # Panics
///
/// If there is none.
#[must_use]
pub fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// All of them are held before any is given back, so that they differ.
pub(crate) fn free_ports() -> io::Result<[u16; 3]> {
    let listen = || TcpListener::bind("127.0.0.1:0");
    let held = [listen()?, listen()?, listen()?];
    let [a, b, c] = held
        .each_ref()
        .map(|held| held.local_addr().map(|at| at.port()));
    Ok([a?, b?, c?])
}
