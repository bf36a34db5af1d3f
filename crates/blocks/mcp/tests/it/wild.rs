//! What real servers were reported to send: each case of `tests/wild`, over pipes and over HTTP.

use std::{fs, path::Path, process::Stdio};

use neuron_mcp::{McpClient, McpServerSpec};
use neuron_patience::patience;
use neuron_sandbox::Sandbox;
use neuron_types::{ToolContext, ToolDyn as _, ToolOutput};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    time::timeout,
};

use crate::programs::{HOUR, text};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/wild.mjs");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "people read them")]
struct Case {
    /// Where it was reported.
    source: String,
    what: String,
    method: String,
    answer: Value,
    outcome: Outcome,
    /// The transports over which it was seen or makes sense; empty for all.
    #[serde(default)]
    over: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Outcome {
    /// The server's tools, each with its schema and its description, and a part of each reason why one is left out.
    Tools {
        tools: Vec<(String, Value, String)>,
        #[serde(default)]
        left_out: Vec<String>,
    },
    /// What the model reads.
    Reads {
        text: String,
        #[serde(default)]
        is_error: bool,
        #[serde(default)]
        structured: Option<Value>,
    },
    /// The model reads that the call may have taken effect, and the beginning of what came.
    Unreadable { excerpt: String },
}

/// A server over HTTP, which ends with its standard input.
struct Http {
    url: String,
    _process: Child,
}

async fn over_http(path: &str, transport: &str, calls: &str) -> Http {
    let mut process = Command::new("node")
        .args([SERVER, path, transport, calls])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let url = timeout(patience(), lines.next_line()).await.unwrap();
    Http {
        url: url.unwrap().unwrap(),
        _process: process,
    }
}

async fn passes(path: &Path, transport: &str) {
    let case: Case = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    if !case.over.is_empty() && !case.over.iter().any(|over| over == transport) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let calls = folder.path().join("calls");
    let (path, calls_path) = (path.to_str().unwrap(), calls.to_str().unwrap());
    let (spec, _server) = match transport {
        "stdio" => {
            let args = [SERVER, path, transport, calls_path];
            let spec = McpServerSpec::stdio("wild", "node", args).sandbox(Sandbox::Off);
            (spec, None)
        }
        transport => {
            let server = over_http(path, transport, calls_path).await;
            (McpServerSpec::http("wild", &server.url), Some(server))
        }
    };
    let what = format!("{path} over {transport}");
    let client = McpClient::connect(spec.timeout(HOUR), ()).await.unwrap();
    let found = timeout(patience(), client.discover(None)).await;
    let found = found.expect(&what).expect(&what);
    if let Outcome::Tools { tools, left_out } = &case.outcome {
        let listed: Vec<_> = found
            .tools
            .iter()
            .map(|tool| {
                let it = tool.definition();
                (it.name, it.input_schema, it.description)
            })
            .collect();
        assert_eq!(&listed, tools, "{what}");
        let reasons: Vec<_> = found.left_out.iter().map(|it| &it.reason).collect();
        assert_eq!(reasons.len(), left_out.len(), "{what}: {reasons:?}");
        for (reason, part) in reasons.iter().zip(left_out) {
            assert!(reason.contains(part), "{what}: {reason}");
        }
    } else {
        let ctx = ToolContext::default();
        let call = timeout(patience(), found.tools[0].call_dyn(json!({}), &ctx));
        let output = call.await.expect(&what).expect(&what);
        came(&case.outcome, &output, &what);
        assert_eq!(fs::read_to_string(&calls).unwrap(), "called\n", "{what}");
    }
    // The connection is of use afterwards.
    client.ping().await.expect(&what);
    client.close().await;
}

fn came(outcome: &Outcome, output: &ToolOutput, what: &str) {
    let said = text(output);
    match outcome {
        Outcome::Tools { .. } => unreachable!(),
        Outcome::Reads {
            text,
            is_error,
            structured,
        } => {
            assert_eq!(&said, text, "{what}");
            assert_eq!(output.is_error, *is_error, "{what}");
            assert_eq!(&output.structured_content, structured, "{what}");
        }
        Outcome::Unreadable { excerpt } => {
            assert!(!output.is_error, "{what}");
            assert!(said.contains("may have taken effect"), "{what}: {said}");
            assert!(said.contains(excerpt.as_str()), "{what}: {said}");
            assert!(!said.contains("execution failed"), "{what}: {said}");
        }
    }
}

async fn all_pass(transport: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wild");
    let mut cases: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    for case in cases {
        passes(&case, transport).await;
    }
}

#[tokio::test]
async fn what_servers_send_over_pipes_is_read_and_calls_are_made_once() {
    all_pass("stdio").await;
}

#[tokio::test]
async fn what_servers_answer_over_http_is_read_and_calls_are_made_once() {
    all_pass("json").await;
}

#[tokio::test]
async fn what_servers_stream_over_http_is_read_and_calls_are_made_once() {
    all_pass("sse").await;
}
