//! The addresses of a Restate server.

use std::{fmt, path::PathBuf};

/// The ingress if `RESTATE_INGRESS_URL` is not set.
const INGRESS_URL: &str = "http://127.0.0.1:8080";

/// The admin API if `RESTATE_ADMIN_URL` is not set.
const ADMIN_URL: &str = "http://127.0.0.1:9070";

/// The addresses of a Restate server.
#[derive(Clone)]
pub struct ServerAddress {
    /// The ingress. Default is `http://127.0.0.1:8080`.
    pub ingress_url: String,
    /// The admin API. Default is `http://127.0.0.1:9070`.
    pub admin_url: String,
    /// The bearer token for a guard in front of either port, which demands it with 401 or 403. It is not sent before
    /// that, because a server without such a guard would keep it in the journal of each run. Default is no token.
    pub auth_token: Option<String>,
    /// The file with the token, which is read again when it was read a minute ago. It takes precedence over
    /// [`auth_token`](Self::auth_token). Default is no file.
    pub auth_token_file: Option<PathBuf>,
}

impl Default for ServerAddress {
    fn default() -> Self {
        Self {
            ingress_url: INGRESS_URL.to_owned(),
            admin_url: ADMIN_URL.to_owned(),
            auth_token: None,
            auth_token_file: None,
        }
    }
}

impl ServerAddress {
    /// Returns the address that `RESTATE_INGRESS_URL`, `RESTATE_ADMIN_URL` and `RESTATE_AUTH_TOKEN` or
    /// `RESTATE_AUTH_TOKEN_FILE` give.
    #[must_use]
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let default = Self::default();
        Self {
            ingress_url: set("RESTATE_INGRESS_URL").unwrap_or(default.ingress_url),
            admin_url: set("RESTATE_ADMIN_URL").unwrap_or(default.admin_url),
            auth_token: set("RESTATE_AUTH_TOKEN"),
            auth_token_file: set("RESTATE_AUTH_TOKEN_FILE").map(PathBuf::from),
        }
    }
}

impl fmt::Debug for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerAddress")
            .field("ingress_url", &self.ingress_url)
            .field("admin_url", &self.admin_url)
            .field("auth_token", &self.auth_token.as_ref().map(|_| "…"))
            .field("auth_token_file", &self.auth_token_file)
            .finish()
    }
}
