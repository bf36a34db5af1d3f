const DEFAULT_PORT: u16 = 11434;

/// Returns the base URL that a value of `OLLAMA_HOST` means.
///
/// As for Ollama itself, scheme, host and port may each be missing: `http`, this machine, and 11434, or the
/// scheme's own port where there is a scheme. The address that a server listens on everywhere at, `0.0.0.0`,
/// means this machine.
///
/// ```
/// use neuron_provider_ollama::base_url_of_host;
///
/// assert_eq!(base_url_of_host("box.lan"), "http://box.lan:11434");
/// assert_eq!(base_url_of_host(":8080"), "http://127.0.0.1:8080");
/// assert_eq!(base_url_of_host("https://models.example.com/x"), "https://models.example.com/x");
/// ```
#[must_use]
pub fn base_url_of_host(host: &str) -> String {
    let host = host.trim().trim_matches(['"', '\'']);
    let (scheme, rest) = match host.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, host),
    };
    let (authority, path) = match rest.find('/') {
        Some(slash) => rest.split_at(slash),
        None => (rest, ""),
    };
    let (name, port) = split_port(authority);
    let name = match name {
        "" | "0.0.0.0" => "127.0.0.1",
        "::" | "[::]" => "[::1]",
        other => other,
    };
    let port = match (port, scheme) {
        (Some(port), _) => format!(":{port}"),
        (None, None) => format!(":{DEFAULT_PORT}"),
        (None, Some(_)) => String::new(),
    };
    // An IPv6 address needs its brackets beside a port.
    let name = if name.contains(':') && !name.starts_with('[') {
        format!("[{name}]")
    } else {
        name.to_owned()
    };
    let path = path.trim_end_matches('/');
    format!("{}://{name}{port}{path}", scheme.unwrap_or("http"))
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        // The colons of an address without brackets are its own.
        Some((name, _)) if name.contains(':') && !name.ends_with(']') => (authority, None),
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) && !port.is_empty() => {
            (name, Some(port))
        }
        Some((name, "")) => (name, None),
        _ => (authority, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_host_is_an_address() {
        for (host, url) in [
            ("", "http://127.0.0.1:11434"),
            ("1.2.3.4", "http://1.2.3.4:11434"),
            ("1.2.3.4:80", "http://1.2.3.4:80"),
            (":80", "http://127.0.0.1:80"),
            ("box:", "http://box:11434"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:5000", "http://127.0.0.1:5000"),
            ("::1", "http://[::1]:11434"),
            ("::", "http://[::1]:11434"),
            ("[::1]:80", "http://[::1]:80"),
            ("http://box", "http://box"),
            ("https://box:8443/", "https://box:8443"),
            ("https://box/ollama/", "https://box/ollama"),
            (" \"box\" ", "http://box:11434"),
        ] {
            assert_eq!(base_url_of_host(host), url, "{host:?}");
        }
    }
}
