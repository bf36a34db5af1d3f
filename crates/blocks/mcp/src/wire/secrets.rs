//! What a server was given to keep secret, taken out of what it says.

use std::{collections::BTreeSet, fmt, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use neuron_types::redact;
use reqwest::Url;

use crate::{McpTransport, wire::harmless::shown};

/// A segment of a path of this length may be a key: some servers are reached at an address that holds one.
const MIN_KEY_IN_PATH: usize = 20;

/// The tokens, values of headers and variables, and parts of the address that a server was given, in each form in which it
/// may say them. Its `Debug` shows none. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// The address, in each form in which errors name it, longest first.
    addresses: Vec<String>,
    /// Longest first: one may hold another.
    values: Vec<String>,
}

impl Secrets {
    /// Returns the secrets of a server that is reached by this transport.
    pub(crate) fn of(transport: &McpTransport) -> Self {
        let mut addresses = BTreeSet::new();
        let mut values = BTreeSet::new();
        match transport {
            McpTransport::Stdio { environment, .. } => {
                values.extend(environment.values().cloned());
            }
            McpTransport::Http {
                url,
                token,
                headers,
            } => {
                values.extend(token.clone());
                for value in headers.values() {
                    values.extend(in_header(value));
                }
                addresses.insert(url.clone());
                if let Ok(url) = Url::parse(url) {
                    values.extend(in_address(&url));
                    addresses.extend(forms(url));
                }
            }
        }
        // What a program complains of is read by the line.
        let lines = values.iter().flat_map(|value| value.lines());
        let values = values.iter().map(String::as_str).chain(lines);
        let values = values.flat_map(|value| written(value.trim())).collect();
        Self(Arc::new(Inner {
            addresses: longest_first(addresses),
            values: longest_first(values),
        }))
    }

    /// Returns a text without them.
    pub(crate) fn redact(&self, text: &str) -> String {
        let Inner { addresses, values } = &*self.0;
        let text = addresses.iter().fold(text.to_owned(), |text, address| {
            text.replace(&format!(" for url ({address})"), "")
                .replace(address, "its address")
        });
        values
            .iter()
            .fold(text, |text, secret| redact(&text, secret))
    }

    /// Returns the text as [`shown`] does, without the secrets. It is cut last: half a secret is too much of it.
    pub(crate) fn shown(&self, text: &str, most: usize) -> String {
        shown(&self.redact(text), most)
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets([redacted])")
    }
}

fn longest_first(texts: BTreeSet<String>) -> Vec<String> {
    let mut texts: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    texts
}

/// Returns the value as it stands in a plain text, in JSON as each language writes it, and in an address.
fn written(value: &str) -> Vec<String> {
    let json = quoted(value);
    let slashes = json.replace('/', "\\/");
    let mut ascii = String::new();
    for c in json.chars() {
        match c {
            '+' | '&' | '<' | '>' | '\'' | '`' => ascii += &format!("\\u{:04x}", u32::from(c)),
            c => ascii.push(c),
        }
    }
    let mut all = vec![value.to_owned(), json, slashes, ascii];
    all.extend(escaped(value));
    all
}

/// Returns the value in the query of an address.
fn escaped(value: &str) -> Option<String> {
    let mut url = Url::parse("http://localhost").ok()?;
    url.query_pairs_mut().append_key_only(value);
    url.query().map(str::to_owned)
}

/// Returns the value as it stands in a text of JSON.
fn quoted(value: &str) -> String {
    let json = serde_json::Value::from(value).to_string();
    let inner = json.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    inner.unwrap_or(value).to_owned()
}

/// Returns the value, what follows a scheme such as `Bearer`, what cookies hold, and what is behind `Basic`.
fn in_header(value: &str) -> Vec<String> {
    let mut all = vec![value.to_owned()];
    if let [scheme, credentials] = value.split_whitespace().collect::<Vec<_>>().as_slice() {
        all.push((*credentials).to_owned());
        let pair = STANDARD.decode(credentials).ok();
        let pair = pair.and_then(|pair| String::from_utf8(pair).ok());
        if let (true, Some(pair)) = (scheme.eq_ignore_ascii_case("basic"), pair) {
            all.extend(
                pair.split_once(':')
                    .map(|(_, password)| password.to_owned()),
            );
            all.push(pair);
        }
    }
    let fields = value.split(';').filter_map(|field| field.split_once('='));
    all.extend(fields.map(|(_, value)| value.trim().trim_matches('"').to_owned()));
    all
}

/// Returns the parts of an address that are secret: the user and password, also as the header that is made of them;
/// what the query holds; and keys in the path.
fn in_address(url: &Url) -> Vec<String> {
    let mut all = Vec::new();
    let password = url.password().unwrap_or_default();
    if !url.username().is_empty() || !password.is_empty() {
        let (user, password) = (plain(url.username()), plain(password));
        all.push(STANDARD.encode(format!("{user}:{password}")));
        all.extend([user, password, url.username().to_owned()]);
        all.extend(url.password().map(str::to_owned));
    }
    all.extend(url.query().map(str::to_owned));
    let fields = url.query().unwrap_or_default().split('&');
    all.extend(fields.map(|field| field.split_once('=').map_or(field, |it| it.1).to_owned()));
    all.extend(url.query_pairs().map(|(_, value)| value.into_owned()));
    let segments = url.path().split('/');
    let keys = segments.filter(|segment| segment.len() >= MIN_KEY_IN_PATH);
    all.extend(keys.flat_map(|key| [key.to_owned(), plain(key)]));
    all
}

/// Returns a part of an address without its escapes.
fn plain(part: &str) -> String {
    // A query is read like this, except its blanks and separators.
    let escaped = part.replace('+', "%2B").replace('&', "%26");
    let query = format!("={escaped}");
    let Ok(mut url) = Url::parse("http://localhost") else {
        return part.to_owned();
    };
    url.set_query(Some(&query));
    let value = url.query_pairs().next();
    value.map_or_else(|| part.to_owned(), |(_, value)| value.into_owned())
}

/// Returns the address as it is reached, with and without the user and password: errors of HTTP name it in both forms.
fn forms(mut url: Url) -> Vec<String> {
    let mut forms = vec![url.to_string()];
    // Neither fails for an address that has a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    forms.push(url.to_string());
    forms
}

#[cfg(test)]
mod tests {
    use crate::McpServerSpec;

    use super::*;

    #[test]
    fn each_form_of_what_a_server_was_given_is_blanked() {
        let spec = McpServerSpec::http(
            "tracker",
            "https://Ann:pass%40word1@Example.org/s/0123456789abcdefghij/mcp?key=query-secret",
        );
        let spec = spec
            .header("Authorization", "Bearer header-secret")
            .header("X-Login", "Basic YW5uOmJhc2ljLXNlY3JldA==")
            .header("Cookie", "session=cookie-secret; theme=dark")
            .header("X-Quoted", r#"a"quoted"secret"#);
        let secrets = Secrets::of(&spec.transport);
        for said in [
            "header-secret",
            "HEADER-SECRET",
            "basic-secret",
            "ann:basic-secret",
            "cookie-secret",
            r#"a\"quoted\"secret"#,
            "query-secret",
            "pass@word1",
            "QW5uOnBhc3NAd29yZDE=",
            "0123456789abcdefghij",
        ] {
            assert_eq!(secrets.redact(said), "[redacted]", "{said}");
        }
        let unreachable =
            "no way for url (https://example.org/s/0123456789abcdefghij/mcp?key=query-secret)";
        assert_eq!(secrets.redact(unreachable), "no way");
        assert_eq!(secrets.redact("dark /s/ mcp"), "dark /s/ mcp");
    }

    #[test]
    fn a_secret_is_blanked_as_each_language_writes_it_in_json_and_addresses() {
        let spec = McpServerSpec::http("tracker", "https://example.org/mcp");
        let secrets = Secrets::of(
            &spec
                .header("Authorization", "Bearer ab+cd/ef&gh==")
                .transport,
        );
        for said in [
            "ab+cd/ef&gh==",
            r"ab+cd\/ef&gh==",
            r"ab\u002bcd/ef\u0026gh==",
            r"ab\u002Bcd/ef\u0026gh==",
            "ab%2Bcd%2Fef%26gh%3D%3D",
            "ab%2bcd%2fef%26gh%3d%3d",
        ] {
            assert_eq!(secrets.redact(said), "[redacted]", "{said}");
        }
    }

    #[test]
    fn each_line_of_a_secret_is_blanked() {
        let mut spec = McpServerSpec::stdio("tracker", "tracker", [""; 0]);
        if let McpTransport::Stdio { environment, .. } = &mut spec.transport {
            let key = "-----BEGIN KEY-----\r\nMIIEowIBAAKC\r\nxyzxyzxyzxyz\r\n-----END KEY-----\n";
            environment.insert("KEY".to_owned(), key.to_owned());
        }
        let secrets = Secrets::of(&spec.transport);
        assert_eq!(secrets.redact("  MIIEowIBAAKC"), "  [redacted]");
        assert_eq!(secrets.redact("xyzxyzxyzxyz"), "[redacted]");
    }

    #[test]
    fn a_secret_is_blanked_before_a_text_is_cut() {
        let spec = McpServerSpec::http("tracker", "https://example.org/mcp");
        let spec = spec.header("X-Key", "0123456789");
        let secrets = Secrets::of(&spec.transport);
        assert_eq!(secrets.shown("a 0123456789", 6), "a [red…");
    }
}
