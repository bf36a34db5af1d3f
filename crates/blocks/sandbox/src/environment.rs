//! Which variables commands get.

use std::ffi::{OsStr, OsString};

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

/// Whether commands inherit a variable of this name: a short list of where things are and how text is shown, `LC_*`
/// among them. Keys, addresses of engines and agents' sockets are not on it, whatever their names.
#[must_use]
pub fn is_inherited(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| NAMES.contains(&name) || name.starts_with("LC_"))
}

/// The variables of this process that commands get: those on the list, and those named here.
pub(crate) fn inherited(named: &[OsString]) -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(move |(name, _)| is_inherited(name) || named.contains(name))
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
