//! A Restate server that lives as long as somebody uses it.

use std::{
    env,
    fs::File,
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, Weak},
    time::{Duration, Instant},
};

use neuron_restate::ServerAddress;
use serde_json::Value;
use tempfile::TempDir;

/// A server on free ports, with its files in a directory of its own.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: ServerAddress,
    listen: [String; 3],
    folder: TempDir,
}

fn spawn(
    folder: &TempDir,
    [ingress, admin, node]: &[String; 3],
    variables: &[(&str, &str)],
) -> Child {
    let log = File::create(folder.path().join("log")).expect("a log file");
    Command::new(program())
        .arg("--base-dir")
        .arg(folder.path().join("base"))
        .env("RESTATE_INGRESS__BIND_ADDRESS", ingress)
        .env("RESTATE_ADMIN__BIND_ADDRESS", admin)
        .env("RESTATE_BIND_ADDRESS", node)
        .env("RESTATE_ADMIN__DISABLE_WEB_UI", "true")
        .env("RESTATE_DISABLE_TELEMETRY", "true")
        .env("RESTATE_DEFAULT_NUM_PARTITIONS", "4")
        .env_remove("RESTATE_INGRESS_URL")
        .env_remove("RESTATE_ADMIN_URL")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a second handle"))
        .stderr(log)
        .spawn()
        .expect("the server can be started")
}

impl Server {
    /// The server of this process's tests. It ends when the last of them drops it.
    pub(crate) fn shared() -> Arc<Self> {
        static SERVER: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        let mut shared = SERVER.lock().unwrap_or_else(|poisoned| {
            // Another test found no server; this one says so itself.
            poisoned.into_inner()
        });
        shared.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Self::start());
            *shared = Arc::downgrade(&server);
            server
        })
    }

    /// A server of its own for one test.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same, with settings.
    pub(crate) fn start_with(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let listen = free_addresses();
        let mut server = Self {
            process: spawn(&folder, &listen, variables),
            address: ServerAddress {
                ingress_url: format!("http://{}", listen[0]),
                admin_url: format!("http://{}", listen[1]),
                auth_token: None,
            },
            listen,
            folder,
        };
        server.wait_until_ready();
        server
    }

    /// What it has logged so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Kills it, and starts it again with what it has on the disk.
    #[allow(dead_code, reason = "the tests of the worker do not need it")]
    pub(crate) fn kill_and_restart(&mut self) {
        self.process.kill().expect("it can be killed");
        self.process.wait().expect("it has ended");
        self.process = spawn(&self.folder, &self.listen, &[]);
        self.wait_until_ready();
    }

    fn wait_until_ready(&mut self) {
        let pages = [
            (&self.listen[0], "/restate/health"),
            (&self.listen[1], "/health"),
        ];
        let deadline = Instant::now() + Duration::from_secs(60);
        while !pages.iter().all(|(address, path)| answers(address, path)) {
            let ended = self.process.try_wait().expect("the process can be asked");
            assert!(
                ended.is_none() && Instant::now() < deadline,
                "the Restate server is not ready ({ended:?}): {}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn answers(address: &str, path: &str) -> bool {
    get(address, path).is_some_and(|(status, _)| status == 200)
}

/// The status code and the body of a GET.
pub(crate) fn get(address: &str, path: &str) -> Option<(u16, String)> {
    use std::io::{Read as _, Write as _};

    let mut stream = std::net::TcpStream::connect(address).ok()?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let code = answer.split_whitespace().nth(1)?.parse().ok()?;
    let body = answer.split_once("\r\n\r\n")?.1.to_owned();
    Some((code, body))
}

fn free_addresses<const N: usize>() -> [String; N] {
    // All are held before one is given back, so that they differ.
    let held = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    held.map(|listener| listener.local_addr().expect("its address").to_string())
}

/// The server's program: `NEURON_RESTATE`, or what `cargo xtask engines` fetches.
fn program() -> PathBuf {
    if let Some(path) = env::var_os("NEURON_RESTATE") {
        return path.into();
    }
    let found = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["xtask", "engines", "restate-server", "--json"])
        .output()
        .expect("cargo can be run");
    let paths: Value = serde_json::from_slice(&found.stdout).unwrap_or_default();
    let path = paths["restate-server"].as_str().unwrap_or_else(|| {
        panic!(
            "there is no Restate server: set NEURON_RESTATE to the restate-server program, or see why \
             `cargo xtask engines restate-server` fails: {}",
            String::from_utf8_lossy(&found.stderr)
        )
    });
    path.into()
}
