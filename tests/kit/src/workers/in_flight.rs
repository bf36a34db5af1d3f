//! A write, a read and a model call that are in flight at the same time.

use std::{fs, time::Duration};

use neuron_harness::{FakeModel, Gate, HOSTILE_SERVER, Reply, chat, until};
use neuron_types::{Message, RunRequest};
use serde_json::json;

use super::AgentFolder;

/// The agent of a folder whose three runs each hold one step until they are released, and the checks of the result.
#[derive(Debug)]
pub struct InFlight {
    model: FakeModel,
    gate: Gate,
}

impl InFlight {
    /// The runs: each has the name of the step that it holds.
    pub const RUNS: [&str; 3] = ["write", "read", "model"];

    /// The length of an outage. Finished steps have to be kept over it.
    pub const OUTAGE: Duration = Duration::from_secs(60); // What is promised; no event ends an outage.

    /// Returns the agent, with no step in flight yet.
    ///
    /// # Panics
    ///
    /// If no port is free.
    #[must_use]
    pub fn begin() -> Self {
        let gate = Gate::shut();
        let holds = gate.clone();
        let model = FakeModel::start(move |request| {
            let run = chat::content(asked_in(&request.body));
            let first = chat::turn(&request.body) == 1;
            Reply::ok(match run.as_str() {
                "write" if first => {
                    let args = json!({"command": AgentFolder::held_command()});
                    chat::calls(&[("call_1", "bash", args)])
                }
                "read" if first => chat::calls(&[("call_1", "h__fine", json!({}))]),
                "model" => {
                    holds.pass();
                    chat::text("Done.")
                }
                _ => chat::text("Done."),
            })
        });
        Self { model, gate }
    }

    /// Returns a folder with the agent.
    ///
    /// # Panics
    ///
    /// If the folder cannot be written.
    #[must_use]
    pub fn folder(&self) -> AgentFolder {
        let folder = AgentFolder::asking(&self.model);
        let file = folder.path().join("neuron.toml");
        let text = fs::read_to_string(&file).unwrap();
        let text = text.replace("[\"bash\"]", "[\"bash\", \"mcp:h\"]");
        let (reads, go) = (folder.path().join("reads"), folder.path().join("go"));
        let server = format!(
            "[mcp.h]\ncommand = [\"node\", {HOSTILE_SERVER:?}, \"held\", {reads:?}, {go:?}]\nsandbox = \"off\""
        );
        fs::write(&file, format!("{text}\n{server}\n")).unwrap();
        folder
    }

    /// Returns the input of one of the runs.
    #[must_use]
    pub fn request(run: &str) -> RunRequest {
        RunRequest::new("default", Message::user(run))
    }

    /// Waits until all three are in flight.
    ///
    /// # Panics
    ///
    /// If they are not in flight in time.
    pub async fn all_begun(&self, folder: &AgentFolder) {
        until(async || {
            let begun = folder.effects() == BEGUN && reads(folder) == BEGUN;
            (begun && self.asked().contains(&("model".to_owned(), 1))).then_some(())
        })
        .await;
    }

    /// Releases the steps, and waits until the write has ended.
    ///
    /// # Panics
    ///
    /// If it has not ended in time.
    pub async fn end(&self, folder: &AgentFolder) {
        self.gate.open();
        folder.release();
        until(async || (folder.effects() == WRITTEN).then_some(())).await;
    }

    /// Checks that each step was made once.
    ///
    /// # Panics
    ///
    /// If one was made again.
    pub fn were_made_once(&self, folder: &AgentFolder) {
        assert_eq!(folder.effects(), WRITTEN, "the write");
        assert_eq!(reads(folder), BEGUN, "the read");
        let paid = [
            ("model", 1),
            ("read", 1),
            ("read", 2),
            ("write", 1),
            ("write", 2),
        ];
        let asked = self.asked();
        let asked = asked.iter().map(|(run, turn)| (run.as_str(), *turn));
        assert_eq!(asked.collect::<Vec<_>>(), paid, "the model calls");
    }

    /// Returns the turns that the model was asked for, each with its run.
    fn asked(&self) -> Vec<(String, usize)> {
        let bodies = self.model.bodies();
        let asked = bodies.iter();
        let asked = asked.map(|body| (chat::content(asked_in(body)), chat::turn(body)));
        let mut asked: Vec<_> = asked.collect();
        asked.sort_unstable();
        asked
    }
}

const BEGUN: &str = "begun\n";
const WRITTEN: &str = "begun\nended\n";

/// Returns the user's message in a request.
fn asked_in(body: &serde_json::Value) -> &serde_json::Value {
    let mut messages = chat::messages(body).iter();
    messages.find(|message| message["role"] == "user").unwrap()
}

fn reads(folder: &AgentFolder) -> String {
    fs::read_to_string(folder.path().join("reads")).unwrap_or_default()
}
