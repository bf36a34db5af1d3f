//! Processes end with the command, and with the worker.

use std::{
    fs,
    io::Read as _,
    process::{Command, Stdio},
    time::Duration,
};

use neuron_patience::patience;
use neuron_sandbox::{Confinement, Sandbox, use_helper};
use tokio::time::timeout;

use crate::place::{PROBE, Place, eventually, places};

/// Leaves three processes behind that write on: in the background, in a session of its own, and twice removed.
const LEAVE: &str =
    "write() { trap '' TERM HUP INT; while :; do echo $1 >> alive; sleep 0.01; done; }
export -f write
write a &
setsid bash -c 'write b' &
(setsid bash -c 'write c & disown' &) &
until grep -qs a alive && grep -qs b alive && grep -qs c alive; do sleep 0.01; done
echo left";

fn length(place: &Place) -> u64 {
    fs::metadata(place.work().join("alive")).map_or(0, |found| found.len())
}

/// Nothing writes any more.
fn assert_ends(place: &Place) {
    eventually("nothing is written any more", || {
        let before = length(place);
        std::thread::sleep(Duration::from_millis(200));
        length(place) == before
    });
}

#[test]
fn all_processes_end_with_the_command() {
    for place in places() {
        // The end of the output is not held up by what was left.
        assert_eq!(place.run(LEAVE).ok(), "left\n");
        assert_ends(&place);
    }
}

#[test]
fn all_processes_end_with_a_worker_that_is_killed() {
    for place in places() {
        let script = format!("{LEAVE}; sleep 86400");
        let mut worker = place
            .worker(&Sandbox::Workspace, &script)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = worker.stdout.take().unwrap();
        output.read_exact(&mut [0; 5]).unwrap();
        worker.kill().unwrap();
        worker.wait().unwrap();
        assert_ends(&place);
        assert_eq!(output.read(&mut [0]).unwrap(), 0);
    }
}

#[test]
fn a_command_that_nothing_confines_ends_with_a_worker_that_is_killed() {
    let place = Place::new(crate::place::BACKENDS[0]);
    let script = "while :; do echo x >> alive; sleep 0.01; done";
    let mut worker = place.worker(&Sandbox::Off, script).spawn().unwrap();
    eventually("it writes", || length(&place) > 0);
    worker.kill().unwrap();
    worker.wait().unwrap();
    assert_ends(&place);
}

fn confinement(place: &Place) -> Confinement {
    // This program's `main` is not ours.
    use_helper(PROBE);
    Confinement::builder(place.sandbox(&Sandbox::Workspace)).build()
}

#[tokio::test]
async fn all_processes_end_when_it_is_dropped() {
    for place in places() {
        let mut command = confinement(&place).command("bash", &place.work()).unwrap();
        command
            .args(["-c", &format!("{LEAVE}; sleep 86400")])
            .stdout(Stdio::null());
        let process = command.spawn().unwrap();
        let started = std::time::Instant::now();
        while length(&place) < 100 {
            assert!(started.elapsed() < patience(), "it did not start");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        drop(process);
        assert_ends(&place);
    }
}

#[tokio::test]
async fn a_command_that_is_stopped_has_time_to_tidy_up() {
    for place in places() {
        let mut command = confinement(&place).command("bash", &place.work()).unwrap();
        let script = "trap 'echo tidy > tidied; exit' TERM; echo > ready; sleep 86400 & wait";
        command.args(["-c", script]);
        let mut process = command.spawn().unwrap();
        let started = std::time::Instant::now();
        while !place.work().join("ready").exists() {
            assert!(started.elapsed() < patience(), "it did not start");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        timeout(patience(), process.stop(patience())).await.unwrap();
        assert_eq!(place.read("tidied"), "tidy\n");
    }
}

#[tokio::test]
async fn a_command_that_does_not_end_is_killed_after_the_grace() {
    for place in places() {
        let mut command = confinement(&place).command("bash", &place.work()).unwrap();
        command.args([
            "-c",
            &format!("trap '' TERM; {LEAVE}; while :; do sleep 1; done"),
        ]);
        command.stdout(Stdio::null());
        let mut process = command.spawn().unwrap();
        let started = std::time::Instant::now();
        while length(&place) < 100 {
            assert!(started.elapsed() < patience(), "it did not start");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        timeout(patience(), process.stop(Duration::from_millis(50)))
            .await
            .unwrap();
        let after = length(&place);
        assert_ends(&place);
        assert!(length(&place) <= after + 6);
    }
}

#[test]
fn exit_codes_and_signals_are_those_of_the_command() {
    for place in places() {
        assert_eq!(place.run("exit 3").code, Some(3));
        assert_eq!(place.run("kill -9 $$").code, Some(137));
        assert_eq!(place.run("no-such-command").code, Some(127));
    }
}

#[test]
fn a_program_that_cannot_be_the_helper_says_so() {
    // Of the tests, those of this file have named a helper; this asks a process that has not.
    let ours = std::env::current_exe().unwrap();
    let done = Command::new(ours)
        .args([
            "--exact",
            "processes::without_a_helper",
            "--ignored",
            "--nocapture",
        ])
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
#[ignore = "started by the test before it"]
fn without_a_helper() {
    let sandbox = Sandbox::Workspace.with_backend(neuron_sandbox::Backend::Landlock);
    let error = Confinement::builder(sandbox).build().check().unwrap_err();
    assert!(error.to_string().contains("dispatch()"), "{error}");
}
