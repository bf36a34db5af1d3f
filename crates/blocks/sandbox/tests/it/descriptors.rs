//! Files and connections that the worker was started with.

use std::{
    fs, io::Read as _, net::TcpListener, os::unix::process::CommandExt as _, process::Command,
};

use neuron_sandbox::{Backend, Sandbox};

use crate::place::{Place, places};

/// What a shell leaves open for the worker that it becomes.
const OPENS: &str = "port=$1; shift
exec 3< ../.ssh/id 7< ../.ssh/id 8>> ../outside 9<> /dev/tcp/127.0.0.1/$port {high}< ../.ssh/id
\"$@\"";

/// What a command tries with them. A descriptor that is there may be one of its own, so the result counts.
const TRIES: &str = "for fd in {3..63}; do
    { head -c 100 /dev/fd/$fd || timeout 5 head -c 100 <&$fd; } 2> /dev/null
    { echo beyond >&$fd; } 2> /dev/null
done < /dev/null
echo tried";

fn attack(place: &Place, sandbox: &Sandbox, knows_helper: bool) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let worker = place.worker(sandbox, TRIES);
    let mut shell = Command::new("bash");
    shell
        .args(["-c", OPENS, "bash", &port])
        .arg(worker.get_program())
        .args(worker.get_args())
        .current_dir(place.work())
        .env("HOME", place.home())
        .process_group(0);
    if !knows_helper {
        shell.env("PROBE_IS_NO_HELPER", "1");
    }
    let done = shell.output().unwrap();
    let case = format!("{}, {sandbox:?}, {knows_helper}: {done:?}", place.backend());
    assert_eq!(String::from_utf8_lossy(&done.stdout), "tried\n", "{case}");
    let outside = fs::read_to_string(place.home().join("outside")).unwrap();
    assert_eq!(outside, "", "{case}");
    let mut sent = String::new();
    listener
        .accept()
        .unwrap()
        .0
        .read_to_string(&mut sent)
        .unwrap();
    assert_eq!(sent, "", "{case}");
}

#[test]
fn what_the_worker_was_started_with_is_not_reached() {
    for place in places() {
        attack(&place, &Sandbox::Workspace, true);
    }
}

#[test]
fn what_the_worker_was_started_with_is_not_reached_by_commands_that_nothing_confines() {
    for knows_helper in [true, false] {
        attack(
            &Place::new(Backend::Bubblewrap),
            &Sandbox::Off,
            knows_helper,
        );
    }
}

#[test]
fn what_the_worker_was_started_with_is_not_reached_where_it_is_no_helper() {
    attack(&Place::new(Backend::Bubblewrap), &Sandbox::Workspace, false);
}
