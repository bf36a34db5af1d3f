//! Whatever ends a command early ends everything that it started.

use std::{fs, time::Duration, time::Instant};

use neuron_patience::patience;
use neuron_sandbox::Sandbox;
use neuron_tool::{BuiltinOptions, ToolError, ToolOutput};
use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time};

use crate::workspace::{Workspace, text};

const HOUR: Duration = Duration::from_secs(3600); // Passes where the clock is advanced only.
const GRACE: Duration = Duration::from_millis(50); // What it is for never ends by itself.
const LOOK: Duration = Duration::from_millis(5); // Between two looks.

/// Starts a grandchild and waits for it, with `setup` before.
fn command(setup: &str) -> String {
    format!(
        "{setup}
echo started
(
    sleep 86400 & # Nobody waits it out.
    echo $! > pid.tmp; mv pid.tmp pid; wait
) & wait"
    )
}

fn place(grace: Duration) -> Workspace {
    Workspace::with(&BuiltinOptions {
        bash_kill_grace: grace,
        // Process ids are those of this machine then. How confined ones end is for the sandbox's tests.
        sandbox: Sandbox::Off,
        ..BuiltinOptions::default()
    })
}

/// Waits until the grandchild runs.
async fn grandchild(place: &Workspace) -> Pid {
    let read = || fs::read_to_string(place.path("pid")).ok();
    let started = Instant::now();
    loop {
        if let Some(pid) = read() {
            let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
            assert!(is_running(pid));
            return pid;
        }
        assert!(started.elapsed() < patience(), "the command did not start");
        time::sleep(LOOK).await; // Between two looks.
    }
}

async fn assert_dies(pid: Pid) {
    let started = Instant::now();
    while is_running(pid) {
        assert!(started.elapsed() < patience(), "the grandchild lives on");
        time::sleep(LOOK).await; // Between two looks.
    }
}

/// A zombie that no parent collects is dead, too.
fn is_running(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid()));
    let zombie = stat.is_ok_and(|stat| stat.contains(") Z "));
    test_kill_process(pid).is_ok() && !zombie
}

fn spawn(place: &Workspace, setup: &str) -> JoinHandle<Result<ToolOutput, ToolError>> {
    start(place, json!({"command": command(setup)}))
}

fn start(place: &Workspace, input: Value) -> JoinHandle<Result<ToolOutput, ToolError>> {
    let (registry, ctx) = (place.registry.clone(), place.ctx.clone());
    tokio::spawn(async move { registry.execute("bash", input, &ctx).await })
}

#[tokio::test]
async fn the_time_is_up() {
    let place = place(patience());
    let input = json!({"command": command(""), "timeout_seconds": 600});
    let call = start(&place, input);
    let pid = grandchild(&place).await;
    time::pause();
    time::advance(HOUR).await;
    time::resume();
    let output = call.await.unwrap().unwrap();
    assert!(output.is_error);
    assert_eq!(
        text(&output),
        "started\n[stopped after 600s: the time was up]\n"
    );
    assert!(
        !is_running(pid),
        "the call answered before the grandchild was dead"
    );
}

#[tokio::test]
async fn the_run_is_cancelled() {
    let place = place(patience());
    let call = spawn(&place, "");
    let pid = grandchild(&place).await;
    place.ctx.cancellation_token.cancel();
    let error = call.await.unwrap().unwrap_err();
    assert!(matches!(error, ToolError::Cancelled));
    assert!(
        !is_running(pid),
        "the call answered before the grandchild was dead"
    );
}

#[tokio::test]
async fn the_call_is_dropped() {
    let place = place(patience());
    // Only SIGKILL ends this one.
    let call = spawn(&place, "trap '' TERM");
    let pid = grandchild(&place).await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    assert_dies(pid).await;
}

#[tokio::test]
async fn the_call_is_dropped_while_it_stops() {
    let place = place(HOUR);
    let call = spawn(&place, "trap '' TERM");
    let pid = grandchild(&place).await;
    place.ctx.cancellation_token.cancel();
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert!(!call.is_finished());
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    assert_dies(pid).await;
}

#[tokio::test]
async fn a_command_that_ignores_sigterm_is_killed_after_the_grace() {
    let place = place(GRACE);
    let call = spawn(&place, "trap '' TERM");
    let pid = grandchild(&place).await;
    place.ctx.cancellation_token.cancel();
    assert!(matches!(call.await.unwrap(), Err(ToolError::Cancelled)));
    assert_dies(pid).await;
}

/// Its grandchild ignores SIGTERM, the shell does not.
const STUBBORN: &str = "echo $$ > shell
(
    trap '' TERM; echo $BASHPID > pid.tmp; mv pid.tmp pid
    while :; do sleep 1; done # It never ends by itself.
) & wait";

#[tokio::test]
async fn a_grandchild_that_ignores_sigterm_is_killed_though_the_shell_has_gone() {
    let place = place(GRACE);
    let call = start(&place, json!({"command": STUBBORN}));
    let pid = grandchild(&place).await;
    place.ctx.cancellation_token.cancel();
    assert!(matches!(call.await.unwrap(), Err(ToolError::Cancelled)));
    assert_dies(pid).await;
}

#[tokio::test]
async fn the_call_is_dropped_while_it_stops_and_the_shell_has_gone() {
    let place = place(HOUR);
    let call = start(&place, json!({"command": STUBBORN}));
    let pid = grandchild(&place).await;
    let shell = Pid::from_raw(place.read("shell").trim().parse().unwrap()).unwrap();
    place.ctx.cancellation_token.cancel();
    let started = Instant::now();
    while test_kill_process(shell).is_ok() {
        assert!(started.elapsed() < patience(), "the shell lives on");
        time::sleep(LOOK).await; // Between two looks.
    }
    assert!(is_running(pid) && !call.is_finished());
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    assert_dies(pid).await;
}

#[tokio::test]
async fn a_command_has_time_to_tidy_up() {
    let place = place(patience());
    let call = spawn(&place, "trap 'echo tidy > tidied; exit' TERM");
    grandchild(&place).await;
    place.ctx.cancellation_token.cancel();
    assert!(matches!(call.await.unwrap(), Err(ToolError::Cancelled)));
    assert_eq!(place.read("tidied"), "tidy\n");
}

#[tokio::test]
async fn a_cancelled_run_starts_nothing() {
    let place = Workspace::new();
    place.ctx.cancellation_token.cancel();
    let error = place
        .call("bash", json!({"command": "touch a"}))
        .await
        .unwrap_err();
    assert!(matches!(error, ToolError::Cancelled));
    assert!(!place.path("a").exists());
}
