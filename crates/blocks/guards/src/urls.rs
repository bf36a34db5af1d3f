//! Addresses in texts, and which hosts they may lead to.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;
use url::{Host, Url};

/// What begins as an address.
static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)\b[a-z][a-z0-9+.-]{0,30}://[^\s<>"'`\\^{|}]+"#).ok());

/// The name of a host is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{host:?} is no host: write a name such as example.com, or *.example.com for all below it")]
pub struct InvalidHost {
    /// What it is.
    pub host: String,
}

/// Hosts that addresses may lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hosts(Vec<Pattern>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    /// This one.
    Is(String),
    /// Those below it.
    Below(String),
}

impl Hosts {
    pub(crate) fn parse(
        hosts: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, InvalidHost> {
        let patterns = hosts.into_iter().map(|host| Pattern::parse(host.into()));
        Ok(Self(patterns.collect::<Result<_, _>>()?))
    }

    /// Where the first address is that leads elsewhere, and why it does not go on.
    pub(crate) fn foreign(&self, text: &str) -> Vec<(Range<usize>, String)> {
        let Some(address) = ADDRESS.as_ref() else {
            return vec![(
                0..text.len(),
                "addresses could not be looked for".to_owned(),
            )];
        };
        let found = address.find_iter(text).filter_map(|found| {
            let host = match Url::parse(found.as_str()) {
                Ok(url) => url.host_str().map(str::to_owned),
                Err(_) => None,
            };
            match host {
                Some(host) if self.has(&host) => None,
                Some(host) => Some((found.range(), format!("an address leads to {host}"))),
                None => Some((found.range(), "an address leads to no host".to_owned())),
            }
        });
        found.collect()
    }

    fn has(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.0.iter().any(|pattern| match pattern {
            Pattern::Is(name) => *name == host,
            Pattern::Below(name) => host
                .strip_suffix(name.as_str())
                .is_some_and(|before| before.len() > 1 && before.ends_with('.')),
        })
    }
}

impl Pattern {
    fn parse(host: String) -> Result<Self, InvalidHost> {
        let (name, is_below) = match host.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (host.as_str(), false),
        };
        let is_name = !name.is_empty() && !name.contains(['*', '/', '@']);
        let parsed = Host::parse(name).ok().filter(|_| is_name);
        match parsed.map(|host| host.to_string()) {
            Some(name) if is_below => Ok(Self::Below(name)),
            Some(name) => Ok(Self::Is(name)),
            None => Err(InvalidHost { host }),
        }
    }
}
