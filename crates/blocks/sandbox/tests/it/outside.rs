//! What is beyond the files: the network, other processes.

use std::{
    io::ErrorKind,
    net::TcpListener,
    os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixListener},
    },
};

use neuron_sandbox::{Backend, Sandbox, SandboxRules};

use crate::place::{PROBE, places};

#[test]
fn a_service_of_this_machine_is_not_reached() {
    for place in places() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = format!("echo x > /dev/tcp/127.0.0.1/{port}");
        place.run(&script).fails();
        let met = listener.accept().unwrap_err();
        assert_eq!(met.kind(), ErrorKind::WouldBlock);
        place.with(SandboxRules::new().network(true), &script).ok();
        listener.accept().unwrap();
    }
}

#[test]
fn no_socket_of_this_machine_is_reached() {
    for place in places() {
        // One in the working directory too: the process that listens may be any.
        for path in [
            place.home().join("agent.sock"),
            place.work().join("agent.sock"),
        ] {
            let listener = UnixListener::bind(&path).unwrap();
            let script = format!("{PROBE} unix {}", path.display());
            place.run(&script).fails();
            // It has no port: it is not the network.
            place
                .with(SandboxRules::new().network(true), &script)
                .fails();
            drop(listener);
        }
        let name = format!(
            "neuron-test-{}-{}",
            std::process::id(),
            place.home().display()
        );
        let listener =
            UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let script = format!("{PROBE} abstract {name}");
        place.run(&script).fails();
        place
            .with(SandboxRules::new().network(true), &script)
            .fails();
        drop(listener);
    }
}

#[test]
fn a_pair_of_sockets_is_had_and_one_that_could_be_connected_is_not() {
    for place in places() {
        place.run(&format!("{PROBE} pair")).ok();
        place.run(&format!("{PROBE} datagrams")).fails();
    }
}

#[test]
fn other_processes_are_not_read_and_not_ended() {
    for place in places() {
        let ours = std::process::id();
        for name in ["environ", "cmdline", "maps", "root/etc/passwd"] {
            // In a namespace of its own the number is another process, or none.
            let done = place.run(&format!("tr '\\0' '\\n' < /proc/{ours}/{name}"));
            assert!(
                !done.text.contains("PATH=") && !done.text.contains("it-"),
                "{}",
                done.text
            );
        }
        let mut worker = place.worker(
            &Sandbox::Workspace,
            "for each in /proc/[0-9]*/environ /proc/$PPID/environ; do cat $each; done; kill -9 $PPID; echo survived",
        );
        let done = worker.env("WORKER_SECRET", "hidden").output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout);
        assert!(!text.contains("WORKER_SECRET"), "{text}");
        // Neither its helper nor its worker has ended.
        assert!(
            text.ends_with("survived\n") && done.status.success(),
            "{done:?}"
        );
        place.run(&format!("kill -0 {ours}")).fails();
    }
}

#[test]
fn an_unconfined_command_cannot_read_its_worker() {
    let place = places().next().unwrap();
    let done = place.run_in(
        &Sandbox::Off,
        "ls -ld /proc/$PPID/environ && stat -c %U /proc/$PPID/environ",
    );
    assert!(done.ok().ends_with("root\n"), "{}", done.text);
}

#[test]
fn commands_have_no_capabilities() {
    for place in places() {
        // Of the shell and of what it starts; Landlock does not let it read its own entry.
        let script = "unshare --mount true";
        place.run(script).fails();
        if place.backend() == Backend::Bubblewrap {
            let found = place.run("grep -E 'Cap(Prm|Eff|Amb)' /proc/self/status");
            let zero = |line: &str| line.ends_with("0000000000000000");
            assert!(found.ok().lines().all(zero), "{}", found.text);
        }
    }
}
