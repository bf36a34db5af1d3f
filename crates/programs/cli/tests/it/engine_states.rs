//! At every stage of a run, its status and its output are those of a local run.

use neuron_harness::Engine;
use serde_json::{Value, json};

use crate::{
    engine_place::Place,
    support::{HELD_UP, Home, Started, of_no_run, one_command},
};

/// The agents, each with its script, and how their runs end: the state and the exit code.
const AGENTS: [(&str, &str, &str, i32); 5] = [
    ("completes", "tools = [\"bash\"]", "completed", 0),
    ("fails", "", "failed", 1),
    ("is_cancelled", "tools = [\"bash\"]", "cancelled", 1),
    (
        "is_limited",
        "tools = [\"bash\"]\nlimits = { turns = 1 }",
        "limit_reached",
        1,
    ),
    (
        "asks",
        "tools = [\"bash\"]\nask = [\"bash\"]",
        "completed",
        0,
    ),
];

fn write_agents(home: &Home) {
    let mut file = String::new();
    for (name, keys, _, _) in AGENTS {
        file.push_str(&format!(
            "[providers.{name}]\nkind = \"script\"\nfile = \"{name}.json\"\n\n\
             [agents.{name}]\nmodel = \"{name}/test\"\n{keys}\n\n"
        ));
        let turns = match name {
            "fails" => json!([{ "text": "Never said.", "fail": [
                { "kind": "authentication", "status": 401, "message": "who are you?" },
            ]}]),
            "is_cancelled" => one_command(HELD_UP),
            _ => one_command("echo made >> made"),
        };
        home.write(
            &format!("{name}.json"),
            &json!({ "turns": turns }).to_string(),
        );
    }
    home.write("neuron.toml", &file);
}

/// Returns the part that must be the same whatever the engine, after a check of the rest.
fn comparable(mut value: Value, engine: &str) -> Value {
    of_no_run(&mut value);
    assert_eq!(value["engine"], engine);
    value["engine"] = "ENGINE".into();
    for key in ["started_at", "updated_at"] {
        let Some(time) = value.get_mut(key) else {
            continue;
        };
        let written = time.as_str().unwrap();
        assert!(written.ends_with('Z') && written.contains('T'), "{written}");
        *time = "TIME".into();
    }
    value
}

/// A way to start a run, on an engine or locally.
struct Side<'a> {
    home: &'a Home,
    engine: &'static str,
    start: &'static [&'static str],
}

impl Side<'_> {
    fn start(&self, agent: &str) -> Started {
        let args = ["--id", agent, "--agent", agent, "--json", "go"];
        self.home.start(&[self.start, &args].concat())
    }

    fn status(&self, run: &str) -> Value {
        comparable(self.home.status(run), self.engine)
    }

    /// Returns the observations of the run on its way and at its end, in order.
    fn course(&self, agent: &str, state: &str, code: i32) -> Vec<(String, Value)> {
        let mut seen = Vec::new();
        let mut see = |what: &str, value| seen.push((format!("{agent}: {what}"), value));
        let mut started = self.start(agent);
        if agent == "is_cancelled" {
            self.home.await_file("begun");
            self.home.await_event(agent, "tool_called");
            see("running", self.status(agent));
            self.home
                .neuron(&["cancel", agent, "--reason", "enough"])
                .exits(0);
        }
        if agent == "asks" {
            self.home.await_event(agent, "approval_requested");
            crate::support::eventually("a ticket", || {
                self.home.status(agent)["state"] == "waiting_for_approval"
            });
            see("waiting", self.status(agent));
            if self.engine == "local" {
                started.done().exits(3);
                self.home.neuron(&["approve", agent]).exits(0);
                started = self.home.start(&["resume", agent, "--json"]);
            } else {
                self.home.neuron(&["approve", agent]).exits(0);
            }
        }
        let printed = started.done().exits(code).json();
        assert_eq!(printed["state"], state, "{printed}");
        see("printed", comparable(printed, self.engine));
        see("over", self.status(agent));
        let waited = self.home.neuron(&["wait", agent, "--json"]).exits(code);
        see("waited for", comparable(waited.json(), self.engine));
        seen
    }
}

fn every_state_looks_as_locally(engine: Engine, name: &'static str) {
    let local = Home::new();
    let place = Place::new(engine, &json!([]), "");
    for home in [&local, &place.home] {
        write_agents(home);
    }
    let _worker = place.worker();
    let here = Side {
        home: &local,
        engine: "local",
        start: &["run"],
    };
    let there = Side {
        home: &place.home,
        engine: name,
        start: &["submit", "--wait"],
    };
    for (agent, _, state, code) in AGENTS {
        let here = here.course(agent, state, code);
        let there = there.course(agent, state, code);
        assert_eq!(there, here);
        for (_, value) in &here {
            let keys = value.as_object().unwrap().len();
            assert!(keys > 8, "all keys are there at every stage: {value}");
        }
    }
}

#[test]
fn on_temporal_every_state_looks_as_locally() {
    every_state_looks_as_locally(Engine::Temporal, "temporal");
}

#[test]
fn on_restate_every_state_looks_as_locally() {
    every_state_looks_as_locally(Engine::Restate, "restate");
}
