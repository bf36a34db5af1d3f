//! A directory whose commands use a server of its own, and the workers there.

use std::{
    env,
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use neuron_harness::{Engine, EngineServer, Launcher, free_address};
use serde_json::Value;

use crate::support::{Done, Home, eventually};

pub(crate) struct Place {
    pub(crate) home: Home,
    engine: Engine,
    /// The address at which Restate looks for the worker of a run: the worker's address when the run started.
    worker_address: String,
    // The server ends when it is dropped.
    server: EngineServer,
}

impl Place {
    /// Returns a place whose agent `default` follows a script, with the tools that `agent` names.
    pub(crate) fn new(engine: Engine, turns: &Value, agent: &str) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let server = runtime.block_on(EngineServer::find(engine));
        let server = server.unwrap_or_else(|error| panic!("there is no server: {error}"));
        let mut home = Home::with_script(turns, agent);
        let addresses = server.addresses();
        match engine {
            Engine::Temporal => {
                home.set("NEURON_ENGINE", "temporal");
                home.set("TEMPORAL_ADDRESS", &addresses.main);
            }
            Engine::Restate => {
                home.set("NEURON_ENGINE", "restate");
                home.set("RESTATE_INGRESS_URL", &addresses.main);
                home.set("RESTATE_ADMIN_URL", &addresses.http);
            }
        }
        Self {
            home,
            engine,
            worker_address: free_address(),
            server,
        }
    }

    /// Returns a worker that serves the agents, once the engine knows it.
    pub(crate) fn worker(&self) -> Worker {
        self.worker_with(&[])
    }

    /// Does the same as `worker`, with these arguments.
    pub(crate) fn worker_with(&self, args: &[&str]) -> Worker {
        let log = self.home.path("worker.log");
        let output = File::create(&log).unwrap();
        let mut command = Command::new(worker_program(self.engine));
        command
            .args(args)
            .current_dir(self.home.dir())
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .envs(self.home.variables())
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output);
        let ready = match self.engine {
            Engine::Temporal => "serving ",
            Engine::Restate => {
                command.args(["--register-force", "--listen", &self.worker_address]);
                "registered"
            }
        };
        let mut process = command.spawn().unwrap();
        eventually("a worker that serves", || {
            let log = std::fs::read_to_string(&log).unwrap();
            let ended = process.try_wait().unwrap();
            assert!(ended.is_none(), "the worker ended: {log}");
            log.contains(ready)
        });
        Worker { process }
    }

    /// Returns the output of Temporal's own command, which must succeed.
    #[track_caller]
    pub(crate) fn temporal(&self, args: &[&str]) -> String {
        let Launcher::Native(program) = Launcher::find(Engine::Temporal).unwrap() else {
            panic!("this test needs Temporal's own command: set NEURON_TEMPORAL to it");
        };
        let mut command = Command::new(program);
        command.args(args).envs(self.home.variables());
        Done::from(command.output().unwrap()).exits(0).stdout
    }

    /// Returns the output of `curl` for a request with a body, which must succeed.
    #[track_caller]
    pub(crate) fn curl(&self, url: &str, body: &Value) -> String {
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", "--fail-with-body"]);
        command.args(["--header", "accept: application/json"]);
        command.args(["--json", &body.to_string(), url]);
        Done::from(command.output().unwrap()).exits(0).stdout
    }

    /// Returns the URL at which the server takes requests for runs, or Temporal's address.
    pub(crate) fn ingress(&self) -> &str {
        &self.server.addresses().main
    }

    /// Returns the URL of the server's own tables.
    pub(crate) fn admin(&self) -> &str {
        &self.server.addresses().http
    }

    /// Returns the folder of the server's data and its log.
    #[track_caller]
    pub(crate) fn data(&self) -> &Path {
        let data = self.server.data();
        data.expect("this test needs a server that it starts: set NEURON_RESTATE and NEURON_TEMPORAL to programs")
    }

    /// Waits until the run is in this state, and returns its status.
    pub(crate) fn await_state(&self, run: &str, state: &str) -> Value {
        let mut status = Value::Null;
        eventually(&format!("{run} is {state}"), || {
            status = self.home.status(run);
            status["state"] == state
        });
        status
    }
}

/// A worker that is killed when it is dropped.
pub(crate) struct Worker {
    process: Child,
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Returns the worker that `cargo xtask test` has built, or the one beside the command.
fn worker_program(engine: Engine) -> PathBuf {
    let (variable, name) = match engine {
        Engine::Temporal => ("NEURON_TEMPORAL_WORKER", "neuron-temporal-worker"),
        Engine::Restate => ("NEURON_RESTATE_WORKER", "neuron-restate-worker"),
    };
    let beside = || Path::new(env!("CARGO_BIN_EXE_neuron")).with_file_name(name);
    let program = env::var_os(variable).map_or_else(beside, PathBuf::from);
    assert!(
        program.exists(),
        "there is no {}: run the tests with `cargo xtask test`, or `cargo build -p {name}` first",
        program.display()
    );
    program
}
