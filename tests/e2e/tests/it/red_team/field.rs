//! One run of a hostile agent, and its results.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use neuron_harness::{
    Engine, EngineServer, FakeModel, Launcher, Reply, Running, World, chat, eventually,
    free_address, python,
};
use neuron_testing::redteam::{Aim, Attempt, Bounds, Deciders, Door, Means, Outside, attempts};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::workers::{serves, worker};

const RUN: &str = "attacked";
const QUEUE: &str = "attackers";

pub(crate) struct Field {
    door: Door,
    bounds: Bounds,
    approver: Option<Approver>,
    attempts: Vec<Attempt>,
    // The order matters: the processes end before what they run on is removed.
    outside: Outside,
    model: FakeModel,
    world: World,
    server: Option<EngineServer>,
}

impl Field {
    pub(crate) fn new(door: Door, bounds: Bounds, deciders: Deciders) -> Self {
        let mut attempts = attempts(door);
        let approver = (deciders == Deciders::Approvers).then(Approver::new);
        if approver.is_some() {
            // These attacks change nothing about the others.
            attempts.retain(|attempt| attempt.attack.aim == Aim::Decide);
        }
        let mut world = World::new();
        let mut outside = Outside::new(&world, &attempts);
        let neuron = PathBuf::from(world.command::<&str>(&[]).get_program());
        let mut path = vec![folder_of(&neuron)];
        outside.tell("run", RUN);
        outside.tell("queue", QUEUE);
        outside.tell("neuron", neuron.to_str().unwrap());
        let server = engine(door).map(|engine| {
            let runtime = Runtime::new().unwrap();
            let server = runtime.block_on(EngineServer::find(engine));
            server.unwrap_or_else(|error| panic!("there is no server: {error}"))
        });
        // The variables of the other engine are empty.
        for name in [
            "engine",
            "python",
            "temporal",
            "temporal_address",
            "temporal_http",
            "ingress",
            "admin",
        ] {
            outside.tell(name, "");
        }
        if let Some(server) = &server {
            let addresses = server.addresses();
            world.set("NEURON_TASK_QUEUE", QUEUE);
            match door {
                Door::Temporal => {
                    let program = temporal();
                    path.push(folder_of(&program));
                    outside.tell("engine", "temporal");
                    outside.tell("temporal", program.to_str().unwrap());
                    outside.tell("python", python().to_str().unwrap());
                    outside.tell("temporal_address", &addresses.main);
                    outside.tell("temporal_http", &addresses.http);
                    world.set("NEURON_ENGINE", "temporal");
                    world.set("TEMPORAL_ADDRESS", &addresses.main);
                }
                _ => {
                    outside.tell("engine", "restate");
                    outside.tell("ingress", addresses.main.trim_end_matches('/'));
                    outside.tell("admin", addresses.http.trim_end_matches('/'));
                    world.set("NEURON_ENGINE", "restate");
                    world.set("RESTATE_INGRESS_URL", &addresses.main);
                    world.set("RESTATE_ADMIN_URL", &addresses.http);
                }
            }
        }
        // The place looks as it does for users: the programs on PATH, so that they can be started in a sandbox, the
        // journal in the working directory, the agent file named, so that it is trusted.
        path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
        world.set(
            "PATH",
            env::join_paths(path).unwrap().into_string().unwrap(),
        );
        world.set("NEURON_HOME", world.file(".neuron").to_str().unwrap());
        world.set("NEURON_CONFIG", "neuron.toml");
        world.set("NEURON_TRUST", "0");
        let model = model(&attempts, &outside, bounds, deciders);
        let shown = match door {
            Door::Temporal => parts_of_python(),
            _ => Vec::new(),
        };
        let mut file = agent_file(&model, bounds, &shown);
        file.extend(approver.iter().map(Approver::table));
        world.write("neuron.toml", &file);
        Self {
            door,
            bounds,
            approver,
            attempts,
            outside,
            model,
            world,
            server,
        }
    }

    /// Makes all attacks, and checks which have succeeded.
    pub(crate) fn fight(self) {
        // The worker lives until it is known which attacks have succeeded.
        let _worker = match self.door {
            Door::Memory => {
                self.in_memory();
                None
            }
            Door::Journal => {
                self.in_a_journal();
                None
            }
            Door::Temporal | Door::Restate => Some(self.on_an_engine()),
        };
        let results = self.results();
        let is_root = Outside::is_root();
        let mut wrong = Vec::new();
        for attempt in &self.attempts {
            let result = results
                .get(&attempt.name)
                .unwrap_or_else(|| panic!("{} was not made: {results:#?}", attempt.name));
            let expected =
                self.bounds
                    .let_through(self.deciders(), &attempt.attack, attempt.means, is_root);
            let found = self.outside.breached(attempt, result, expected);
            if found != expected {
                let what = if found { "succeeded" } else { "failed" };
                wrong.push(format!("{} {what}: {result}", attempt.name));
            }
        }
        assert!(
            wrong.is_empty(),
            "{:?}, {:?}, {:?}, on {:?}:\n{}",
            self.door,
            self.bounds,
            self.deciders(),
            self.server.as_ref().map(EngineServer::addresses),
            wrong.join("\n")
        );
    }

    fn in_memory(&self) {
        let test = env::current_exe().unwrap();
        let program = test
            .ancestors()
            .nth(2)
            .unwrap()
            .join("examples")
            .join("in_memory");
        let command = self.world.plain(program);
        drop(self.start(command).finish().exits(0));
    }

    fn in_a_journal(&self) {
        let run = self.world.command(&["run", "Go.", "--id", RUN]);
        let mut ended = self.start(run).finish();
        // The run waits for a person as long as there are tickets.
        while ended.code == Some(3) {
            self.deny();
            let resume = self.world.command(&["resume", RUN]);
            ended = self.start(resume).finish();
        }
        drop(ended.exits(0));
    }

    fn on_an_engine(&self) -> Running {
        let (name, ready) = match self.door {
            Door::Temporal => ("neuron-temporal-worker", "serving "),
            _ => ("neuron-restate-worker", "registered"),
        };
        let mut command = self.world.plain(worker(name, &self.world));
        if self.door == Door::Restate {
            command.args(["--register-force", "--listen", &free_address()]);
        }
        let mut worker = self.start(command);
        serves(&mut worker, ready);
        self.world.does(0, &["submit", "Go.", "--id", RUN]);
        eventually("begin of the run", || {
            let said = self.world.neuron(&["events", RUN, "--json"]);
            (said.code == Some(0)).then_some(())
        });
        // The follower takes little time from the processes that it waits for.
        let mut follower = self.world.start(&["events", RUN, "--json", "--follow"]);
        eventually("end of all attacks", || {
            // The follower ends with the run, after all events.
            let is_running = follower.is_running();
            let said = follower.stdout();
            let whole = said.rsplit_once('\n').map_or("", |(whole, _)| whole);
            let events: Vec<Value> = whole
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            let has_ended = |attempt: &Attempt| {
                events.iter().any(|event| {
                    event["type"] == "tool_finished" && event["call_id"] == attempt.name.as_str()
                })
            };
            let have_ended = self.attempts.iter().all(has_ended);
            assert!(have_ended || is_running, "{said}{}", follower.stderr());
            have_ended.then_some(())
        });
        drop(follower);
        self.deny();
        self.world.does(0, &["wait", RUN]);
        worker
    }

    /// Starts the process that executes the run.
    fn start(&self, mut command: Command) -> Running {
        command.envs(self.outside.environment());
        self.world.launch(self.outside.with_open_files(&command))
    }

    fn deciders(&self) -> Deciders {
        match self.approver {
            Some(_) => Deciders::Approvers,
            None => Deciders::Anybody,
        }
    }

    /// Denies every open ticket. If there is an approver, the decision is theirs and is accepted, whatever was sent
    /// before it.
    fn deny(&self) {
        for ticket in self.world.status(RUN)["approvals"].as_array().unwrap() {
            let id = ticket["ticket"].as_str().unwrap();
            if let Some(approver) = &self.approver {
                let key = approver.key();
                let deny = ["deny", RUN, id, "--within", "1d", "--sign", &key];
                self.world.does(0, &deny);
                continue;
            }
            // A call that was approved a moment ago is not open any more.
            drop(self.world.neuron(&["deny", RUN, id]));
        }
    }

    /// Returns the results that the model read, by call.
    fn results(&self) -> BTreeMap<String, String> {
        let last = self.model.bodies().pop().unwrap();
        chat::tool_results(&last).into_iter().collect()
    }
}

/// An approver, with a key that is unknown to the agent and its processes.
struct Approver {
    keys: TempDir,
}

impl Approver {
    fn new() -> Self {
        let keys = tempfile::tempdir().unwrap();
        let mut made = Command::new("ssh-keygen");
        made.args(["-q", "-t", "ed25519", "-N", "", "-C", "ada", "-f"]);
        assert!(
            made.arg(keys.path().join("key"))
                .status()
                .unwrap()
                .success()
        );
        Self { keys }
    }

    /// Returns the path of the key's file.
    fn key(&self) -> String {
        let key = self.keys.path().join("key");
        key.to_str().unwrap().to_owned()
    }

    /// Returns the approver's table in the agent file.
    fn table(&self) -> String {
        let public = fs::read_to_string(self.keys.path().join("key.pub")).unwrap();
        format!("\n[approvers.ada]\nkey = \"{}\"\n", public.trim())
    }
}

fn engine(door: Door) -> Option<Engine> {
    match door {
        Door::Memory | Door::Journal => None,
        Door::Temporal => Some(Engine::Temporal),
        Door::Restate => Some(Engine::Restate),
    }
}

/// Returns the path of Temporal's own command.
fn temporal() -> PathBuf {
    let Launcher::Native(program) = Launcher::find(Engine::Temporal).unwrap() else {
        panic!("this test needs Temporal's own command: set NEURON_TEMPORAL to it");
    };
    program
}

/// Returns the directories that Python reads, which no sandbox shows by itself.
fn parts_of_python() -> Vec<String> {
    let says = "import sys; print(sys.prefix); print(sys.base_prefix)";
    let said = Command::new(python()).args(["-c", says]).output().unwrap();
    assert!(said.status.success(), "{said:?}");
    let said = String::from_utf8(said.stdout).unwrap();
    said.lines().map(ToOwned::to_owned).collect()
}

/// Returns the worker that `cargo xtask test` has built, or the one beside the command.
fn folder_of(program: &Path) -> PathBuf {
    let real = program.canonicalize().unwrap();
    real.parent().unwrap().to_owned()
}

/// Returns a model that asks for all attacks in one turn, each attack that decides beside a call that needs a ticket,
/// and for a command after them, which starts what they have left for it.
fn model(attempts: &[Attempt], outside: &Outside, bounds: Bounds, deciders: Deciders) -> FakeModel {
    let is_root = Outside::is_root();
    let mut calls: Vec<(String, &str, Value)> = Vec::new();
    for attempt in attempts {
        let mut ticket = String::new();
        if attempt.decides() {
            let file = outside.decided(&attempt.name);
            let args = json!({"path": file, "content": "made\n"});
            calls.push((format!("decided-{}", attempt.name), "write_file", args));
            ticket = format!("t1-{}", calls.len());
        }
        if let Some((tool, args)) = outside.file_call(attempt) {
            calls.push((attempt.name.clone(), tool, args));
            continue;
        }
        let tool = match attempt.means {
            Means::Server => "attacker__run",
            _ => "bash",
        };
        let succeeds = bounds.let_through(deciders, &attempt.attack, attempt.means, is_root);
        let tries = match deciders {
            Deciders::Anybody => 25,
            // Once an attack has found its ticket, every further try is the same.
            Deciders::Approvers => 8,
        };
        let args = json!({"command": outside.script(attempt, &ticket, succeeds, tries)});
        calls.push((attempt.name.clone(), tool, args));
    }
    FakeModel::start(move |request| {
        let calls: Vec<_> = calls
            .iter()
            .map(|(id, tool, args)| (id.as_str(), *tool, args.clone()))
            .collect();
        Reply::ok(match chat::turn(&request.body) {
            1 => chat::calls(&calls),
            2 => chat::calls(&[("after", "bash", json!({"command": "true"}))]),
            _ => chat::text("Done."),
        })
    })
}

fn agent_file(model: &FakeModel, bounds: Bounds, shown: &[String]) -> String {
    let [node, server] = Outside::server();
    let agent = model.agent_file(&format!(
        "tools = [\"bash\", \"read_file\", \"write_file\", \"edit_file\", \"mcp:attacker\"]\nask = [\"write_file\"]\n\
         parallel_writes = true\ncalls_per_turn = 120\ntool_timeout = \"1d\" # Nothing ends by it.\n{}\n",
        bounds.agent(shown)
    ));
    format!(
        "include = [\"agents/*.toml\"]\n\n{agent}\n[mcp.attacker]\ncommand = [\"{node}\", \"{server}\"]\n{}\n",
        bounds.server(shown)
    )
}
