//! What is asked for.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::kind::Backend;

/// What the commands of an agent may reach. Default is [`Sandbox::Workspace`].
///
/// As text it is `"workspace"`, `"read-only"` or `"off"`, or a table: see [`SandboxRules`].
///
/// # Examples
///
/// ```
/// use neuron_sandbox::Sandbox;
///
/// let sandbox: Sandbox = serde_json::from_str(r#""read-only""#)?;
/// assert_eq!(sandbox, Sandbox::ReadOnly);
/// let sandbox: Sandbox = serde_json::from_str(r#"{"network": true}"#)?;
/// assert!(sandbox.rules().is_some_and(|rules| rules.network));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sandbox {
    /// Reads the system, toolchains and the working directory; writes the working directory and a temporary
    /// directory of its own; no network.
    #[default]
    Workspace,
    /// As [`Sandbox::Workspace`], and the working directory cannot be written.
    ReadOnly,
    /// No confinement. Only the environment is still an allow-list.
    Off,
    /// As [`Sandbox::Workspace`] but for these rules.
    Custom(SandboxRules),
}

/// How a sandbox differs from [`Sandbox::Workspace`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SandboxRules {
    /// Further files and directories that can be read: absolute, beginning with `~/`, or relative to the working
    /// directory. Default is no further ones. A path that does not exist is left out, and one that commands could lead
    /// elsewhere with a symbolic link is an error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<PathBuf>,
    /// What can be written, spelled as for `read`. Default is the working directory (`["."]`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Vec<PathBuf>>,
    /// Whether there is a network: all of it, ports of this machine included, and no sockets with paths. Default is
    /// false.
    #[serde(skip_serializing_if = "is_false")]
    pub network: bool,
    /// The most memory of each process, in bytes or as text such as `"2GiB"`: its address space. Default is no
    /// limit.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "size_or_text"
    )]
    pub memory: Option<u64>,
    /// The most processes and threads. The kernel counts all of the user's. Default is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// The back end. Default is bubblewrap if it works, else Landlock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<Backend>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_false(value: &bool) -> bool {
    !value
}

impl SandboxRules {
    /// Makes the rules of [`Sandbox::Workspace`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file or directory that can be read.
    #[must_use]
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.read.push(path.into());
        self
    }

    /// Sets what can be written. Default is the working directory.
    #[must_use]
    pub fn write(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.write = Some(paths.into_iter().collect());
        self
    }

    /// Sets whether there is a network. Default is false.
    #[must_use]
    pub fn network(mut self, network: bool) -> Self {
        self.network = network;
        self
    }

    /// Sets the most bytes of address space of each process. Default is no limit.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Sets the most processes and threads of the user. Default is no limit.
    #[must_use]
    pub fn processes(mut self, count: u64) -> Self {
        self.processes = Some(count);
        self
    }

    /// Sets the back end. Default is the first that works.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = Some(backend);
        self
    }
}

impl Sandbox {
    /// Its rules, written out; `None` if it is off.
    #[must_use]
    pub fn rules(&self) -> Option<SandboxRules> {
        match self {
            Self::Off => None,
            Self::Workspace => Some(SandboxRules::default()),
            Self::ReadOnly => Some(SandboxRules {
                write: Some(Vec::new()),
                ..SandboxRules::default()
            }),
            Self::Custom(rules) => Some(rules.clone()),
        }
    }

    /// Returns whether nothing is confined.
    #[must_use]
    pub fn is_off(&self) -> bool {
        *self == Self::Off
    }

    /// Returns the same sandbox with this back end. Off stays off.
    #[must_use]
    pub fn with_backend(&self, backend: Backend) -> Self {
        self.rules()
            .map_or(Self::Off, |rules| Self::Custom(rules.backend(backend)))
    }

    /// Its name in an agent file; `custom` for a table.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::ReadOnly => "read-only",
            Self::Off => "off",
            Self::Custom(_) => "custom",
        }
    }
}

impl Serialize for Sandbox {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Custom(rules) => rules.serialize(serializer),
            named => serializer.serialize_str(named.name()),
        }
    }
}

impl<'de> Deserialize<'de> for Sandbox {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "\"workspace\", \"read-only\", \"off\" or a table";
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Sandbox;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Sandbox, E> {
                match text {
                    "workspace" => Ok(Sandbox::Workspace),
                    "read-only" => Ok(Sandbox::ReadOnly),
                    "off" => Ok(Sandbox::Off),
                    other => Err(E::invalid_value(de::Unexpected::Str(other), &self)),
                }
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Sandbox, A::Error> {
                SandboxRules::deserialize(de::value::MapAccessDeserializer::new(map))
                    .map(Sandbox::Custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Size {
    Bytes(u64),
    Text(String),
}

fn size_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    match Option::<Size>::deserialize(deserializer)? {
        None => Ok(None),
        Some(Size::Bytes(bytes)) => Ok(Some(bytes)),
        Some(Size::Text(text)) => match bytes_of(&text) {
            Some(bytes) => Ok(Some(bytes)),
            None => Err(de::Error::invalid_value(
                de::Unexpected::Str(&text),
                &"a size such as \"2GiB\"",
            )),
        },
    }
}

fn bytes_of(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let unit = text.get(digits.len()..)?.trim();
    let factor: u64 = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Sandbox, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn is_read_by_name_or_as_a_table() {
        assert_eq!(read(r#""workspace""#).unwrap(), Sandbox::Workspace);
        assert_eq!(read(r#""off""#).unwrap(), Sandbox::Off);
        let rules = SandboxRules::new()
            .memory(2 << 30)
            .backend(Backend::Landlock);
        assert_eq!(
            read(r#"{"memory": "2GiB", "backend": "landlock"}"#).unwrap(),
            Sandbox::Custom(rules)
        );
    }

    #[test]
    fn what_it_does_not_know_is_named() {
        let error = read(r#""none""#).unwrap_err().to_string();
        assert!(
            error.contains("\"none\"") && error.contains("\"workspace\""),
            "{error}"
        );
        let error = read(r#"{"net": true}"#).unwrap_err().to_string();
        assert!(error.contains("`net`"), "{error}");
        let error = read(r#"{"memory": "much"}"#).unwrap_err().to_string();
        assert!(error.contains("much"), "{error}");
    }

    #[test]
    fn is_written_as_it_is_read() {
        for text in [
            r#""workspace""#,
            r#""read-only""#,
            r#""off""#,
            r#"{"write":[],"network":true}"#,
        ] {
            let sandbox = read(text).unwrap();
            assert_eq!(serde_json::to_string(&sandbox).unwrap(), text);
        }
    }
}
