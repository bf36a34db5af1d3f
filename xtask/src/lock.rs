//! The lock file: the version of each program, and the digest of its package.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::{Deserialize, Deserializer, de};

use crate::digest;
use crate::error::Error;

/// The key of a package that is the same for every platform.
const ANY_PLATFORM: &str = "any";

/// The programs of the lock file, by name.
pub(crate) type Lock = BTreeMap<String, Program>;

/// One program that can be fetched.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    /// The kind of the program's package.
    pub(crate) from: Source,
    /// The package's name, in which `{platform}` stands for the platform.
    package: String,
    pub(crate) version: String,
    /// The path of the program inside the unpacked package.
    pub(crate) program: PathBuf,
    /// The name of a program on PATH that is used instead.
    pub(crate) on_path: Option<String>,
    /// The oldest Node.js that runs it.
    pub(crate) node: Option<String>,
    sha256: BTreeMap<String, Sha256>,
}

/// The client that fetches a program's package.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Source {
    Npm,
    /// Several npm packages with all that they need. `package` is the folder beside the lock file that contains
    /// `package.json` and `package-lock.json`. The digest of the latter stands for those in it.
    NpmLock,
    #[serde(rename = "pypi")]
    PyPi,
}

/// The package of a program for one platform.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) sha256: String,
}

#[derive(Clone, Debug)]
struct Sha256(String);

impl<'de> Deserialize<'de> for Sha256 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if digest::is_valid(&text) {
            Ok(Self(text))
        } else {
            Err(de::Error::custom(format!(
                "`{text}` is not a SHA-256 in lowercase digits"
            )))
        }
    }
}

impl Program {
    /// Returns the package for a platform, or `None` without one.
    pub(crate) fn package(&self, platform: &str) -> Option<Package> {
        let digest = self
            .sha256
            .get(platform)
            .or_else(|| self.sha256.get(ANY_PLATFORM))?;
        Some(Package {
            name: self.package.replace("{platform}", platform),
            version: self.version.clone(),
            sha256: digest.0.clone(),
        })
    }
}

/// Reads the lock file of this workspace.
///
/// # Errors
///
/// Returns an error if the file cannot be read or is not valid.
pub(crate) fn read(path: &Path) -> Result<Lock, Error> {
    let text = fs::read_to_string(path).map_err(|source| Error::File {
        path: path.to_path_buf(),
        action: "read",
        source,
    })?;
    toml::from_str(&text).map_err(|source| Error::Lock {
        path: path.to_path_buf(),
        source,
    })
}

/// Returns this machine's platform, as the lock file names it.
pub(crate) fn platform() -> String {
    // The names are those of the npm packages: Node.js and Rust name the same things differently.
    let system = match env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let processor = match env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{system}-{processor}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    const ONE: &str = r#"
        [server]
        from = "npm"
        package = "@scope/server-{platform}"
        version = "1.2.3"
        program = "package/bin/server"
        on_path = "server"

        [server.sha256]
        linux-x64 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    "#;

    fn parse(text: &str) -> Result<Lock, toml::de::Error> {
        toml::from_str(text)
    }

    #[test]
    fn puts_the_platform_into_the_package_name() {
        let lock = parse(ONE).expect("a lock");
        let server = &lock["server"];

        let package = server.package("linux-x64").expect("a package");

        assert_eq!(server.from, Source::Npm);
        assert_eq!(package.name, "@scope/server-linux-x64");
        assert_eq!(package.version, "1.2.3");
        assert_eq!(server.package("plan9-x64"), None);
    }

    #[test]
    fn takes_a_package_for_any_platform() {
        let lock = parse(&ONE.replace("linux-x64 =", "any =")).expect("a lock");

        assert!(lock["server"].package("plan9-x64").is_some());
    }

    #[test]
    fn refuses_a_short_digest() {
        let error = parse(&ONE.replace("ba7816bf", "")).expect_err("a bad digest");

        assert!(error.to_string().contains("is not a SHA-256"), "{error}");
    }

    #[test]
    fn refuses_an_unknown_key() {
        let error = parse(&ONE.replace("on_path", "on_pth")).expect_err("an unknown key");

        assert!(error.to_string().contains("on_pth"), "{error}");
    }

    #[test]
    fn the_committed_lock_is_valid_and_knows_linux() {
        let lock = read(&workspace::root().join("xtask/engines.lock.toml")).expect("a lock");

        for (name, program) in &lock {
            assert!(program.package("linux-x64").is_some(), "{name}");
        }
        assert!(lock.contains_key("aimock") && lock.contains_key("temporal"));
    }
}
