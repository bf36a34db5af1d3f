//! Classification of addresses: of this machine or another, and whether a secret may be sent there.

use std::net::IpAddr;

use url::Url;

/// The problem with an address that begins with `http://`, is on another machine and is sent a secret.
pub(crate) const UNENCRYPTED: &str = "would send secrets to another machine unencrypted: write https://, or add \
     insecure = true if the network is trusted";

/// Returns the host to which a key would be sent readable for anyone on the way: another machine, without encryption.
/// The address is parsed as the clients parse it.
pub(crate) fn unencrypted_host(address: &str) -> Option<String> {
    let url = Url::parse(address.trim()).ok()?;
    let host = url.host_str()?;
    (url.scheme() == "http" && !is_here(host)).then(|| host.to_owned())
}

/// Returns whether an address is one of this machine. An address that cannot be parsed is not, wherever it leads.
pub(crate) fn is_of_this_machine(address: &str) -> bool {
    let url = Url::parse(address.trim());
    url.is_ok_and(|url| url.host_str().is_some_and(is_here))
}

fn is_here(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_goes_to_this_machine_or_encrypted() {
        for address in [
            "https://models.example.org/v1",
            "HTTPS://models.example.org",
            "http://localhost:8000/v1",
            "http://LOCALHOST",
            "http://127.0.0.1:8000",
            "http://127.9.8.7",
            "http://[::1]:8000/v1",
            "http://2130706433/",
        ] {
            assert_eq!(unencrypted_host(address), None, "{address}");
            let is_here = !address.contains("models.example.org");
            assert_eq!(
                is_of_this_machine(&address.to_lowercase()),
                is_here,
                "{address}"
            );
        }
        for (address, host) in [
            ("http://models.example.org/v1", "models.example.org"),
            (" HTTP://models.example.org", "models.example.org"),
            ("http://192.168.0.7:11434", "192.168.0.7"),
            ("http://0.0.0.0:8000", "0.0.0.0"),
            ("http://localhost.example.org", "localhost.example.org"),
            ("http://127.0.0.1.example.org", "127.0.0.1.example.org"),
            ("http://localhost@example.org/", "example.org"),
            ("http://example.org\\@localhost/", "example.org"),
            ("http:example.org", "example.org"),
        ] {
            assert_eq!(
                unencrypted_host(address).as_deref(),
                Some(host),
                "{address}"
            );
            assert!(!is_of_this_machine(address), "{address}");
        }
    }
}
