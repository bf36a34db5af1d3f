//! Processes end with the command, and with the worker.

use std::{
    fs::{self, File, OpenOptions},
    io::Read as _,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    process::{Command, Stdio},
    time::Duration,
};

use neuron_patience::patience;
use neuron_sandbox::{Backend, Confinement, Sandbox, use_helper};
use rustix::fs::{CWD, Mode, OFlags, mkfifoat};
use tokio::time::timeout;

use crate::place::{PROBE, Place, eventually, places};

/// Leaves three processes behind that never end: in the background, in a session of its own, and twice removed. Each
/// has the pipe `held` open as long as it lives, and waits for what is never written to it.
const LEAVE: &str = "exec 9<> held
stay() { trap '' TERM HUP INT; echo $1 >> alive; while :; do read -r _ <&9; done; }
export -f stay
stay a &
setsid bash -c 'stay b' &
(setsid bash -c 'stay c & disown' &) &
until grep -qs a alive && grep -qs b alive && grep -qs c alive; do
    sleep 0.01 # Between two looks.
done
echo left";

/// Waits for what is never written, once `LEAVE` was run.
const WAIT: &str = "read -r _ <&9";

/// A pipe that the processes of a place have open.
struct Held(File);

impl Held {
    fn in_place(place: &Place) -> Self {
        let path = place.work().join("held");
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        // It cannot be opened for reading only without waiting for a writer.
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap();
        let mut options = OpenOptions::new();
        let pipe = options.read(true).custom_flags(flags).open(path).unwrap();
        Self(pipe)
    }

    /// Returns whether no process has it open: all that had it have ended.
    fn is_free(&self) -> bool {
        // There is nothing to read while a writer is left, and the end after the last one.
        (&self.0).read(&mut [0]).is_ok_and(|count| count == 0)
    }

    fn assert_gets_free(&self) {
        eventually("all that was started has ended", || self.is_free());
    }
}

/// Waits until the command in this place says that it is ready.
async fn ready(place: &Place) {
    let started = std::time::Instant::now();
    while !place.work().join("ready").exists() {
        assert!(started.elapsed() < patience(), "it did not start");
        tokio::time::sleep(Duration::from_millis(5)).await; // Between two looks.
    }
}

#[test]
fn all_processes_end_with_the_command() {
    for place in places() {
        let held = Held::in_place(&place);
        // The end of the output is not held up by what was left.
        assert_eq!(place.run(LEAVE).ok(), "left\n");
        held.assert_gets_free();
    }
}

#[test]
fn all_processes_end_with_a_worker_that_is_killed() {
    for place in places() {
        let held = Held::in_place(&place);
        let script = format!("{LEAVE}; {WAIT}");
        let mut worker = place
            .worker(&Sandbox::Workspace, &script)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = worker.stdout.take().unwrap();
        output.read_exact(&mut [0; 5]).unwrap();
        assert!(!held.is_free());
        worker.kill().unwrap();
        worker.wait().unwrap();
        held.assert_gets_free();
        assert_eq!(output.read(&mut [0]).unwrap(), 0);
    }
}

#[test]
fn a_command_that_nothing_confines_ends_with_a_worker_that_is_killed() {
    let place = Place::new(crate::place::BACKENDS[0]);
    let held = Held::in_place(&place);
    let script = format!("exec 9<> held; echo > ready; {WAIT}");
    let mut worker = place.worker(&Sandbox::Off, &script).spawn().unwrap();
    eventually("it runs", || place.work().join("ready").exists());
    assert!(!held.is_free());
    worker.kill().unwrap();
    worker.wait().unwrap();
    held.assert_gets_free();
}

fn confinement(place: &Place) -> Confinement {
    // This program's `main` is not ours.
    use_helper(PROBE);
    Confinement::builder(place.sandbox(&Sandbox::Workspace)).build()
}

#[tokio::test]
async fn all_processes_end_when_it_is_dropped() {
    for place in places() {
        let held = Held::in_place(&place);
        let mut command = confinement(&place).command("bash", &place.work()).unwrap();
        command
            .args(["-c", &format!("{LEAVE}; echo > ready; {WAIT}")])
            .stdout(Stdio::null());
        let process = command.spawn().unwrap();
        ready(&place).await;
        assert!(!held.is_free());
        drop(process);
        held.assert_gets_free();
    }
}

#[tokio::test]
async fn a_command_that_is_stopped_has_time_to_tidy_up() {
    for place in places() {
        let mut command = confinement(&place).command("bash", &place.work()).unwrap();
        let script = "trap 'echo tidy > tidied; exit' TERM; echo > ready; sleep 86400 & wait"; // No test waits it out.
        command.args(["-c", script]);
        let mut process = command.spawn().unwrap();
        ready(&place).await;
        timeout(patience(), process.stop(patience())).await.unwrap();
        assert_eq!(place.read("tidied"), "tidy\n");
    }
}

#[tokio::test]
async fn a_command_that_does_not_end_is_killed_after_the_grace() {
    let grace = Duration::from_millis(50); // None of them ends by itself, however long it is.
    for place in places() {
        let held = Held::in_place(&place);
        let mut command = confinement(&place).command("bash", &place.work()).unwrap();
        command.args([
            "-c",
            &format!("trap '' TERM; {LEAVE}; echo > ready; {WAIT}"),
        ]);
        command.stdout(Stdio::null());
        let mut process = command.spawn().unwrap();
        ready(&place).await;
        assert!(!held.is_free());
        timeout(patience(), process.stop(grace)).await.unwrap();
        assert!(held.is_free(), "it returned before all had ended");
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

#[test]
fn a_helper_that_does_not_start_without_its_environment_says_so() {
    // As one whose libraries are where a variable says.
    let script = "#!/bin/sh\n[ -n \"$NEEDED\" ] || { echo 'NEEDED is not set' >&2; exit 127; }\n";
    let said = |place: &Place, sandbox: &Sandbox| {
        let helper = place.home().join("helper");
        fs::write(&helper, script).unwrap();
        fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).unwrap();
        let mut worker = place.worker(sandbox, "echo started");
        worker.env("PROBE_HELPER", helper).env("NEEDED", "1");
        String::from_utf8(worker.output().unwrap().stdout).unwrap()
    };
    let place = Place::new(Backend::Landlock);
    let error = said(&place, &Sandbox::Workspace);
    assert!(error.contains("NEEDED is not set"), "{error}");
    // What needs none does without.
    assert_eq!(said(&place, &Sandbox::Off), "started\n");
    let place = Place::new(Backend::Bubblewrap);
    assert_eq!(said(&place, &Sandbox::Workspace), "started\n");
}

#[test]
fn a_helper_that_commands_write_does_not_confine() {
    for place in places() {
        place.write("helper", "#!/bin/sh\nprintf '%s' --neuron-sandbox-answer\n");
        let helper = place.work().join("helper");
        fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).unwrap();
        let mut worker = place.worker(&Sandbox::Workspace, "echo started");
        let done = worker.env("PROBE_HELPER", helper).output().unwrap();
        let said = String::from_utf8(done.stdout).unwrap();
        match place.backend() {
            Backend::Bubblewrap => assert_eq!(said, "started\n"),
            _ => assert!(said.contains("commands may write"), "{said}"),
        }
    }
}
