//! Telling Restate where this worker is.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use neuron_restate::RestateClient;

use crate::health::RestateHealth;

/// The longest time between two tries.
const LONGEST_DELAY: Duration = Duration::from_secs(5);

/// What Restate reaches an address at, if it runs on the same machine.
pub(crate) fn url(mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    format!("http://{address}")
}

/// Registers the worker, and tries again while the server is not there.
pub(crate) async fn register(client: RestateClient, url: String, health: RestateHealth) {
    let mut delay = Duration::from_millis(100);
    loop {
        match client.register(&url).await {
            Ok(()) => {
                tracing::info!(url, "registered");
                health.set_registered();
                return;
            }
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                let cause = cause.unwrap_or_default();
                tracing::warn!(url, %error, cause, "cannot be registered yet");
            }
        }
        tokio::time::sleep(delay).await;
        delay = (delay * 2).min(LONGEST_DELAY);
    }
}
