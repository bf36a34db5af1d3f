//! Addresses in texts, and which hosts they may lead to.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;
use url::{Host, Url};

/// How much of the name of a host is shown, in characters.
const MOST_TOLD: usize = 100;

/// Marks of a sentence behind an address.
const MARKS: [char; 8] = ['.', ',', ';', ':', '!', '?', ')', '*'];

/// How long what an address begins with is at most where a line is looked at, in bytes.
const MOST_BEGINNING: usize = 40;

/// How long a host and whatever may be the name of a user before it are at most, in bytes: those of longer ones lead nowhere.
const MOST_OF_HOST: usize = 300;

/// What an address begins with. Browsers take one slash or backslash for two, and a line break as JSON writes it does
/// not belong to it.
static BEGINNING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let special = r"(?:https?|wss?|ftp):[/\\]+";
    let other = r"[a-z][a-z0-9+.-]{0,30}://";
    Regex::new(&format!(r"(?i)(?:\\[nrtbf])?(?P<scheme>{special}|{other})")).ok()
});

/// The text is not the name of a host.
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

    /// Returns where addresses are that lead elsewhere, and why the first is not passed on.
    pub(crate) fn foreign(&self, text: &str) -> Option<(String, Vec<Range<usize>>)> {
        let Some(beginning) = BEGINNING.as_ref() else {
            let reason = "addresses could not be looked for".to_owned();
            return Some((reason, whole(text)));
        };
        // What is an address as a whole may have anything in it that browsers leave out or take for something else.
        let url = Url::parse(first_address(text, beginning)).ok();
        if let Some(host) = url.as_ref().and_then(Url::host_str)
            && !self.has(host)
        {
            return Some((leads_to(host), whole(text)));
        }
        let mut first = None;
        let mut parts: Vec<Range<usize>> = Vec::new();
        for found in beginning.captures_iter(text) {
            let Some(scheme) = found.name("scheme") else {
                continue;
            };
            // One that begins within another that goes no further ends with it.
            if parts.last().is_some_and(|last| last.end > scheme.start()) {
                continue;
            }
            let address = Address {
                scheme: scheme.as_str(),
                rest: text.get(scheme.end()..).unwrap_or_default(),
            };
            let Some(reason) = self.refused(&address) else {
                continue;
            };
            first.get_or_insert(reason);
            parts.push(scheme.start()..scheme.end() + address.length());
        }
        Some((first?, parts))
    }

    /// Returns why an address is not passed on; `None` if it is.
    fn refused(&self, address: &Address<'_>) -> Option<String> {
        let hosts = address.hosts();
        let refused = hosts.map(|host| match host {
            Some(host) if self.has(&host) => None,
            Some(host) => Some(leads_to(&host)),
            None => Some("an address leads to no host".to_owned()),
        });
        refused.into_iter().flatten().next()
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

/// Returns a text up to the first line that begins with another address, without the marks of the sentence at its end.
fn first_address<'a>(text: &'a str, beginning: &Regex) -> &'a str {
    let begins = |line: &str| {
        let found = beginning.find(line.get(..MOST_BEGINNING).unwrap_or(line));
        found.is_some_and(|found| found.start() == 0)
    };
    let text = text.trim_start();
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if end > 0 && begins(line.trim_start()) {
            break;
        }
        end += line.len();
    }
    let first = text.get(..end).unwrap_or(text).trim_end();
    first.trim_end_matches(MARKS)
}

/// Returns the range of the whole text.
fn whole(text: &str) -> Vec<Range<usize>> {
    std::iter::once(0..text.len()).collect()
}

fn leads_to(host: &str) -> String {
    let told: String = host.chars().take(MOST_TOLD).collect();
    format!("an address leads to {told}")
}

/// An address in a text: how it begins, and all that stands behind.
struct Address<'a> {
    scheme: &'a str,
    rest: &'a str,
}

impl Address<'_> {
    /// Returns the hosts that the address may be taken to lead to: by readers for which it ends with a quote or a
    /// bracket, and by readers for which all before an `@` is the name of a user.
    fn hosts(&self) -> [Option<String>; 2] {
        let wide = self.wide();
        if wide.len() > MOST_OF_HOST {
            return [None, None];
        }
        let narrow = wide.split(is_end).next().unwrap_or_default();
        [narrow, wide].map(|authority| {
            let host = match authority.rsplit_once('@') {
                Some((_, host)) => host.split(is_end).next().unwrap_or_default(),
                None => narrow,
            };
            // The marks behind an address are the sentence's.
            let host = host.trim_end_matches(|c: char| !c.is_alphanumeric() && c != ']');
            let host = match host.starts_with('[') {
                true => host,
                false => host.trim_end_matches(|c: char| !c.is_alphanumeric()),
            };
            let scheme = self.scheme.trim_end_matches(['/', '\\']);
            let url = Url::parse(&format!("{scheme}//{host}")).ok()?;
            url.host_str().map(str::to_owned)
        })
    }

    /// Returns where its host stands, with whatever may be the name of a user.
    fn wide(&self) -> &str {
        let is_end = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '<' | '>');
        let most = self.rest.char_indices().take(MOST_OF_HOST + 1);
        let end = most.clone().find(|(_, c)| is_end(*c)).map(|(at, _)| at);
        let end = end.or_else(|| most.last().map(|(at, c)| at + c.len_utf8()));
        self.rest.get(..end.unwrap_or_default()).unwrap_or_default()
    }

    /// Returns how long it is behind its beginning, without the marks of the sentence behind it.
    fn length(&self) -> usize {
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let end = match self.wide().rfind('@') {
            Some(at) if at >= end => {
                let behind = self.rest.get(at..).unwrap_or_default();
                at + behind.find(is_end).unwrap_or(behind.len())
            }
            _ => end,
        };
        let address = self.rest.get(..end).unwrap_or_default();
        address.trim_end_matches(MARKS).len()
    }
}

/// Returns whether an address in a text ends before this.
const fn is_end(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '<' | '>' | '"' | '\'' | '`' | '\\' | '^' | '{' | '|' | '}'
        )
}

impl Pattern {
    fn parse(host: String) -> Result<Self, InvalidHost> {
        let (name, is_below) = match host.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (host.as_str(), false),
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        let is_name = !name.is_empty() && !name.contains(['*', '/', '@']);
        let parsed = Host::parse(name).ok().filter(|_| is_name);
        match parsed.map(|host| host.to_string()) {
            Some(name) if is_below => Ok(Self::Below(name)),
            Some(name) => Ok(Self::Is(name)),
            None => Err(InvalidHost { host }),
        }
    }
}
