//! Servers of a process.

use std::{fs, path::Path, sync::Arc, time::Duration};

use neuron_mcp::{McpClientHandler, McpServerSpec, McpServers};
use neuron_types::ToolContext;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::time;

use crate::{
    programs::{everything, filesystem, hostile, is_running, text, until},
    stopping::stubborn,
};

/// More than the time between two looks at a server.
const A_LOOK: Duration = Duration::from_secs(31);

fn alone(spec: McpServerSpec) -> (McpServerSpec, Arc<dyn McpClientHandler>) {
    (spec, Arc::new(()))
}

#[tokio::test]
async fn share_one_process_and_prefix_their_tools() {
    let folder = tempfile::tempdir().unwrap();
    let specs = [everything(), filesystem(folder.path())];
    let servers = McpServers::start(specs.map(alone)).await.unwrap();
    assert!(servers.names().eq(["everything", "files"]));
    let echo = servers.tool("everything__echo").unwrap();
    let ctx = ToolContext::default();
    let output = echo.call_dyn(json!({"message": "hi"}), &ctx).await.unwrap();
    assert_eq!(text(&output), "Echo: hi");
    assert!(servers.tool("echo").is_none());
    assert!(
        servers
            .definitions("files")
            .iter()
            .all(|tool| tool.name.starts_with("files__"))
    );
    servers.stop().await;
    assert!(echo.call_dyn(json!({"message": "hi"}), &ctx).await.is_err());
}

#[tokio::test]
async fn one_that_cannot_be_started_keeps_all_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids");
    let specs = [stubborn(&file), hostile("stillborn")];
    let error = McpServers::start(specs.map(alone)).await.unwrap_err();
    assert!(
        error.to_string().contains("the MCP server hostile"),
        "{error}"
    );
    let first = another(&file, &[]).await;
    assert!(!is_running(first), "the other one has ended");
}

#[tokio::test]
async fn one_that_died_is_back_for_the_next_call() {
    let servers = McpServers::start([alone(hostile("dies"))]).await.unwrap();
    let ctx = ToolContext::default();
    let evil = servers.tool("hostile__evil").unwrap();
    assert!(evil.call_dyn(json!({}), &ctx).await.is_err());
    let fine = servers.tool("hostile__fine").unwrap();
    assert_eq!(fine.name(), "hostile__fine");
    assert_eq!(text(&fine.call_dyn(json!({}), &ctx).await.unwrap()), "fine");
    servers.stop().await;
}

/// The process of a server that writes its id, and those that there were before.
async fn another(file: &Path, before: &[u32]) -> u32 {
    let mut found = None;
    until("a server's process", || {
        let ids = fs::read_to_string(file).unwrap_or_default();
        let id = ids.split(' ').next().and_then(|id| id.parse().ok());
        found = id.filter(|id| !before.contains(id));
        found.is_some()
    })
    .await;
    found.unwrap()
}

fn signal(id: u32, signal: Signal) {
    let id = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    kill_process(id, signal).unwrap();
}

/// Lets the time for the next look at the servers come.
async fn look() {
    time::pause();
    time::advance(A_LOOK).await;
    time::resume();
}

#[tokio::test]
async fn one_that_died_is_started_again_without_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids");
    let servers = McpServers::start([alone(stubborn(&file))]).await.unwrap();
    let first = another(&file, &[]).await;
    signal(first, Signal::KILL);
    until("the end of the server", || !is_running(first)).await;
    look().await;
    let second = another(&file, &[first]).await;
    assert!(is_running(second));
    servers.stop().await;
    assert!(!is_running(second));
}

#[tokio::test]
async fn one_that_hangs_is_ended_and_started_again_without_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids");
    let spec = stubborn(&file).timeout(Duration::from_secs(20));
    let servers = McpServers::start([alone(spec)]).await.unwrap();
    let first = another(&file, &[]).await;
    signal(first, Signal::STOP);
    look().await;
    let second = another(&file, &[first]).await;
    assert!(!is_running(first) && is_running(second));
    servers.stop().await;
}
