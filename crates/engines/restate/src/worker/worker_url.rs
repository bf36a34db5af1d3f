//! Where the server reaches a worker, and how its deployment is named.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The longest name of a deployment.
const LONGEST_NAME: usize = 64;

/// Returns the URL at which a Restate server on the same machine reaches a worker that listens at this address. `scheme`
/// is `http` or `https`. The server reaches a worker that listens at every address by the loopback address.
#[must_use]
pub fn worker_url(scheme: &str, mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    format!("{scheme}://{address}")
}

/// Returns the default name of a deployment that Restate reaches at this URL: nothing of the URL except the address,
/// and a hash after an address that is too long.
#[must_use]
pub fn deployment_name(url: &str) -> String {
    let address = url.split_once("://").map_or(url, |(_, address)| address);
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let address = match address.split_once('@') {
        Some((_, address)) => address,
        None => address,
    };
    let letters = address.trim_end_matches('/').chars().map(|c| match c {
        c if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') => c,
        _ => '-',
    });
    let name: String = letters.collect();
    if name.len() <= LONGEST_NAME {
        return name;
    }
    // The hash is FNV-1a: it has to be the same in every build.
    let hash = address
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let kept: String = name.chars().take(LONGEST_NAME - 17).collect();
    format!("{kept}-{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deployment_is_called_as_its_address_is() {
        for (url, name) in [
            ("http://127.0.0.1:9080", "127.0.0.1-9080"),
            ("https://worker-v2:9080/", "worker-v2-9080"),
            ("http://[::1]:9080", "---1--9080"),
            ("http://ada:secret@worker:9080/v2?token=1", "worker-9080-v2"),
        ] {
            assert_eq!(deployment_name(url), name);
        }
        let long = |port| deployment_name(&format!("http://{}:{port}", "worker.".repeat(20)));
        assert_eq!(long(9080).len(), LONGEST_NAME);
        assert_ne!(long(9080), long(9081));
    }
}
