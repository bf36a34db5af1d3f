//! A worker with its engine, and the command beside them.

use std::{
    env, fs,
    path::PathBuf,
    process::Command,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use neuron_harness::{
    Addresses, Engine, EngineServer, Finished, Link, Running, World, free_address, http,
};
use neuron_patience::{long_patience, patience};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{EngineName, model::Model};

/// How long a thread waits before it looks again.
pub(crate) const BETWEEN_LOOKS: Duration = Duration::from_millis(2); // Between two looks.

/// The same for a look that starts a process.
pub(crate) const BETWEEN_CALLS: Duration = Duration::from_millis(200); // Between two looks.

/// One engine with a server of its own, a worker in a folder, and a link between the two.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) engine: EngineName,
    /// The link between the worker and the server, on an engine with a server.
    pub(crate) link: Option<Link>,
    addresses: Option<Addresses>,
    machines: Mutex<Machines>,
    runtime: Runtime,
    world: World,
    worker_arguments: Vec<String>,
    /// The address at which Restate's worker listens.
    listen: String,
    /// The worker's health address.
    health: String,
    calls: AtomicUsize,
}

/// The processes that can be killed. The worker ends first.
#[derive(Debug)]
struct Machines {
    worker: Option<Running>,
    server: Option<EngineServer>,
}

impl Site {
    /// Returns a place with this agent file, and a worker with these arguments that serves it.
    pub(crate) fn open(engine: EngineName, agent_file: &str, worker_arguments: &[&str]) -> Self {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        let server = engine.server().map(|server| {
            let found = runtime.block_on(EngineServer::find(server));
            found.unwrap_or_else(|error| panic!("{error}"))
        });
        let addresses = server.as_ref().map(|server| server.addresses().clone());
        let mut world = World::new();
        world.write("neuron.toml", agent_file);
        world.set("NEURON_ENGINE", engine.as_str());
        let listen = free_address();
        let link = match (engine.server(), &addresses) {
            (Some(Engine::Temporal), Some(addresses)) => {
                world.set("TEMPORAL_ADDRESS", addresses.main.clone());
                Some(Link::to(&addresses.main))
            }
            (Some(Engine::Restate), Some(addresses)) => {
                world.set("RESTATE_INGRESS_URL", addresses.main.clone());
                world.set("RESTATE_ADMIN_URL", addresses.http.clone());
                Some(Link::to(&listen))
            }
            _ => None,
        };
        let site = Self {
            engine,
            link,
            addresses,
            machines: Mutex::new(Machines {
                worker: None,
                server,
            }),
            runtime,
            world,
            worker_arguments: worker_arguments
                .iter()
                .map(|arg| (*arg).to_owned())
                .collect(),
            listen,
            health: free_address(),
            calls: AtomicUsize::new(0),
        };
        site.start_worker();
        site
    }

    /// Reports the progress of the soak on standard error.
    pub(crate) fn note(&self, what: &str) {
        eprintln!("{}: {what}", self.engine);
    }

    fn machines(&self) -> MutexGuard<'_, Machines> {
        self.machines.lock().unwrap()
    }

    /// Returns the addresses of the server.
    pub(crate) fn addresses(&self) -> &Addresses {
        self.addresses.as_ref().expect("an engine with a server")
    }

    /// Returns the folder of the local journal.
    pub(crate) fn home(&self) -> PathBuf {
        self.world.home()
    }

    /// Writes a file into the folder that the agents work in.
    pub(crate) fn write(&self, name: &str, text: &str) {
        self.world.write(name, text);
    }

    /// Returns the content of a file in that folder; empty if the file is missing.
    pub(crate) fn read(&self, name: &str) -> String {
        self.world.read(name)
    }

    fn worker_command(&self) -> Command {
        let link = self.link.as_ref().map(Link::address).unwrap_or_default();
        let mut command = match self.engine {
            EngineName::Local => self.world.command(&["worker"]),
            EngineName::Temporal => {
                let mut command = self.world.plain(program("NEURON_TEMPORAL_WORKER"));
                command.env("TEMPORAL_ADDRESS", link);
                command
            }
            EngineName::Restate => {
                let mut command = self.world.plain(program("NEURON_RESTATE_WORKER"));
                command.args(["--listen", &self.listen, "--register-force"]);
                command.args(["--url", &format!("http://{link}")]);
                command
            }
        };
        command.args(["--http", &self.health]);
        command.args(&self.worker_arguments);
        command
    }

    /// Starts the worker, and waits until it is ready.
    pub(crate) fn start_worker(&self) {
        let started = self.world.launch(self.worker_command());
        let mut machines = self.machines();
        let worker = machines.worker.insert(started);
        let deadline = Instant::now() + patience();
        while http::get(&self.health, "/readyz").is_none_or(|(status, _)| status != 200) {
            let late = Instant::now() > deadline;
            if late || !worker.is_running() {
                panic!(
                    "the worker is not ready:\n{}{}",
                    worker.stdout(),
                    worker.stderr()
                );
            }
            thread::sleep(BETWEEN_LOOKS); // Between two looks.
        }
    }

    /// Kills the worker with `SIGKILL`.
    pub(crate) fn kill_worker(&self) {
        if let Some(worker) = self.machines().worker.take() {
            drop(worker.kill());
        }
    }

    /// Kills the server with `SIGKILL`, starts it again on the same data, and waits until it answers.
    pub(crate) fn restart_server(&self) {
        if let Some(server) = self.machines().server.as_mut() {
            let restarted = self.runtime.block_on(server.restart());
            restarted.unwrap_or_else(|error| panic!("{error}"));
        }
    }

    /// Returns the resident memory of the worker, in MiB.
    pub(crate) fn worker_mb(&self) -> f64 {
        let id = self.machines().worker.as_ref().unwrap().id();
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let mut lines = status.lines();
        let line = lines.find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let kib: f64 = line.trim().trim_end_matches("kB").trim().parse().unwrap();
        kib / 1024.0
    }

    /// Calls `neuron` with these arguments. If it has not ended in this time, it is killed, and the result is `None`.
    pub(crate) fn call(&self, args: &[&str], time: Duration) -> Option<Finished> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let place = self.world.work().with_file_name(format!("call-{number}"));
        let mut running = Running::start(self.world.command(args), &place);
        let deadline = Instant::now() + time;
        let mut ended = !running.is_running();
        while !ended && Instant::now() < deadline {
            thread::sleep(BETWEEN_LOOKS); // Between two looks.
            ended = !running.is_running();
        }
        let finished = ended.then(|| running.finish());
        // There are tens of thousands of these files.
        for kind in ["out", "err"] {
            fs::remove_file(place.with_extension(kind)).ok();
        }
        finished
    }

    /// Returns what a command prints with `--json`; `None` unless it succeeds.
    pub(crate) fn ask(&self, args: &[&str], time: Duration) -> Option<Value> {
        self.prints(args, time).map(|finished| finished.json())
    }

    /// Does the same as [`ask`](Self::ask) for a command that prints a value a line.
    pub(crate) fn ask_lines(&self, args: &[&str], time: Duration) -> Option<Vec<Value>> {
        self.prints(args, time)
            .map(|finished| finished.json_lines())
    }

    fn prints(&self, args: &[&str], time: Duration) -> Option<Finished> {
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let finished = self.call(&args, time)?;
        (finished.code == Some(0)).then_some(finished)
    }

    /// Starts a run whose prompt begins with its id. Returns whether the run exists now; an existing run is not
    /// changed.
    pub(crate) fn start(&self, run: &str, agent: &str) -> bool {
        let prompt = format!("{run} go");
        let request = json!({"agent": agent, "prompt": prompt});
        match self.engine {
            EngineName::Local => {
                let args = ["submit", &prompt, "--id", run, "--agent", agent];
                self.ask(&args, patience()).is_some()
                    || self.ask(&["status", run], patience()).is_some()
            }
            EngineName::Temporal => {
                let path = format!("POST /api/v1/namespaces/default/workflows/{run}");
                let body = json!({
                    "workflowType": {"name": "agent"},
                    "taskQueue": {"name": "neuron"},
                    "workflowIdReusePolicy": "WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE",
                    "input": [request],
                });
                self.sends(&self.addresses().http, &path, &body, &[200, 409])
            }
            EngineName::Restate => {
                let path = format!("POST /neuron/{run}/run/send");
                self.sends(&self.addresses().main, &path, &request, &[200, 202])
            }
        }
    }

    fn sends(&self, url: &str, request: &str, body: &Value, statuses: &[u16]) -> bool {
        let answer = http::try_ask(url.trim_end_matches('/'), request, &body.to_string());
        answer.is_some_and(|answer| {
            statuses
                .iter()
                .any(|status| http::has_status(&answer, *status))
        })
    }

    /// Starts a run, and tries again after a failure.
    pub(crate) fn starts(&self, run: &str, agent: &str) {
        let what = format!("start of {run}");
        self.wait(&what, patience(), BETWEEN_CALLS, || {
            self.start(run, agent).then_some(())
        });
    }

    /// Returns the open tickets of all runs; `None` if the command fails.
    pub(crate) fn tickets(&self) -> Option<Vec<(String, String)>> {
        let listed = self.ask(&["approvals"], long_patience())?;
        let text = |ticket: &Value, key: &str| ticket[key].as_str().unwrap().to_owned();
        let tickets = listed.as_array().unwrap().iter();
        Some(
            tickets
                .map(|ticket| (text(ticket, "run_id"), text(ticket, "ticket")))
                .collect(),
        )
    }

    /// Returns the statuses of the newest runs, at most this many; `None` if the command fails.
    pub(crate) fn newest(&self, limit: usize) -> Option<Vec<Value>> {
        let listed = self.ask(&["runs", "--limit", &limit.to_string()], long_patience())?;
        Some(listed.as_array().unwrap().clone())
    }

    /// Waits until all of this many runs are over, and returns those that did not complete with this output.
    pub(crate) fn all_end(&self, runs: usize, output: &str, time: Duration) -> Vec<String> {
        let mut left = usize::MAX;
        let statuses = self.wait("end of all runs", time, BETWEEN_CALLS, || {
            let listed = self.newest(runs)?;
            let over = listed.iter().filter(|status| is_over(status)).count();
            if left != runs - over {
                left = runs - over;
                self.note(&format!("{left} of {runs} runs go on"));
            }
            (over == runs).then_some(listed)
        });
        let is_well = |status: &Value| {
            status["state"] == "completed" && status["last_message"].as_str() == Some(output)
        };
        let others = statuses.iter().filter(|status| !is_well(status));
        others.map(Value::to_string).collect()
    }

    /// Looks until there is a value, and returns it.
    ///
    /// # Panics
    ///
    /// If there is no value within this time, or if the worker ends meanwhile and no fault has killed it.
    pub(crate) fn wait<T>(
        &self,
        what: &str,
        time: Duration,
        between: Duration,
        mut look: impl FnMut() -> Option<T>,
    ) -> T {
        let deadline = Instant::now() + time;
        loop {
            if let Some(found) = look() {
                return found;
            }
            if let Some(output) = self.ended_worker() {
                panic!("no {what}: the worker has ended by itself:\n{output}");
            }
            assert!(Instant::now() < deadline, "no {what} within {time:?}");
            thread::sleep(between); // Between two looks.
        }
    }

    /// Waits until a model has answered this turn of this many runs.
    pub(crate) fn answered(&self, model: &Model, turn: usize, runs: usize, time: Duration) {
        let what = format!("turn {turn} of {runs} runs");
        self.wait(&what, time, BETWEEN_CALLS, || {
            (model.runs_with_turn(turn) >= runs).then_some(())
        });
    }

    /// Returns what a worker has written that ended and was not killed.
    fn ended_worker(&self) -> Option<String> {
        let mut machines = self.machines();
        let worker = machines.worker.as_mut()?;
        let is_ended = !worker.is_running();
        is_ended.then(|| format!("{}{}", worker.stdout(), worker.stderr()))
    }

    /// Ends a run from outside, by the engine and without notifying the run. Returns whether that was done: a run that
    /// is over cannot be ended.
    pub(crate) fn terminate(&self, run: &str) -> bool {
        match self.engine {
            EngineName::Local => false,
            EngineName::Temporal => {
                let path = format!("POST /api/v1/namespaces/default/workflows/{run}/terminate");
                let body = json!({"reason": "the soak ends it"});
                self.sends(&self.addresses().http, &path, &body, &[200])
            }
            EngineName::Restate => {
                let query = format!(
                    "SELECT id FROM sys_invocation WHERE target = 'neuron/{run}/run' \
                     AND status != 'completed'"
                );
                let body = json!({"query": query}).to_string();
                let url = &self.addresses().http;
                let answer = http::try_ask(url, "POST /query", &body);
                let found = answer.as_deref().and_then(http::json);
                let id = found.and_then(|found| {
                    let id = found["rows"][0]["id"].as_str();
                    id.map(str::to_owned)
                });
                id.is_some_and(|id| {
                    let path = format!("PATCH /invocations/{id}/kill");
                    self.sends(url, &path, &json!({}), &[200])
                })
            }
        }
    }
}

/// Returns whether a run of this status is over.
pub(crate) fn is_over(status: &Value) -> bool {
    let state = status["state"].as_str().unwrap_or_default();
    ["completed", "failed", "cancelled", "limit_reached"].contains(&state)
}

/// Returns a program that `cargo xtask` builds.
fn program(variable: &str) -> PathBuf {
    let path = env::var_os(variable);
    path.expect("the workers: use `cargo xtask soak` or `cargo xtask test`")
        .into()
}
