//! Servers of a process.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use neuron_harness::PipeGate;
use neuron_mcp::{McpClientHandler, McpError, McpServerSpec, McpServers};
use neuron_patience::patience;
use neuron_types::ToolContext;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::time;

use crate::{
    programs::{HOUR, everything, filesystem, hostile, is_running, text, until},
    stopping::{stubborn, with_file},
};

/// More than the time between two looks at a server.
const A_LOOK: Duration = Duration::from_secs(31); // The clock is advanced by it.

/// More than the time after which it is reported that a server is waited for.
const SLOW: Duration = Duration::from_secs(3); // The clock is advanced by it.

/// More hours than the clock is advanced by in any test.
const YEAR: Duration = HOUR.saturating_mul(24 * 365);

/// A task that sleeps continues after all others that need not wait, however short the sleep is.
const PAUSE: Duration = Duration::from_millis(5); // Lets the other tasks continue.

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

/// Lets this time pass at once, for those who have begun to wait for a time.
async fn pass(time: Duration) {
    time::sleep(PAUSE).await; // All tasks that can continue do so before.
    time::pause();
    time::advance(time).await;
    time::resume();
    time::sleep(PAUSE).await; // And the tasks that it was for continue.
}

#[tokio::test]
async fn one_that_died_is_started_again_without_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids");
    let servers = McpServers::start([alone(stubborn(&file))]).await.unwrap();
    let first = another(&file, &[]).await;
    signal(first, Signal::KILL);
    until("the end of the server", || !is_running(first)).await;
    pass(A_LOOK).await;
    let second = another(&file, &[first]).await;
    assert!(is_running(second));
    servers.stop().await;
    assert!(!is_running(second));
}

#[tokio::test]
async fn one_that_hangs_is_ended_and_started_again_without_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids");
    let spec = stubborn(&file).timeout(HOUR).start_timeout(YEAR);
    let servers = McpServers::start([alone(spec)]).await.unwrap();
    let first = another(&file, &[]).await;
    signal(first, Signal::STOP);
    pass(A_LOOK).await;
    pass(HOUR).await;
    let second = another(&file, &[first]).await;
    assert!(!is_running(first) && is_running(second));
    servers.stop().await;
}

/// A server whose tool `evil` is held at a gate, and one that witnesses that servers are looked at. That happens where
/// the clock is advanced, and no sooner.
struct Watched {
    _folder: tempfile::TempDir,
    gate: Arc<PipeGate>,
    servers: McpServers,
}

impl Watched {
    /// The server that does what `mode` says has this time to answer a ping.
    async fn start(mode: &str, timeout: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate");
        let gate = Arc::new(PipeGate::at(&path));
        let watched = with_file(hostile(mode), &path).timeout(timeout);
        let mut witness = hostile("pingless").timeout(YEAR);
        witness.name = "witness".into();
        let servers = McpServers::builder()
            .server(watched.start_timeout(YEAR), Arc::new(()))
            .server(witness, Arc::new(()))
            .health_interval(HOUR)
            .start()
            .await
            .unwrap();
        Self {
            _folder: folder,
            gate,
            servers,
        }
    }

    /// The process of a server, and how often it was sent a ping.
    async fn process(&self, server: &str) -> (String, u32) {
        let said = called(&self.servers, &format!("{server}__fine")).await;
        let (process, pings) = said.split_once(' ').unwrap();
        (process.to_owned(), pings.parse().unwrap())
    }

    /// Lets many looks happen: until this server was sent some pings more.
    async fn looks(&self, server: &str) {
        let start = Instant::now();
        let (_, before) = self.process(server).await;
        loop {
            pass(HOUR).await;
            let (_, pings) = self.process(server).await;
            if pings > before + 3 {
                return;
            }
            assert!(start.elapsed() < patience(), "nobody looks at {server}");
        }
    }

    /// Returns what `evil` answers after servers were looked at many times.
    async fn works(&self) -> String {
        let looked_at = async {
            let gate = Arc::clone(&self.gate);
            let held = tokio::task::spawn_blocking(move || gate.reader()).await;
            self.looks("witness").await;
            drop(held.unwrap());
        };
        tokio::join!(called(&self.servers, "hostile__evil"), looked_at).0
    }
}

async fn called(servers: &McpServers, tool: &str) -> String {
    let tool = servers.tool(tool).unwrap();
    let called = tool.call_dyn(json!({}), &ToolContext::default()).await;
    text(&called.unwrap())
}

#[tokio::test]
async fn one_without_ping_lives_and_answers_a_call_that_is_longer_than_many_looks() {
    let watched = Watched::start("pingless", YEAR).await;
    let (first, _) = watched.process("hostile").await;
    // It answers each ping with an error.
    watched.looks("hostile").await;
    assert_eq!(watched.process("hostile").await.0, first);
    // It is left alone while it works.
    assert_eq!(watched.works().await, "done 0");
    assert_eq!(watched.process("hostile").await.0, first);
    watched.servers.stop().await;
}

#[tokio::test]
async fn one_that_answers_nothing_while_it_works_answers_its_call() {
    // The time for an answer to a ping passes between two looks.
    let watched = Watched::start("blocks", HOUR / 2).await;
    let (first, _) = watched.process("hostile").await;
    assert_eq!(watched.works().await, "done");
    assert_eq!(watched.process("hostile").await.0, first);
    watched.servers.stop().await;
}

#[tokio::test]
async fn one_that_is_not_required_and_says_nothing_is_left_out() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let mut mute = hostile("mute").start_timeout(HOUR).required(false);
    mute.name = "mute".into();
    let starting = McpServers::builder()
        .server(mute, Arc::new(()))
        .server(hostile("refuses").timeout(YEAR), Arc::new(()))
        .notices(Arc::new({
            let heard = Arc::clone(&heard);
            move |notice: &neuron_mcp::McpNotice<'_>| {
                let notice = notice.to_string();
                if notice.contains("mute") {
                    heard.lock().unwrap().push(notice);
                }
            }
        }))
        .start();
    let (servers, ()) = tokio::join!(starting, async {
        pass(SLOW).await;
        until("the first notice", || !heard.lock().unwrap().is_empty()).await;
        pass(HOUR).await;
    });
    let servers = servers.unwrap();
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
        "waiting for the MCP server mute to start, for at most 3600s"
    );
    assert!(
        left_out.contains("no answer within 3600s, which start_timeout sets")
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
