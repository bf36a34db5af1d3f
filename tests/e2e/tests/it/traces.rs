//! One trace of a run with a child: from the command over a worker that is killed and the one after it, to the model,
//! as an independent receiver of OpenTelemetry sees it.

use std::collections::BTreeMap;

use neuron_harness::{
    Engine, EngineServer, FakeModel, Oteltap, Reply, Running, World, chat, eventually, free_address,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::workers::{serves, worker};

const RUN: &str = "traced";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
/// The span of the caller of the command.
const AROUND: &str = "b7ad6b7169203331";

struct Traced {
    world: World,
    model: FakeModel,
    tap: Oteltap,
    /// The engine that executes the run; `None` for the process of the command, which is killed and resumed.
    engine: Option<Engine>,
    /// The server, which ends when it is dropped.
    _server: Option<EngineServer>,
    /// The address of Restate's workers.
    listen: String,
}

/// Returns a model. The lead asks its helper, which reads a file and then hangs at its first request.
fn model() -> FakeModel {
    let has_hung = std::sync::atomic::AtomicBool::new(false);
    FakeModel::start(move |request| {
        let turn = chat::turn(&request.body);
        let is_lead = request.body["tools"].to_string().contains("agent_helper");
        Reply::ok(match (is_lead, turn) {
            (true, 1) => {
                let asked = json!({"prompt": "Read it."});
                chat::calls(&[("c1", "agent_helper", asked)])
            }
            (false, 1) => chat::calls(&[("c2", "read_file", json!({"path": "note.txt"}))]),
            (false, _) if !has_hung.swap(true, std::sync::atomic::Ordering::SeqCst) => {
                return Reply::Hang;
            }
            _ => chat::text("It says hello."),
        })
    })
}

impl Traced {
    fn new(engine: Option<Engine>) -> Self {
        let (model, tap) = (model(), Oteltap::start());
        let mut world = World::new();
        let lost = "heartbeat_timeout = \"2s\"\n"; // How soon a lost worker is noticed.
        let helper = "\n[agents.helper]\nmodel = \"fake/fake-1\"\ntools = [\"read_file\"]\ndescription = \"Reads.\"\n";
        let keys = "subagents = [\"helper\"]\ntools = [\"read_file\"]\n";
        let agents = format!("{keys}{lost}{helper}{lost}");
        world.write("neuron.toml", &model.agent_file(&agents));
        world.write("note.txt", "hello\n");
        world.set("OTEL_EXPORTER_OTLP_ENDPOINT", tap.url());
        world.set("OTEL_BSP_SCHEDULE_DELAY", "50");
        world.set("OTEL_METRIC_EXPORT_INTERVAL", "200");
        let server = engine.map(|engine| {
            let server = Runtime::new().unwrap().block_on(EngineServer::find(engine));
            let server = server.unwrap_or_else(|error| panic!("there is no server: {error}"));
            let addresses = server.addresses();
            world.set("NEURON_ENGINE", engine_name(engine));
            world.set("NEURON_TASK_QUEUE", "traces");
            world.set("TEMPORAL_ADDRESS", &addresses.main);
            world.set("RESTATE_INGRESS_URL", &addresses.main);
            world.set("RESTATE_ADMIN_URL", &addresses.http);
            server
        });
        Self {
            world,
            model,
            tap,
            engine,
            _server: server,
            listen: free_address(),
        }
    }

    /// Starts the processes that execute the run: the command itself, or a worker and the command that submits it.
    fn start(&self) -> Running {
        let around = format!("00-{TRACE}-{AROUND}-01");
        let mut command = match self.engine {
            None => self.world.command(&["run", "Go.", "--id", RUN]),
            Some(_) => self.world.command(&["submit", "Go.", "--id", RUN]),
        };
        command.env("TRACEPARENT", around);
        let worker = self.executor();
        let command = self.world.launch(command);
        match worker {
            Some(worker) => {
                drop(command.finish().exits(0));
                worker
            }
            None => command,
        }
    }

    /// Returns a worker that serves, on an engine with workers.
    fn executor(&self) -> Option<Running> {
        let engine = self.engine?;
        let (name, ready) = match engine {
            Engine::Temporal => ("neuron-temporal-worker", "serving "),
            Engine::Restate => ("neuron-restate-worker", "registered"),
        };
        let mut program = self.world.plain(worker(name, &self.world));
        if engine == Engine::Restate {
            program.args(["--register-force", "--listen", &self.listen]);
        }
        let mut program = self.world.launch(program);
        serves(&mut program, ready);
        Some(program)
    }

    /// Executes the run to its end in another process. Returns the worker, which still has spans to export.
    fn go_on(&self) -> Option<Running> {
        let again = self.executor();
        let command: &[&str] = match self.engine {
            None => &["resume", RUN, "--json"],
            Some(_) => &["wait", RUN, "--json"],
        };
        let output = self.world.neuron(command).exits(0).json();
        assert_eq!(output["output"], "It says hello.", "{output}");
        again
    }

    /// Returns the names of the spans so far, each with its count.
    fn names(&self) -> BTreeMap<String, usize> {
        let mut names = BTreeMap::new();
        for span in self.tap.spans() {
            *names.entry(text(&span, "name")).or_default() += 1;
        }
        names
    }

    fn has(&self, name: &str, times: usize) {
        eventually(name, || {
            (self.names().get(name).copied().unwrap_or_default() >= times).then_some(())
        });
    }

    fn check(&self) {
        self.has("run_end", 2);
        self.has("invoke_agent default", 2);
        self.has("start_run default", 1);
        let mut spans = BTreeMap::new();
        let mut again = Vec::new();
        for span in self.tap.spans() {
            if let Some(before) = spans.insert(text(&span, "spanId"), span) {
                again.push(text(&before, "name"));
            }
        }
        // Spans that are exported with a step are exported again with its next attempt, if a worker is killed in the
        // first: as the same span. No other span appears twice.
        assert!(
            again.len() <= 1 && again.iter().all(|name| name == "invoke_agent helper"),
            "{again:?}"
        );
        let mut names = BTreeMap::new();
        for span in spans.values() {
            *names.entry(text(span, "name")).or_default() += 1;
        }
        let expected = [
            ("start_run default", 1),
            ("invoke_workflow default", 1),
            ("invoke_workflow helper", 1),
            ("invoke_agent default", 2),
            // The helper's two turns, and the call of the helper as its parent sees it.
            ("invoke_agent helper", 3),
            ("chat fake-1", 4),
            ("execute_tool read_file", 1),
            ("run_end", 2),
        ];
        let expected = expected.map(|(name, times)| (name.to_owned(), times));
        assert_eq!(names, BTreeMap::from(expected), "{spans:#?}");
        for span in spans.values() {
            assert_eq!(text(span, "traceId"), TRACE, "{span:#}");
            let parent = text(span, "parentSpanId");
            assert!(spans.contains_key(&parent) || parent == AROUND, "{span:#}");
        }
        let outside = spans
            .values()
            .filter(|span| text(span, "parentSpanId") == AROUND);
        assert_eq!(outside.count(), 1, "only the command is the caller's own");
        self.check_model(&spans);
    }

    /// Checks that each request that was answered is a part of the span of its call. The span of the request in which
    /// the worker was killed is lost with it.
    fn check_model(&self, spans: &BTreeMap<String, Value>) {
        let is_chat = |id: &str| {
            spans
                .get(id)
                .is_some_and(|span| text(span, "name") == "chat fake-1")
        };
        let requests = self.model.requests();
        let headers = requests
            .iter()
            .map(|request| &request.headers["traceparent"]);
        let mut lost = 0;
        for header in headers {
            let parts: Vec<&str> = header.split('-').collect();
            assert_eq!((parts[0], parts[1], parts[3]), ("00", TRACE, "01"));
            lost += usize::from(!is_chat(parts[2]));
        }
        assert_eq!((requests.len(), lost), (5, 1), "{requests:#?}");
    }

    /// Checks that the metrics count what happened.
    fn check_metrics(&self) {
        let sum = |name: &str, field: &str| {
            let metrics = self.tap.metrics();
            let mut by_process = BTreeMap::new();
            for metric in metrics.iter().filter(|metric| metric["name"] == name) {
                let points = metric["sum"]["dataPoints"]
                    .as_array()
                    .or_else(|| metric["histogram"]["dataPoints"].as_array());
                for point in points.into_iter().flatten() {
                    let key = format!("{}{}", point["startTimeUnixNano"], point["attributes"]);
                    by_process.insert(key, number(&point[field]));
                }
            }
            by_process.values().sum::<f64>()
        };
        eventually("counts of what happened", || {
            let counts = [
                sum("neuron.run.started", "asInt"),
                sum("neuron.run.ended", "asInt"),
                sum("neuron.child.ended", "asInt"),
                sum("gen_ai.client.operation.duration", "count"),
                sum("gen_ai.execute_tool.duration", "count"),
                sum("gen_ai.client.token.usage", "sum"),
            ];
            (counts == [2.0, 2.0, 1.0, 4.0, 1.0, 440.0]).then_some(())
        });
    }
}

fn engine_name(engine: Engine) -> &'static str {
    match engine {
        Engine::Temporal => "temporal",
        Engine::Restate => "restate",
    }
}

fn text(span: &Value, field: &str) -> String {
    span[field].as_str().unwrap_or_default().to_owned()
}

/// Returns a number. Whole numbers of 64 bits are texts in the JSON of OTLP.
fn number(value: &Value) -> f64 {
    let text = value.as_str().and_then(|text| text.parse().ok());
    text.or_else(|| value.as_f64()).unwrap_or_default()
}

fn a_run_with_a_child_is_one_trace(engine: Option<Engine>) {
    let traced = Traced::new(engine);
    let first = traced.start();
    // The lead's call and the helper's two arrive: the second one hangs.
    traced.model.reached(3);
    traced.has("execute_tool read_file", 1);
    traced.has("invoke_agent helper", 1);
    eventually("a measurement of the last call", || {
        let metrics = traced.tap.metrics();
        let mut metrics = metrics.iter();
        metrics
            .find(|metric| metric["name"] == "gen_ai.execute_tool.duration")
            .map(drop)
    });

    drop(first.kill());
    let second = traced.go_on();

    traced.check();
    traced.check_metrics();
    drop(second.map(Running::kill));
}

#[test]
fn a_run_here_is_one_trace_over_two_processes() {
    a_run_with_a_child_is_one_trace(None);
}

#[test]
fn a_run_on_temporal_is_one_trace_over_two_workers() {
    a_run_with_a_child_is_one_trace(Some(Engine::Temporal));
}

#[test]
fn a_run_on_restate_is_one_trace_over_two_workers() {
    a_run_with_a_child_is_one_trace(Some(Engine::Restate));
}
