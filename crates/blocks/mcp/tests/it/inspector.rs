//! Our server under the protocol's own inspector.

use std::process::Stdio;

use neuron_mcp::McpServer;
use neuron_patience::patience;
use neuron_tool::{BuiltinOptions, ToolRegistry, builtin_tools};
use neuron_types::ToolContext;
use serde_json::Value;
use tokio::{net::TcpListener, process::Command, time};
use tokio_util::sync::CancellationToken;

use crate::programs::program;

fn server(folder: &str) -> McpServer {
    let registry = ToolRegistry::from_iter(builtin_tools(&BuiltinOptions::default()));
    McpServer::new(registry).context(ToolContext {
        cwd: folder.into(),
        ..ToolContext::default()
    })
}

async fn inspect(args: &[&str]) -> Value {
    let inspector = program("mcp-inspector");
    let run = Command::new("node")
        .args([inspector.as_str(), "--cli"])
        .args(args)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let ran = time::timeout(patience(), run).await.unwrap().unwrap();
    let complaint = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{complaint}");
    serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&ran.stdout));
    })
}

/// Lists and calls tools of what `target` names.
async fn passes(target: &[&str]) {
    let list = inspect(&[target, &["--method", "tools/list"]].concat()).await;
    let names: Vec<_> = list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert!(names.iter().any(|name| *name == "read_file"), "{names:?}");
    let call = [
        "--method",
        "tools/call",
        "--tool-name",
        "read_file",
        "--tool-arg",
        "path=a.txt",
    ];
    let called = inspect(&[target, &call].concat()).await;
    let text = called["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("hello"), "{called}");
}

#[tokio::test]
async fn passes_the_inspector_over_http() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "hello").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let stop = CancellationToken::new();
    let server = server(folder.path().to_str().unwrap());
    let serving = tokio::spawn({
        let stop = stop.clone();
        async move { server.serve_listener(listener, stop).await }
    });
    passes(&[&url, "--transport", "http"]).await;
    stop.cancel();
    serving.await.unwrap().unwrap();
}
