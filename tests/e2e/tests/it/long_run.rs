//! A run of twenty steps, ten model calls and ten tool calls, that the crash tests interrupt.

use std::{collections::BTreeMap, fs};

use neuron_harness::{FakeModel, PipeGate, Reply, Request, Running, World, chat};
use serde_json::{Value, json};

pub(crate) const RUN: &str = "long";
pub(crate) const ANSWER: &str = "All ten are done.";

/// The model call whose answer is the run's output.
pub(crate) const LAST_TURN: usize = 10;

/// The tool calls: number, turn and tool.
pub(crate) const CALLS: [(usize, usize, Tool); 10] = [
    (1, 1, Tool::Bash),
    (2, 2, Tool::Grep),
    (3, 3, Tool::Bash),
    (4, 4, Tool::WriteFile),
    (5, 5, Tool::Bash),
    (6, 5, Tool::Grep),
    (7, 6, Tool::Bash),
    (8, 7, Tool::Grep),
    (9, 8, Tool::Bash),
    (10, 9, Tool::Grep),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    /// A write: its line in `log` proves that it was called.
    Bash,
    /// Read-only.
    Grep,
    /// Idempotent.
    WriteFile,
}

/// The run, its model and its world.
pub(crate) struct LongRun {
    pub(crate) world: World,
    pub(crate) model: FakeModel,
}

impl LongRun {
    /// Returns a world in which the run has not started. `answer` may answer a request in place of the model.
    pub(crate) fn new(
        keys: &str,
        answer: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let model = FakeModel::start(move |request| {
            answer(request).unwrap_or_else(|| well_behaved(&request.body))
        });
        let world = World::new();
        let tools = "tools = [\"bash\", \"grep\", \"write_file\"]\nask = []\n";
        world.write("neuron.toml", &model.agent_file(&format!("{tools}{keys}")));
        for (number, _, tool) in CALLS {
            if tool == Tool::Grep {
                world.write(
                    &format!("look-{number}/file"),
                    &format!("needle {number}\n"),
                );
            }
        }
        Self { world, model }
    }

    pub(crate) fn start(&self) -> Running {
        self.world
            .start(&["run", "Do all ten.", "--id", RUN, "--json"])
    }

    /// Keeps the command of this call from ending. The command ends with the world at the latest.
    pub(crate) fn hold(&self, call: usize) {
        self.world.write(&format!("hold-{call}"), "");
    }

    pub(crate) fn release(&self, call: usize) {
        fs::remove_file(self.world.file(&format!("hold-{call}"))).unwrap();
    }

    /// Blocks every `grep` of this call.
    pub(crate) fn hold_grep(&self, call: usize) -> PipeGate {
        // `grep` reads this file to know what to leave out.
        PipeGate::at(&self.world.file(&format!("look-{call}/.ignore")))
    }

    /// Returns how often the command of this call was run.
    pub(crate) fn commands(&self, call: usize) -> usize {
        let log = self.world.read("log");
        log.lines().filter(|line| *line == call.to_string()).count()
    }

    /// Returns the idempotency keys that the command of this call was called with, in order.
    pub(crate) fn keys(&self, call: usize) -> Vec<String> {
        let keys = self.world.read(&format!("keys-{call}"));
        keys.lines().map(str::to_owned).collect()
    }

    /// Returns how many requests were made for each turn.
    pub(crate) fn requests(&self) -> BTreeMap<usize, usize> {
        let mut counts = BTreeMap::new();
        for body in self.model.bodies() {
            *counts.entry(chat::turn(&body)).or_default() += 1;
        }
        counts
    }

    /// Resumes the run to its end and checks that the end is that of an undisturbed run.
    pub(crate) fn resume(&self) {
        let run = self.world.neuron(&["resume", RUN, "--json"]).exits(0);
        check_output(&run.json());
        self.check_conversation();
        self.check_events();
    }

    /// Checks that every call is answered once, in order, by its own result or by an unknown outcome.
    fn check_conversation(&self) {
        let bodies = self.model.bodies();
        let results = chat::tool_results(bodies.last().unwrap());
        let ids: Vec<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(ids, CALLS.map(|(number, _, _)| format!("call_{number}")));
        for ((number, _, tool), (_, result)) in CALLS.into_iter().zip(&results) {
            let own = match tool {
                Tool::Bash => format!("did {number}\n"),
                Tool::Grep => format!("look-{number}/file:1: needle {number}\n"),
                Tool::WriteFile => "wrote".to_owned(),
            };
            let made = self.commands(number);
            if result.contains(&own) {
                assert_eq!(
                    made,
                    usize::from(tool == Tool::Bash),
                    "call {number}: {result:?}"
                );
            } else {
                assert_eq!(tool, Tool::Bash, "only a write may be unknown: {result:?}");
                assert!(is_unknown(result), "call {number}: {result:?}");
                assert!(made <= 1, "call {number} was made {made} times");
            }
        }
        assert_eq!(self.world.read("written"), "written by 4\n");
    }

    /// Checks that the log of the run contains each item once, whatever happened.
    fn check_events(&self) {
        let events = self.world.events(RUN);
        let numbers: Vec<u64> = events
            .iter()
            .map(|event| event["seq"].as_u64().unwrap())
            .collect();
        let expected: Vec<u64> = (1..).take(events.len()).collect();
        assert_eq!(numbers, expected);
        for (kind, count) in [
            ("run_started", 1),
            ("turn_started", LAST_TURN),
            ("model_responded", LAST_TURN),
            ("tool_called", CALLS.len()),
            ("tool_finished", CALLS.len()),
            ("run_ended", 1),
        ] {
            let found = events.iter().filter(|event| event["type"] == kind).count();
            assert_eq!(found, count, "{kind} in {events:#?}");
        }
    }
}

pub(crate) fn check_output(output: &Value) {
    assert_eq!(output["output"], ANSWER, "{output}");
    assert_eq!(output["state"], "completed");
    assert_eq!(output["exit_reason"], "complete");
    assert_eq!(output["turns"], LAST_TURN);
    assert_eq!(output["error"], Value::Null);
    // A turn that was answered twice is counted once.
    assert_eq!(output["usage"]["input_tokens"], 100 * LAST_TURN);
    assert_eq!(output["usage"]["output_tokens"], 10 * LAST_TURN);
}

/// Returns whether a tool result states that the outcome of the call is unknown.
pub(crate) fn is_unknown(result: &str) -> bool {
    result.contains("may or may not have taken effect")
}

/// Answers as a model that only depends on the conversation.
fn well_behaved(request: &Value) -> Reply {
    let turn = chat::turn(request);
    let calls: Vec<(String, &str, Value)> = CALLS
        .into_iter()
        .filter(|(_, of, _)| *of == turn)
        .map(|(number, _, tool)| {
            let (name, args) = match tool {
                Tool::Bash => ("bash", json!({"command": command(number)})),
                Tool::Grep => {
                    let path = format!("look-{number}");
                    ("grep", json!({"pattern": "needle", "path": path}))
                }
                Tool::WriteFile => {
                    let content = format!("written by {number}\n");
                    ("write_file", json!({"path": "written", "content": content}))
                }
            };
            (format!("call_{number}"), name, args)
        })
        .collect();
    let calls: Vec<(&str, &str, Value)> = calls
        .iter()
        .map(|(id, name, args)| (id.as_str(), *name, args.clone()))
        .collect();
    Reply::ok(if calls.is_empty() {
        chat::text(ANSWER)
    } else {
        chat::calls(&calls)
    })
}

fn command(number: usize) -> String {
    format!(
        "echo $NEURON_IDEMPOTENCY_KEY >> keys-{number}; echo {number} >> log; while [ -e hold-{number} ]; do sleep 0.02; done; echo did {number}" // Between two looks.
    )
}
