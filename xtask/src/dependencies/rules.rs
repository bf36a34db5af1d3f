//! The rules in `deny.toml`, in the words of cargo-deny. A key that is not checked here is an error.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::error::Error;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules {
    pub(super) licenses: Licenses,
    pub(super) bans: Bans,
    pub(super) sources: Sources,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Licenses {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
    #[serde(default)]
    pub(super) private: Private,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Private {
    pub(super) ignore: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Bans {
    pub(super) multiple_versions: Level,
    pub(super) wildcards: Level,
    #[serde(default)]
    pub(super) allow_wildcard_paths: bool,
    /// Names of crates.
    #[serde(default)]
    pub(super) deny: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Sources {
    pub(super) unknown_registry: Level,
    pub(super) unknown_git: Level,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Level {
    Allow,
    Warn,
    Deny,
}

impl Rules {
    /// Reads the rules.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or has something that is not checked here.
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(|source| Error::File {
            path: path.to_path_buf(),
            action: "read",
            source,
        })?;
        toml::from_str(&text).map_err(|source| Error::Rules {
            path: path.to_path_buf(),
            source,
        })
    }

    /// Returns whether a crate may have a licence.
    pub(super) fn allows(&self, name: &str, licence: &str) -> bool {
        let exceptions = self.licenses.exceptions.iter();
        let of_crate = exceptions.filter(|exception| exception.name == name);
        of_crate
            .flat_map(|exception| &exception.allow)
            .chain(&self.licenses.allow)
            .any(|allowed| allowed == licence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn the_committed_rules_are_checked_whole() {
        let rules = Rules::read(&workspace::root().join("deny.toml")).expect("rules");
        assert!(rules.allows("any", "MIT"));
        assert!(rules.allows("option-ext", "MPL-2.0"));
        assert!(!rules.allows("any", "MPL-2.0"));
    }

    #[test]
    fn a_rule_that_is_not_checked_is_refused() {
        let text = fs::read_to_string(workspace::root().join("deny.toml")).expect("a file");
        let text = text.replace("[bans]", "[bans]\nskip-tree = []");
        let error = toml::from_str::<Rules>(&text).expect_err("an unknown key");
        assert!(error.to_string().contains("skip-tree"), "{error}");
    }
}
