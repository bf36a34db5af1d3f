use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    process::{Command, Stdio},
};

use neuron_sandbox::Sandbox;

use crate::place::{PROBE, Place, eventually, places};

#[test]
fn commands_get_what_is_on_the_list() {
    for place in places() {
        for sandbox in [Sandbox::Workspace, Sandbox::Off] {
            let mut worker = place.worker(&sandbox, "env");
            worker
                .env("DATABASE_URL", "postgres://u:p@h")
                .env("OPENAI_API_KEY", "key")
                .env("SSH_AUTH_SOCK", "/run/agent")
                .env("TEMPORAL_ADDRESS", "localhost:7233")
                .env("LC_TIME", "C");
            let output = worker.output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            for name in [
                "DATABASE_URL",
                "OPENAI_API_KEY",
                "SSH_AUTH_SOCK",
                "TEMPORAL_ADDRESS",
                "NEURON_",
                "CARGO_PKG",
            ] {
                assert!(!text.contains(name), "{text}");
            }
            for name in [
                "PATH=",
                "LC_TIME=C",
                &format!("HOME={}", place.home().display()),
            ] {
                assert!(text.contains(name), "{text}");
            }
        }
    }
}

/// A worker that starts these words.
fn starts(place: &Place, sandbox: &Sandbox, words: &[&str]) -> Command {
    let sandbox = serde_json::to_string(&place.sandbox(sandbox)).unwrap();
    let mut worker = Command::new(PROBE);
    worker
        .args(["start", &sandbox])
        .args(words)
        .current_dir(place.work())
        .env("HOME", place.home());
    worker
}

#[test]
fn a_command_gets_variables_of_its_own_as_they_are() {
    let long = "x".repeat(100_000);
    let variables: [(&[u8], &[u8]); 9] = [
        (b"PLAIN", b"text"),
        (b"EMPTY", b""),
        (b"LINES", b"one\ntwo\n"),
        (b"EQUALS", b"=a=b="),
        (b"BYTES", b"\xff\xfe"),
        (b"NAME\xff", b"value"),
        (b"name with a space", b"--setenv"),
        (b"LONG", long.as_bytes()),
        (b"BASH_FUNC_hello%%", b"() { echo hello; }"),
    ];
    for place in places() {
        for sandbox in [Sandbox::Workspace, Sandbox::Off] {
            let mut worker = starts(&place, &sandbox, &["env", "-0"]);
            for (name, value) in variables {
                let name = OsString::from_vec([b"PROBE_SETS_", name].concat());
                worker.env(name, OsStr::from_bytes(value));
            }
            let done = worker.output().unwrap();
            let found: Vec<_> = done.stdout.split(|byte| *byte == 0).collect();
            for (name, value) in variables {
                let expected = [name, b"=", value].concat();
                assert!(
                    found.contains(&expected.as_slice()),
                    "{}, {sandbox:?}, {:?}: {:?}",
                    place.backend(),
                    String::from_utf8_lossy(name),
                    String::from_utf8_lossy(&done.stderr)
                );
            }
        }
    }
}

#[test]
fn a_name_that_no_variable_has_keeps_a_command_from_being_started() {
    for place in places() {
        for sandbox in [Sandbox::Workspace, Sandbox::Off] {
            let mut worker = starts(&place, &sandbox, &["echo", "started"]);
            let done = worker.env("PROBE_SETS_", "value").output().unwrap();
            let said = String::from_utf8_lossy(&done.stdout);
            assert!(said.contains("name of a variable"), "{said}");
        }
    }
}

#[test]
fn what_confines_has_no_environment_and_no_command_line_shows_one() {
    for place in places() {
        let script = "echo > ready; until [ -e done ]; do sleep 0.01; done"; // Between two looks.
        let mut worker = place.worker(&Sandbox::Workspace, script);
        worker
            .env("PROBE_SETS_TOKEN", "a-value-that-is-secret")
            .env("LC_TIME", "C")
            .stdout(Stdio::null());
        let mut worker = worker.spawn().unwrap();
        eventually("it runs", || place.work().join("ready").exists());
        let mut shown = Vec::new();
        for process in fs::read_dir("/proc").unwrap().flatten() {
            // It may have ended, or be a file.
            let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
            shown.push(String::from_utf8_lossy(&line).into_owned());
        }
        let children = fs::read_dir(format!("/proc/{}/task", worker.id())).unwrap();
        let children = children.flatten().map(|thread| {
            let children = thread.path().join("children");
            fs::read_to_string(children).unwrap_or_default()
        });
        let children: String = children.collect();
        let confines: u32 = children.trim().parse().unwrap();
        let environment = fs::read(format!("/proc/{confines}/environ")).unwrap();
        fs::write(place.work().join("done"), "").unwrap();
        assert!(worker.wait().unwrap().success());
        let backend = place.backend();
        for line in shown {
            assert!(
                !line.contains("a-value-that-is-secret"),
                "{backend}: {line}"
            );
        }
        let environment = String::from_utf8_lossy(&environment);
        assert_eq!(environment.replace('\0', "\n"), "", "{backend}");
    }
}
