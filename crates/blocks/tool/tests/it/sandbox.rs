//! Calls of tools in a sandbox.

use std::{
    fs, io,
    net::TcpListener,
    sync::atomic::{AtomicU32, Ordering},
};

use neuron_sandbox::{Backend, SandboxRules};
use neuron_tool::{
    BuiltinOptions, ToolDyn, ToolError, ToolOutput, ToolRegistry,
    builtin::Bash,
    builtin_tools, neuron_tool,
    sandbox::{BubblewrapSandbox, ProcessSandbox, Sandbox, SandboxError},
};
use serde_json::{Value, json};

use crate::workspace::{Workspace, text};

/// A tool whose own sandbox is this one.
fn bash(sandbox: neuron_sandbox::Sandbox) -> Bash {
    Bash::new(BuiltinOptions {
        sandbox,
        ..BuiltinOptions::default()
    })
}

/// One that nothing confines by itself.
fn free_bash() -> Bash {
    bash(neuron_sandbox::Sandbox::Off)
}

fn command(command: &str) -> Value {
    json!({ "command": command })
}

/// Has an unconfined tool run a command in a sandbox.
async fn run(
    sandbox: &impl Sandbox,
    place: &Workspace,
    input: Value,
) -> Result<ToolOutput, SandboxError> {
    let tool = free_bash();
    sandbox.execute_tool(&tool, input, &place.ctx).await
}

/// Returns the results of a command in each of two sandboxes with these rules.
async fn in_both(
    place: &Workspace,
    rules: &SandboxRules,
    tool: &Bash,
    script: &str,
) -> [ToolOutput; 2] {
    let process = ProcessSandbox::new(rules.clone());
    let bubblewrap = BubblewrapSandbox::new(rules.clone());
    let input = || command(script);
    [
        process
            .execute_tool(tool, input(), &place.ctx)
            .await
            .unwrap(),
        bubblewrap
            .execute_tool(tool, input(), &place.ctx)
            .await
            .unwrap(),
    ]
}

#[tokio::test]
async fn nothing_outside_the_working_directory_is_written() {
    let place = Workspace::new();
    let outside = place.outside().join("outside");
    let script = format!("echo in >> inside; echo out > {}", outside.display());
    let rules = ProcessSandbox::workspace().rules().clone();
    drop(in_both(&place, &rules, &free_bash(), &script).await);
    assert_eq!(place.read("inside"), "in\nin\n");
    assert!(!outside.exists());
    for output in in_both(&place, &rules, &free_bash(), "echo x > /usr/outside").await {
        assert!(output.is_error, "{output:?}");
    }
    // The same tool without a sandbox does it.
    let unconfined = free_bash().call_dyn(command(&script), &place.ctx).await;
    assert!(!unconfined.unwrap().is_error);
    assert_eq!(fs::read_to_string(outside).unwrap(), "out\n");
}

#[tokio::test]
async fn a_sandbox_that_only_reads_writes_nothing_of_the_working_directory() {
    let place = Workspace::new();
    place.write("file", "text\n");
    let rules = ProcessSandbox::read_only().rules().clone();
    assert_eq!(BubblewrapSandbox::read_only().rules().write, rules.write);
    for output in in_both(&place, &rules, &free_bash(), "cat file; echo x > file").await {
        assert!(output.is_error, "{output:?}");
        assert!(text(&output).starts_with("text\n"), "{output:?}");
    }
    assert_eq!(place.read("file"), "text\n");
}

#[tokio::test]
async fn the_network_is_there_only_where_the_rules_have_it() {
    let place = Workspace::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("exec 3<> /dev/tcp/127.0.0.1/{port}");
    let rules = SandboxRules::new();
    for output in in_both(&place, &rules, &free_bash(), &script).await {
        assert!(output.is_error, "{output:?}");
    }
    let nobody = listener.accept().unwrap_err();
    assert_eq!(nobody.kind(), io::ErrorKind::WouldBlock);
    for output in in_both(&place, &rules.network(true), &free_bash(), &script).await {
        assert!(!output.is_error, "{output:?}");
        drop(listener.accept().unwrap());
    }
}

#[tokio::test]
async fn a_tool_that_is_confined_further_stays_so() {
    let place = Workspace::new();
    let read_only = bash(neuron_sandbox::Sandbox::ReadOnly);
    let rules = SandboxRules::new().network(true);
    for output in in_both(&place, &rules, &read_only, "echo x > file").await {
        assert!(output.is_error, "{output:?}");
    }
    assert!(!place.path("file").exists());
}

static GREETED: AtomicU32 = AtomicU32::new(0);

/// Greets.
#[neuron_tool(read_only)]
async fn greet() -> Result<String, io::Error> {
    GREETED.fetch_add(1, Ordering::Relaxed);
    Ok("hello".into())
}

#[tokio::test]
async fn a_tool_that_cannot_be_confined_is_not_called() {
    let place = Workspace::new();
    let sandbox = ProcessSandbox::workspace();
    let refused = sandbox
        .execute_tool(&GreetTool, json!({}), &place.ctx)
        .await;
    let error = refused.unwrap_err();
    assert!(matches!(&error, SandboxError::NotConfinable { tool } if tool == "greet"));
    assert!(error.to_string().contains("Have a program do it"));
    assert_eq!(GREETED.load(Ordering::Relaxed), 0);
    drop(GreetTool.call_dyn(json!({}), &place.ctx).await.unwrap());
    assert_eq!(GREETED.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn of_the_builtin_tools_bash_alone_can_be_confined() {
    let place = Workspace::new();
    let sandbox = ProcessSandbox::default();
    for tool in builtin_tools(&BuiltinOptions::default()) {
        let called = sandbox
            .execute_tool(&*tool, command("true"), &place.ctx)
            .await;
        let refused = matches!(called, Err(SandboxError::NotConfinable { .. }));
        assert_eq!(refused, tool.name() != "bash", "{}", tool.name());
    }
    // Nor does it matter where a tool comes from.
    let registry = ToolRegistry::from_iter(builtin_tools(&BuiltinOptions::default()));
    let tool = registry.get("bash").unwrap();
    let called = sandbox.execute_tool(&*tool, command("echo hi"), &place.ctx);
    assert_eq!(text(&called.await.unwrap()), "hi\n[exit code 0]\n");
}

#[tokio::test]
async fn nothing_is_called_where_the_back_end_cannot_be_had() {
    let place = Workspace::new();
    // This program cannot be started as the helper that Landlock needs.
    let rules = SandboxRules::new().backend(Backend::Landlock);
    let sandbox = ProcessSandbox::new(rules.clone());
    let called = run(&sandbox, &place, command("echo x > file")).await;
    let error = called.unwrap_err();
    assert!(
        matches!(&error, SandboxError::Unavailable { tool, .. } if tool == "bash"),
        "{error:?}"
    );
    assert!(!place.path("file").exists());
    // That of the other sandbox is its own.
    let sandbox = BubblewrapSandbox::new(rules);
    let called = run(&sandbox, &place, command("echo x > file"));
    assert!(!called.await.unwrap().is_error);
    assert_eq!(place.read("file"), "x\n");
}

#[tokio::test]
async fn what_the_tool_says_is_the_result() {
    let place = Workspace::new();
    let sandbox = BubblewrapSandbox::default();
    let failed = run(&sandbox, &place, command("exit 3"));
    assert_eq!(text(&failed.await.unwrap()), "[exit code 3]\n");
    let wrong = run(&sandbox, &place, json!({}));
    let wrong = wrong.await.unwrap_err();
    assert!(
        matches!(wrong, SandboxError::Tool(ToolError::ModelRetry(_))),
        "{wrong:?}"
    );
}

#[tokio::test]
async fn nothing_is_started_for_a_run_that_is_cancelled() {
    let place = Workspace::new();
    place.ctx.cancellation_token.cancel();
    let sandbox = ProcessSandbox::workspace();
    let called = run(&sandbox, &place, command("echo x > file"));
    let error = called.await.unwrap_err();
    assert!(
        matches!(error, SandboxError::Tool(ToolError::Cancelled)),
        "{error:?}"
    );
    assert!(!place.path("file").exists());
}
