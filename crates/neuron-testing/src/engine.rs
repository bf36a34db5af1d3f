//! Engine servers for tests.

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Weak},
    time::Duration,
};

use tempfile::TempDir;
use tokio::{sync::Mutex, time::Instant};

use crate::{Addresses, Engine, Launcher, Process};

/// How long a server may take until it answers.
const START: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(25);

/// Somebody else may have taken a port that was free a moment before.
const TRIES: u32 = 3;

/// A Temporal or Restate server that a test uses.
///
/// A native one listens on free ports of this machine, keeps its data until it is dropped, and is killed then.
/// Temporal's takes as many steps a second as it can, where the dev server's default is 20.
#[derive(Debug)]
pub struct EngineServer {
    addresses: Addresses,
    native: Option<Native>,
}

#[derive(Debug)]
struct Native {
    // In this order: the process ends before its data goes.
    process: Process,
    data: TempDir,
    engine: Engine,
    program: PathBuf,
    ports: [u16; 3],
    variables: Vec<(String, String)>,
}

/// A server that the tests of this process share.
type Shared = Mutex<Weak<EngineServer>>;

static TEMPORAL: Shared = Mutex::const_new(Weak::new());
static RESTATE: Shared = Mutex::const_new(Weak::new());

impl EngineServer {
    /// Starts the engine that the environment asks for: see [`Launcher::find`].
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start), or if there is no program.
    pub async fn find(engine: Engine) -> Result<Self, EngineError> {
        Self::start(engine, Launcher::find(engine)?).await
    }

    /// The server that the tests of this process share. It ends when the last of them drops it.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub async fn shared(engine: Engine) -> Result<Arc<Self>, EngineError> {
        let shared = match engine {
            Engine::Temporal => &TEMPORAL,
            Engine::Restate => &RESTATE,
        };
        let mut shared = shared.lock().await;
        if let Some(server) = shared.upgrade() {
            return Ok(server);
        }
        let server = Arc::new(Self::find(engine).await?);
        *shared = Arc::downgrade(&server);
        Ok(server)
    }

    /// Starts the engine that the environment asks for with variables of its own.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find), or [`EngineError::External`] where the environment names a server that runs.
    pub async fn find_with(
        engine: Engine,
        variables: &[(&str, &str)],
    ) -> Result<Self, EngineError> {
        match Launcher::find(engine)? {
            Launcher::Native(program) => Self::start_native(engine, program, variables).await,
            Launcher::External(_) => Err(EngineError::External),
        }
    }

    /// Starts a server and waits until it answers.
    ///
    /// # Errors
    ///
    /// [`EngineError`] if it cannot be started or does not answer within a minute.
    pub async fn start(engine: Engine, launcher: Launcher) -> Result<Self, EngineError> {
        match launcher {
            Launcher::Native(program) => Self::start_native(engine, program, &[]).await,
            Launcher::External(addresses) => {
                let answers = |path: &str| gets(&addresses.http, path);
                until_ready(engine, None, answers).await?;
                Ok(Self {
                    addresses,
                    native: None,
                })
            }
        }
    }

    async fn start_native(
        engine: Engine,
        program: PathBuf,
        variables: &[(&str, &str)],
    ) -> Result<Self, EngineError> {
        let variables: Vec<_> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let data = TempDir::new().map_err(|source| EngineError::Data { source })?;
        let mut tries = 1;
        loop {
            let ports = free_ports().map_err(|source| EngineError::Data { source })?;
            match run(engine, &program, data.path(), ports, &variables).await {
                Ok(process) => {
                    return Ok(Self {
                        addresses: addresses(engine, ports),
                        native: Some(Native {
                            process,
                            data,
                            engine,
                            program,
                            ports,
                            variables,
                        }),
                    });
                }
                Err(EngineError::Ended { .. }) if tries < TRIES => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it listens.
    #[must_use]
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// What it has logged so far; nothing of a server that somebody else started.
    #[must_use]
    pub fn log(&self) -> String {
        let log = self
            .native
            .as_ref()
            .map(|native| log_of(native.data.path()));
        let text = log.and_then(|log| std::fs::read(log).ok());
        String::from_utf8_lossy(&text.unwrap_or_default()).into_owned()
    }

    /// Kills it with `SIGKILL`, starts it again on the same data and ports, and waits until it answers.
    ///
    /// # Errors
    ///
    /// [`EngineError::External`] for a server that somebody else started, or as [`start`](Self::start).
    pub async fn restart(&mut self) -> Result<(), EngineError> {
        self.kill()?;
        self.revive().await
    }

    /// Kills it with `SIGKILL`.
    ///
    /// # Errors
    ///
    /// [`EngineError::External`] for a server that somebody else started.
    pub fn kill(&mut self) -> Result<(), EngineError> {
        let native = self.native.as_mut().ok_or(EngineError::External)?;
        let killed = native.process.kill();
        killed.map_err(|source| EngineError::Start {
            program: native.program.clone(),
            source,
        })
    }

    /// Starts it again after [`kill`](Self::kill), on the same data and ports, and waits until it answers.
    ///
    /// # Errors
    ///
    /// As [`restart`](Self::restart).
    pub async fn revive(&mut self) -> Result<(), EngineError> {
        let native = self.native.as_mut().ok_or(EngineError::External)?;
        let data = native.data.path();
        let Native {
            engine,
            program,
            ports,
            variables,
            ..
        } = &*native;
        native.process = run(*engine, program, data, *ports, variables).await?;
        Ok(())
    }
}

async fn run(
    engine: Engine,
    program: &Path,
    data: &Path,
    ports: [u16; 3],
    variables: &[(String, String)],
) -> Result<Process, EngineError> {
    let mut command = Command::new(program);
    match engine {
        Engine::Temporal => temporal(&mut command, data, ports),
        Engine::Restate => restate(&mut command, data, ports),
    }
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    let log = log_of(data);
    let failed = |source| EngineError::Start {
        program: program.to_owned(),
        source,
    };
    let output = File::options().create(true).append(true).open(&log);
    let output = output.map_err(failed)?;
    command.stdout(output.try_clone().map_err(failed)?);
    command.stderr(output);
    let mut process = Process::start(&mut command).map_err(failed)?;
    let http = addresses(engine, ports).http;
    let mut answers = |path: &str| gets(&http, path);
    let started = until_ready(engine, Some((&mut process, &log)), &mut answers).await;
    started.map(|()| process)
}

fn log_of(data: &Path) -> PathBuf {
    data.join("log")
}

fn temporal(command: &mut Command, data: &Path, [frontend, http, metrics]: [u16; 3]) {
    command
        .args(["server", "start-dev", "--headless", "--log-level", "error"])
        .args(["--port", &frontend.to_string()])
        .args(["--http-port", &http.to_string()])
        .args(["--metrics-port", &metrics.to_string()])
        .arg("--db-filename")
        .arg(data.join("temporal.db"))
        // A killed process loses nothing by this: only a power cut would.
        .args([
            "--sqlite-pragma",
            "synchronous=off",
            "--sqlite-pragma",
            "journal_mode=wal",
        ])
        .args([
            "--dynamic-config-value",
            "history.transferProcessorMaxPollRPS=100000",
        ]);
}

fn restate(command: &mut Command, data: &Path, [ingress, admin, node]: [u16; 3]) {
    command
        .arg("--base-dir")
        .arg(data.join("restate"))
        .arg("--no-logo")
        .env(
            "RESTATE_INGRESS__BIND_ADDRESS",
            format!("127.0.0.1:{ingress}"),
        )
        .env("RESTATE_ADMIN__BIND_ADDRESS", format!("127.0.0.1:{admin}"))
        .env("RESTATE_BIND_ADDRESS", format!("127.0.0.1:{node}"))
        .env(
            "RESTATE_ADVERTISED_ADDRESS",
            format!("http://127.0.0.1:{node}"),
        )
        .env("RESTATE_LOG_FILTER", "warn")
        .env("RESTATE_DISABLE_TELEMETRY", "true");
}

fn addresses(engine: Engine, [first, second, _]: [u16; 3]) -> Addresses {
    let main = match engine {
        Engine::Temporal => format!("127.0.0.1:{first}"),
        Engine::Restate => format!("http://127.0.0.1:{first}"),
    };
    Addresses {
        main,
        http: format!("http://127.0.0.1:{second}"),
    }
}

/// All of them are held before any is given back, so that they differ.
fn free_ports() -> io::Result<[u16; 3]> {
    let listen = || TcpListener::bind("127.0.0.1:0");
    let held = [listen()?, listen()?, listen()?];
    let [a, b, c] = held
        .each_ref()
        .map(|held| held.local_addr().map(|at| at.port()));
    Ok([a?, b?, c?])
}

async fn until_ready(
    engine: Engine,
    mut native: Option<(&mut Process, &Path)>,
    mut answers: impl FnMut(&str) -> bool,
) -> Result<(), EngineError> {
    let path = match engine {
        Engine::Temporal => "/api/v1/namespaces/default",
        Engine::Restate => "/health",
    };
    let deadline = Instant::now() + START;
    loop {
        if answers(path) {
            return Ok(());
        }
        let log = match &mut native {
            Some((process, log)) => {
                if let Ok(Some(status)) = process.ended() {
                    let log = tail(log);
                    return Err(EngineError::Ended { status, log });
                }
                tail(log)
            }
            None => String::new(),
        };
        if Instant::now() > deadline {
            return Err(EngineError::Silent { log });
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}

/// Whether a plain GET is answered well.
fn gets(url: &str, path: &str) -> bool {
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    let get = || -> io::Result<String> {
        let mut stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        // HTTP/1.0: the answer ends with the connection.
        write!(stream, "GET {path} HTTP/1.0\r\nhost: {host}\r\n\r\n")?;
        let mut start = [0; 12];
        stream.read_exact(&mut start)?;
        Ok(String::from_utf8_lossy(&start).into_owned())
    };
    get().is_ok_and(|start| start.ends_with(" 200"))
}

fn tail(log: &Path) -> String {
    const LINES: usize = 20;
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

/// An engine is not there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// There is no program.
    #[error(
        "there is no {name}: set {variable} to the program, or see why `cargo xtask engines {name}` fails: {why}"
    )]
    NoProgram {
        /// The program.
        name: &'static str,
        /// The variable that may name it.
        variable: &'static str,
        /// What `cargo xtask engines` said.
        why: String,
    },
    /// A program cannot be started or ended.
    #[error("cannot start or end {}", .program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// There is no place for its data, or no port.
    #[error("no directory or no free port for a server")]
    Data {
        /// The cause.
        source: io::Error,
    },
    /// It ended by itself.
    #[error("the server ended with {status}:\n{log}")]
    Ended {
        /// How.
        status: std::process::ExitStatus,
        /// The end of its log.
        log: String,
    },
    /// It does not answer.
    #[error("the server does not answer:\n{log}")]
    Silent {
        /// The end of its log.
        log: String,
    },
    /// It is somebody else's.
    #[error("the server was started by somebody else: it cannot be killed here")]
    External,
}
