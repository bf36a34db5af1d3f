//! Guards that are programs.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    process::Command,
};

use neuron_guards::{CommandGuard, Program, Then};
use neuron_patience::patience;
use neuron_types::{Guard as _, GuardError, GuardPoint, GuardSubject, GuardVerdict, with_causes};
use serde_json::{Value, json};
use tokio::{sync::oneshot, time::timeout};

use crate::scripts::Script;

/// Returns what a guard of these lines says of a text, asked as executors ask.
async fn asked(lines: &str, text: &str) -> Result<GuardVerdict, String> {
    let script = Script::new(lines);
    ask(&CommandGuard::new("own", script.program()), text).await
}

async fn ask(guard: &CommandGuard, text: &str) -> Result<GuardVerdict, String> {
    let subject = GuardSubject::new(GuardPoint::Output, text);
    let answer = timeout(guard.timeout(), guard.check(subject)).await;
    let answer: Result<GuardVerdict, GuardError> = answer.unwrap();
    answer.map_err(|error| with_causes(&error))
}

#[tokio::test]
async fn say_each_verdict() {
    let reason = || "why".to_owned();
    for (answer, expected) in [
        ("{\"verdict\":\"pass\"}", GuardVerdict::Pass),
        (
            "{\"verdict\":\"warn\",\"reason\":\"why\"}\n",
            GuardVerdict::Warn { reason: reason() },
        ),
        (
            " {\"verdict\": \"replace\", \"with\": \"é\", \"reason\": \"why\"}",
            GuardVerdict::Replace {
                with: "é".to_owned(),
                reason: reason(),
            },
        ),
        (
            "{\"verdict\":\"block\",\"reason\":\"why\"}",
            GuardVerdict::Block { reason: reason() },
        ),
        (
            "{\"verdict\":\"ask\",\"reason\":\"why\"}",
            GuardVerdict::Ask { reason: reason() },
        ),
        (
            "{\"verdict\":\"trip\",\"reason\":\"why\"}",
            GuardVerdict::Trip { reason: reason() },
        ),
    ] {
        let lines = format!("cat > asked\nprintf '%s' '{answer}'");
        assert_eq!(asked(&lines, "text").await.unwrap(), expected);
    }
}

#[tokio::test]
async fn read_what_is_looked_at_as_one_object() {
    let script =
        Script::new("cat > asked\nprintf '%s|' \"$@\" > words\necho '{\"verdict\":\"pass\"}'");
    let guard = CommandGuard::new("own", script.program());
    let read = || serde_json::from_str::<Value>(&script.wrote("asked")).unwrap();
    ask(&guard, "a \"text\"\n日").await.unwrap();
    assert_eq!(read(), json!({"point": "output", "text": "a \"text\"\n日"}));
    // Its words are its own: no shell changes them.
    assert_eq!(script.wrote("words"), "a b|$HOME|");
    let input = json!({"command": "ls"});
    let text = input.to_string();
    let call = GuardSubject::new(GuardPoint::Call, &text).of_tool("bash");
    guard.check(call.with_input(&input)).await.unwrap();
    assert_eq!(
        read(),
        json!({"point": "call", "tool": "bash", "text": text, "input": {"command": "ls"}})
    );
}

#[tokio::test]
async fn that_say_nonsense_have_failed() {
    for answer in [
        "",
        "ok",
        "null",
        "[]",
        "{}",
        "{\"verdict\":\"maybe\"}",
        "{\"verdict\":\"block\"}",
        "{\"verdict\":\"block\",\"reason\":3}",
        "{\"verdict\":\"block\",\"reason\":\"a\",\"more\":1}",
        "{\"verdict\":\"pass\"} {\"verdict\":\"pass\"}",
    ] {
        let lines = format!("printf '%s' '{answer}'");
        let error = asked(&lines, "text").await.unwrap_err();
        assert!(error.starts_with("its answer is no verdict"), "{error}");
    }
    let error = asked("printf '\\377'", "text").await.unwrap_err();
    assert!(error.starts_with("what the program \"sh\" answered is no text"));
}

#[tokio::test]
async fn that_end_with_another_code_have_failed_whatever_they_say() {
    let lines = "echo '{\"verdict\":\"pass\"}'\necho 'no database' >&2\nexit 3";
    assert_eq!(
        asked(lines, "text").await.unwrap_err(),
        "the program \"sh\" ended with exit status: 3: no database"
    );
    let killed = "echo '{\"verdict\":\"pass\"}'\nkill -9 $$";
    let error = asked(killed, "text").await.unwrap_err();
    assert!(error.contains("signal: 9"), "{error}");
    // Much of a complaint is read, and little shown.
    let long = "yes é | head -c 1000000 >&2\nexit 1";
    let error = asked(long, "text").await.unwrap_err();
    assert!(error.len() < 3_000, "{}", error.len());
}

#[tokio::test]
async fn that_answer_too_much_have_failed() {
    let expected = "the program \"sh\" answered more than 1048576 bytes";
    for lines in ["head -c 1048577 /dev/zero", "exec yes"] {
        assert_eq!(asked(lines, "text").await.unwrap_err(), expected);
    }
    let much = "printf '{\"verdict\":\"warn\",\"reason\":\"'\nhead -c 1000000 /dev/zero | tr '\\0' x\nprintf '\"}'";
    assert!(asked(much, "text").await.is_ok());
}

#[tokio::test]
async fn need_not_read_what_they_are_asked() {
    let text = "x".repeat(1_000_000);
    for lines in [
        "echo '{\"verdict\":\"pass\"}'",
        "exec <&-\necho '{\"verdict\":\"pass\"}'",
    ] {
        let verdict = asked(lines, &text).await.unwrap();
        assert_eq!(verdict, GuardVerdict::Pass);
    }
    // A program that answers while it reads is not waited for.
    let error = asked("exec cat", &text).await.unwrap_err();
    assert!(error.starts_with("its answer is no verdict"));
}

#[tokio::test]
async fn that_are_not_there_have_failed() {
    let folder = tempfile::tempdir().unwrap();
    for program in [
        Program::new(["/nowhere/check"]),
        Program::new(["./check.sh"]).directory(folder.path()),
        Program::new([""]),
        Program::new(Vec::<String>::new()),
        Program::new(["sh"]).directory(folder.path().join("nowhere")),
        Program::new(["sh", "a\0b"]),
    ] {
        let guard = CommandGuard::new("own", program);
        let error = ask(&guard, "text").await.unwrap_err();
        assert!(error.contains("could not be started"), "{error}");
    }
}

#[tokio::test]
async fn find_no_variable_but_those_that_are_named() {
    const NAMED: &str = "CARGO_MANIFEST_DIR";
    let value = std::env::var(NAMED).unwrap();
    let script = Script::new("env > found\necho '{\"verdict\":\"pass\"}'");
    let found = |program: Program| async {
        ask(&CommandGuard::new("own", program), "text")
            .await
            .unwrap();
        script.wrote("found")
    };
    let usual = found(script.program()).await;
    assert!(usual.lines().any(|line| line.starts_with("PATH=")));
    assert!(!usual.contains(&value), "{usual}");
    // The shell sets some by itself.
    let known = [
        "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "USER", "PWD", "OLDPWD", "SHLVL", "_",
    ];
    for line in usual.lines() {
        let name = line.split('=').next().unwrap();
        assert!(known.contains(&name), "{line}");
    }
    let named = found(
        script
            .program()
            .inheriting([NAMED, "NEURON_NOT_SET", "A=B", ""]),
    )
    .await;
    assert!(named.lines().any(|line| line == format!("{NAMED}={value}")));
    assert!(!named.contains("NEURON_NOT_SET"));
}

#[tokio::test]
async fn are_killed_when_nobody_waits_for_them_any_more() {
    // It signals when it has begun, and keeps the signal's descriptor open for as long as it lives.
    let script = Script::new("exec 3> life\necho begun >&3\nexec tail -f /dev/null");
    let life = script.folder().join("life");
    let made = Command::new("mkfifo").arg(&life).status().unwrap();
    assert!(made.success());
    let (tell, begun) = oneshot::channel();
    let ended = tokio::task::spawn_blocking(move || {
        let mut life = BufReader::new(File::open(life).unwrap());
        let mut line = String::new();
        life.read_line(&mut line).unwrap();
        assert_eq!(line, "begun\n");
        tell.send(()).unwrap();
        line.clear();
        assert_eq!(life.read_line(&mut line).unwrap(), 0);
    });
    let guard = CommandGuard::new("own", script.program());
    let subject = GuardSubject::new(GuardPoint::Output, "text");
    // Its time is over as soon as it has begun.
    tokio::select! {
        answer = guard.check(subject) => panic!("{answer:?}"),
        begun = timeout(patience(), begun) => begun.unwrap().unwrap(),
    }
    timeout(patience(), ended).await.unwrap().unwrap();
}

#[test]
fn have_the_time_of_the_program_and_say_what_their_failures_mean() {
    let program = Program::new(["check"]);
    let guard = CommandGuard::new("own", program.clone().timeout(patience()));
    assert_eq!(guard.timeout(), patience());
    let reason = || "why".to_owned();
    let failed = |guard: CommandGuard| guard.on_failure(reason());
    let new = || CommandGuard::new("own", program.clone());
    let block = GuardVerdict::Block { reason: reason() };
    assert_eq!(failed(new()), block);
    assert_eq!(failed(new().failing(Then::Block)), block);
    assert_eq!(failed(new().failing(Then::Replace("x".into()))), block);
    assert_eq!(
        failed(new().failing(Then::Warn)),
        GuardVerdict::Warn { reason: reason() }
    );
    assert_eq!(
        failed(new().failing(Then::Ask)),
        GuardVerdict::Ask { reason: reason() }
    );
    assert_eq!(
        failed(new().failing(Then::Trip)),
        GuardVerdict::Trip { reason: reason() }
    );
    assert_eq!(failed(new().passing_on_failure()), GuardVerdict::Pass);
}

#[tokio::test]
async fn look_where_and_at_the_tools_that_they_are_told() {
    let guard = CommandGuard::new("own", Program::new(["/nowhere/check"]));
    assert!(GuardPoint::ALL.iter().all(|point| guard.looks_at(*point)));
    let guard = guard.at([GuardPoint::Call]).of_tools(["bash"]);
    let looks = GuardPoint::ALL.map(|point| guard.looks_at(point));
    assert_eq!(looks, [false, true, false, false]);
    let subject = GuardSubject::new(GuardPoint::Call, "{}");
    // No program is started for another's call.
    let other = guard.check(subject.of_tool("grep")).await.unwrap();
    assert_eq!(other, GuardVerdict::Pass);
    assert!(guard.check(subject.of_tool("bash")).await.is_err());
}
