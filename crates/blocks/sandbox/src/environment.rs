//! Which variables commands get.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt, io,
};

/// Where a person is, what the terminal can do, and where toolchains are.
const NAMES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "COLUMNS",
    "LINES",
    "CI",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "PKG_CONFIG_PATH",
    "CC",
    "CXX",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOROOT",
    "GOPATH",
    "GOFLAGS",
    "JAVA_HOME",
    "SDKMAN_DIR",
    "NVM_DIR",
    "NVM_BIN",
    "VOLTA_HOME",
    "PNPM_HOME",
    "BUN_INSTALL",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NIX_SSL_CERT_FILE",
    "NIX_PROFILES",
    "DEBIAN_FRONTEND",
];

/// Returns whether commands inherit a variable of this name: a short list of where things are and how text is shown,
/// `LC_*` among them. Keys, addresses of engines and agents' sockets are not on it, whatever their names.
#[must_use]
pub fn is_inherited(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| NAMES.contains(&name) || name.starts_with("LC_"))
}

/// The variables of a command. They are its own alone: what confines it never has them.
#[derive(Clone, Default)]
pub(crate) struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// Takes the variables of this process that commands get: those on the list, and those named here.
    pub(crate) fn inherited(named: &[OsString]) -> Self {
        let found = std::env::vars_os();
        Self(
            found
                .filter(|(name, _)| is_inherited(name) || named.contains(name))
                .collect(),
        )
    }

    pub(crate) fn set(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        self.0
            .insert(name.as_ref().to_owned(), value.as_ref().to_owned());
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// # Errors
    ///
    /// There is one with a name that no variable has.
    pub(crate) fn check(&self) -> io::Result<()> {
        let is_bad = |name: &&OsString| name.is_empty() || name.as_encoded_bytes().contains(&b'=');
        match self.0.keys().find(is_bad) {
            None => Ok(()),
            Some(name) => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{name:?} is not the name of a variable"),
            )),
        }
    }
}

/// Names alone: values may be keys.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inherits_what_is_on_the_list_only() {
        for name in ["PATH", "HOME", "LC_ALL", "TERM", "CARGO_HOME"] {
            assert!(is_inherited(OsStr::new(name)), "{name}");
        }
        for name in [
            "OPENAI_API_KEY",
            "PGPASSWORD",
            "DATABASE_URL",
            "SSH_AUTH_SOCK",
            "DBUS_SESSION_BUS_ADDRESS",
            "TEMPORAL_ADDRESS",
            "RESTATE_INGRESS_URL",
            "NEURON_HOME",
            "DOCKER_HOST",
            "AWS_PROFILE",
            "path",
        ] {
            assert!(!is_inherited(OsStr::new(name)), "{name}");
        }
    }
}
