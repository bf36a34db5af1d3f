//! Servers of a process.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use neuron_mcp::{McpClientHandler, McpError, McpServerSpec, McpServers};
use neuron_patience::patience;
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

/// Servers that are looked at all the time, and have little time to answer a ping.
async fn closely_watched(mode: &str) -> McpServers {
    let spec = hostile(mode).timeout(Duration::from_secs(3));
    let spec = spec.start_timeout(patience());
    McpServers::builder()
        .server(spec, Arc::new(()))
        .health_interval(Duration::from_millis(50))
        .start()
        .await
        .unwrap()
}

async fn called(servers: &McpServers, tool: &str) -> String {
    let tool = servers.tool(tool).unwrap();
    let called = tool.call_dyn(json!({}), &ToolContext::default()).await;
    text(&called.unwrap())
}

/// The process that answers, and how often it was sent a ping.
async fn process(servers: &McpServers) -> (String, u32) {
    let said = called(servers, "hostile__fine").await;
    let (process, pings) = said.split_once(' ').unwrap();
    (process.to_owned(), pings.parse().unwrap())
}

#[tokio::test]
async fn one_without_ping_lives_and_answers_a_call_that_is_longer_than_many_looks() {
    let servers = closely_watched("pingless").await;
    let (first, _) = process(&servers).await;
    // It answers each ping with an error.
    let start = Instant::now();
    loop {
        let (now, pings) = process(&servers).await;
        assert_eq!(now, first);
        if pings > 3 {
            break;
        }
        assert!(start.elapsed() < patience(), "nobody looks at it");
        time::sleep(Duration::from_millis(60)).await;
    }
    let (_, before) = process(&servers).await;
    assert_eq!(called(&servers, "hostile__evil").await, "done");
    let (now, after) = process(&servers).await;
    assert_eq!(now, first);
    assert!(
        after - before < 30,
        "it is left alone while it works: {before}, {after}"
    );
    servers.stop().await;
}

#[tokio::test]
async fn one_that_answers_nothing_while_it_works_answers_its_call() {
    let servers = closely_watched("blocks").await;
    let (first, _) = process(&servers).await;
    assert_eq!(called(&servers, "hostile__evil").await, "done");
    assert_eq!(process(&servers).await.0, first);
    servers.stop().await;
}

#[tokio::test]
async fn one_that_is_not_required_and_says_nothing_is_left_out() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let mut mute = hostile("mute")
        .start_timeout(Duration::from_secs(3))
        .required(false);
    mute.name = "mute".into();
    let servers = McpServers::builder()
        .server(mute, Arc::new(()))
        .server(hostile("refuses"), Arc::new(()))
        .notices(Arc::new({
            let heard = Arc::clone(&heard);
            move |notice: &neuron_mcp::McpNotice<'_>| {
                let notice = notice.to_string();
                if notice.contains("mute") {
                    heard.lock().unwrap().push(notice);
                }
            }
        }))
        .start()
        .await
        .unwrap();
    assert!(servers.names().eq(["hostile"]));
    let failed = servers.failed("mute").unwrap();
    assert!(
        matches!(failed, McpError::Initialization { .. }),
        "{failed:?}"
    );
    assert_eq!(called(&servers, "hostile__fine").await, "fine");
    servers.stop().await;
    let heard = heard.lock().unwrap();
    let [waiting, left_out] = heard.as_slice() else {
        panic!("{heard:?}");
    };
    assert_eq!(
        waiting,
        "waiting for the MCP server mute to start, for at most 3s"
    );
    assert!(
        left_out.contains("no answer within 3s, which start_timeout sets")
            && left_out.ends_with(": its tools are left out"),
        "{left_out}"
    );
}

#[tokio::test]
async fn the_others_go_on_without_one_that_is_required_if_they_are_to() {
    let mut stillborn = hostile("stillborn");
    stillborn.name = "stillborn".into();
    let servers = McpServers::builder()
        .server(stillborn, Arc::new(()))
        .server(hostile("refuses"), Arc::new(()))
        .go_on_without(true)
        .start()
        .await
        .unwrap();
    assert!(servers.failed("stillborn").is_some());
    assert_eq!(called(&servers, "hostile__fine").await, "fine");
    servers.stop().await;
}
