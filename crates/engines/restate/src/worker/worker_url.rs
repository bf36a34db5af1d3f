//! Where the server reaches a worker.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Returns the URL at which a Restate server on the same machine reaches a worker that listens at this address. `scheme`
/// is `http` or `https`. The server reaches a worker that listens at every address by the loopback address.
#[must_use]
pub fn worker_url(scheme: &str, mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    format!("{scheme}://{address}")
}
