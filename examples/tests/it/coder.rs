use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use neuron_harness::{Aimock, mcp_program};
use serde_json::{Value, json};

const TASK: &str = "Fix the bug in src/main.rs";

/// Returns a model that reads the file, fixes it, runs a command on it, notes it with the server's tool, and reports
/// that.
fn model() -> Aimock {
    let calls = [
        ("read_file", json!({"path": "src/main.rs"})),
        (
            "edit_file",
            json!({"path": "src/main.rs", "old_string": "1 - 1", "new_string": "1 + 1"}),
        ),
        ("bash", json!({"command": "cat src/main.rs > looked"})),
        ("echo", json!({"message": "it is mended"})),
    ];
    let ids: Vec<String> = (0..calls.len()).map(|at| format!("call_{at}")).collect();
    let after = |at: usize| match at {
        0 => json!({"userMessage": TASK, "hasToolResult": false}),
        at => json!({"userMessage": TASK, "toolCallId": ids[at - 1]}),
    };
    let mut fixtures: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(at, (name, arguments))| {
            let call = json!({"id": ids[at], "name": name, "arguments": arguments});
            json!({"match": after(at), "response": {"toolCalls": [call]}})
        })
        .collect();
    let answer = json!({"match": after(calls.len()), "response": {"content": "It is mended."}});
    fixtures.push(answer);
    Aimock::start(&json!({ "fixtures": fixtures }))
}

/// Runs the program in a directory with a bug.
fn coder(model: &Aimock, folder: &Path, answer: &str) -> Output {
    fs::create_dir(folder.join("src")).unwrap();
    fs::write(folder.join("src/main.rs"), "fn two() -> i32 { 1 - 1 }\n").unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_coder"))
        .args([TASK, "node", &mcp_program("mcp-server-everything"), "stdio"])
        .current_dir(folder)
        .env("ANTHROPIC_API_KEY", "test-key-of-this-run")
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("NO_PROXY", "127.0.0.1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = program.stdin.take().unwrap();
    stdin.write_all(answer.as_bytes()).unwrap();
    drop(stdin);
    program.wait_with_output().unwrap()
}

#[test]
fn mends_a_file_and_uses_the_tools_of_its_server() {
    let (model, folder) = (model(), tempfile::tempdir().unwrap());
    let output = coder(&model, folder.path(), "y\n");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains(r#"may it run {"command":"cat src/main.rs > looked"}?"#),
        "{said}"
    );
    assert!(said.ends_with("It is mended.\n"), "{said}");
    let mended = "fn two() -> i32 { 1 + 1 }\n";
    for file in ["src/main.rs", "looked"] {
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        assert_eq!(text, mended, "{file}");
    }
    let last = model.journal().pop().unwrap()["body"].to_string();
    assert!(last.contains("Echo: it is mended"), "{last}");
}

#[test]
fn a_command_that_is_denied_is_not_run() {
    let (model, folder) = (model(), tempfile::tempdir().unwrap());
    let output = coder(&model, folder.path(), "n\n");
    assert!(output.status.success(), "{output:?}");
    assert!(!folder.path().join("looked").exists());
    let last = model.journal().pop().unwrap()["body"].to_string();
    assert!(last.contains("not now"), "{last}");
}
