use std::{
    env,
    fs::OpenOptions,
    io::Read as _,
    os::unix::fs::OpenOptionsExt as _,
    process::Command,
    time::{Duration, Instant},
};

use neuron_patience::patience;
use neuron_sandbox::Sandbox;
use neuron_tool::{BuiltinOptions, ToolError};
use rustix::fs::{CWD, Mode, OFlags, mkfifoat};
use serde_json::json;

use crate::workspace::{Workspace, text};

#[tokio::test]
async fn answers_with_both_outputs_in_their_order_and_the_exit_code() {
    let place = Workspace::new();
    let input = json!({"command": "echo one; echo two >&2; printf three"});
    assert_eq!(
        place.ok("bash", input).await,
        "one\ntwo\nthree\n[exit code 0]\n"
    );
    assert_eq!(
        place.ok("bash", json!({"command": "true"})).await,
        "[exit code 0]\n"
    );
}

#[tokio::test]
async fn a_command_that_fails_is_an_error_result() {
    let place = Workspace::new();
    for (command, expected) in [
        ("echo no; exit 3", "no\n[exit code 3]\n"),
        ("kill -9 $$", "[exit code 137]\n"),
    ] {
        let output = place
            .call("bash", json!({"command": command}))
            .await
            .unwrap();
        assert!(output.is_error);
        assert_eq!(text(&output), expected);
    }
    let output = place
        .call("bash", json!({"command": "no-such-command"}))
        .await
        .unwrap();
    assert!(output.is_error);
    assert!(text(&output).ends_with("[exit code 127]\n"));
}

#[tokio::test]
async fn starts_in_the_working_directory_without_input() {
    let place = Workspace::new();
    let cwd = place.ctx.cwd.canonicalize().unwrap();
    let output = place.ok("bash", json!({"command": "pwd; cat"})).await;
    assert_eq!(output, format!("{}\n[exit code 0]\n", cwd.display()));
}

#[tokio::test]
async fn keeps_the_start_and_the_end_of_huge_output() {
    let place = Workspace::with(&BuiltinOptions {
        max_output_bytes: 1_000,
        ..BuiltinOptions::default()
    });
    let input =
        json!({"command": "echo start; head -c 30000000 /dev/zero | tr '\\0' x; echo; echo end"});
    let output = place.ok("bash", input).await;
    assert!(output.len() < 1_100, "{}", output.len());
    assert!(output.starts_with("start\nxxx"), "{output}");
    assert!(output.ends_with("xxx\nend\n[exit code 0]\n"), "{output}");
    assert!(output.contains("[… 29999011 bytes cut …]"), "{output}");
}

#[tokio::test]
async fn shows_binary_output_as_text() {
    let place = Workspace::new();
    let output = place
        .ok("bash", json!({"command": "printf 'a\\377\\n'"}))
        .await;
    assert_eq!(output, "a\u{FFFD}\n[exit code 0]\n");
}

#[tokio::test]
async fn what_is_left_in_the_background_ends_with_the_command() {
    let place = Workspace::new();
    // A pipe that it has open as long as it lives.
    let held = place.path("held");
    mkfifoat(CWD, &held, Mode::RUSR | Mode::WUSR).unwrap();
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap();
    let mut options = OpenOptions::new();
    let mut held = options.read(true).custom_flags(flags).open(held).unwrap();
    let command = "(exec 9<> held; echo > alive; read -r _ <&9) & until [ -s alive ]; do :; done";
    place.ok("bash", json!({ "command": command })).await;
    assert!(place.path("alive").exists());
    let started = Instant::now();
    // There is nothing to read while a writer is left, and the end after the last one.
    while !held.read(&mut [0]).is_ok_and(|count| count == 0) {
        assert!(started.elapsed() < patience(), "it lives on");
        tokio::time::sleep(Duration::from_millis(5)).await; // Between two looks.
    }
}

#[tokio::test]
async fn an_unconfined_command_is_not_waited_for_in_the_background() {
    let place = Workspace::with(&BuiltinOptions {
        sandbox: Sandbox::Off,
        ..BuiltinOptions::default()
    });
    let output = place
        .ok("bash", json!({"command": "sleep 86400 & echo $!"})) // It is ended below.
        .await;
    let (pid, rest) = output.split_once('\n').unwrap();
    assert_eq!(rest, "[exit code 0]\n");
    // It lives on, so this can end it.
    assert!(Command::new("kill").arg(pid).status().unwrap().success());
}

#[tokio::test]
async fn does_not_read_on_from_what_prints_in_the_background() {
    let place = Workspace::new();
    let output = place
        .ok("bash", json!({"command": "yes & echo done"}))
        .await;
    assert!(output.ends_with("[exit code 0]\n"));
}

#[tokio::test]
async fn gets_the_environment_of_the_call() {
    let mut place = Workspace::new();
    place
        .ctx
        .environment
        .insert("GREETING".into(), "hello".into());
    place
        .ctx
        .environment
        .insert("GIVEN_TOKEN".into(), "on purpose".into());
    let input = json!({"command": "echo $GREETING $GIVEN_TOKEN"});
    assert_eq!(
        place.ok("bash", input).await,
        "hello on purpose\n[exit code 0]\n"
    );
}

#[tokio::test]
async fn finds_the_idempotency_key_of_the_call_in_a_variable() {
    let mut place = Workspace::new();
    place.ctx.idempotency_key = "run:1:2".into();
    let input = json!({"command": "echo $NEURON_IDEMPOTENCY_KEY"});
    assert_eq!(place.ok("bash", input).await, "run:1:2\n[exit code 0]\n");
}

#[tokio::test]
async fn inherits_what_is_on_the_list_and_what_is_named() {
    // A test may not change its own environment: it starts itself again with the secrets in it.
    if env::var_os("NEURON_TEST_API_KEY").is_none() {
        let test = Command::new(env::current_exe().unwrap())
            .args([
                "--exact",
                "bash::inherits_what_is_on_the_list_and_what_is_named",
            ])
            .env("NEURON_TEST_API_KEY", "1")
            .env("NEURON_TEST_URL", "2")
            .env("NEURON_TEST_PLAIN", "3")
            .output()
            .unwrap();
        let report = String::from_utf8_lossy(&test.stdout);
        assert!(
            test.status.success() && report.contains("1 passed"),
            "{report}"
        );
        return;
    }
    let place = Workspace::with(&BuiltinOptions {
        inherited_environment: vec!["NEURON_TEST_PLAIN".into()],
        ..BuiltinOptions::default()
    });
    let output = place
        .ok("bash", json!({"command": "env | grep NEURON_TEST"}))
        .await;
    assert_eq!(output, "NEURON_TEST_PLAIN=3\n[exit code 0]\n");
}

#[tokio::test]
async fn bad_arguments_are_for_the_model_to_mend() {
    let place = Workspace::new();
    let hint = place
        .hint("bash", json!({"command": "true", "timeout_seconds": 0}))
        .await;
    assert_eq!(hint, "timeout_seconds must be from 1 to 600");
    let hint = place.hint("bash", json!({"cmd": "true"})).await;
    assert!(
        hint.starts_with("the arguments do not fit the schema"),
        "{hint}"
    );
}

#[tokio::test]
async fn a_missing_working_directory_is_named() {
    let mut place = Workspace::new();
    place.ctx.cwd.push("gone");
    let error = place
        .call("bash", json!({"command": "true"}))
        .await
        .unwrap_err();
    assert!(matches!(error, ToolError::ExecutionFailed(_)));
    assert!(
        error
            .to_string()
            .contains("cannot use the working directory"),
        "{error}"
    );
}
