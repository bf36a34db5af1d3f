//! Tools of servers, called in a sandbox.

use std::{fs, path::Path, sync::Arc};

use neuron_mcp::{McpClient, McpServerSpec};
use neuron_sandbox::{Sandbox as Setting, SandboxRules};
use neuron_tool::sandbox::{BubblewrapSandbox, ProcessSandbox, Sandbox, SandboxError};
use neuron_types::{ToolContext, ToolDyn, ToolError};
use serde_json::{Value, json};

use crate::programs::{Everything, HOUR, everything, program};

/// The protocol's file server, which may write this folder or not.
fn files(folder: &Path, sandbox: Setting) -> McpServerSpec {
    let args = [
        program("mcp-server-filesystem"),
        folder.to_str().unwrap().to_owned(),
    ];
    McpServerSpec::stdio("files", "node", args)
        .timeout(HOUR)
        .sandbox(sandbox)
}

fn writing(folder: &Path) -> SandboxRules {
    SandboxRules::new().write([folder.to_owned()])
}

async fn tool(client: &McpClient, name: &str) -> Arc<dyn ToolDyn> {
    let tools = client.discover_tools().await.unwrap();
    let mut tools = tools.into_iter();
    tools.find(|tool| tool.name() == name).unwrap()
}

fn file(folder: &Path, name: &str) -> Value {
    json!({"path": folder.join(name), "content": "text"})
}

/// Returns whether a process has this folder on its command line.
fn is_served(folder: &Path) -> bool {
    let folder = folder.to_str().unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut words = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    words.any(|words| String::from_utf8_lossy(&words).contains(folder))
}

#[tokio::test]
async fn each_call_has_a_server_of_its_own_in_the_sandbox() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let spec = files(&folder, Setting::Custom(writing(&folder).network(true)));
    let client = McpClient::connect(spec, ()).await.unwrap();
    let (write_file, ctx) = (tool(&client, "write_file").await, ToolContext::default());

    let read_only = ProcessSandbox::read_only();
    let called = read_only.execute_tool(&*write_file, file(&folder, "a"), &ctx);
    let output = called.await.unwrap();
    assert!(output.is_error, "{output:?}");
    assert!(!folder.join("a").exists());

    let may_write = BubblewrapSandbox::new(writing(&folder));
    let called = may_write.execute_tool(&*write_file, file(&folder, "b"), &ctx);
    assert!(!called.await.unwrap().is_error);
    assert_eq!(fs::read_to_string(folder.join("b")).unwrap(), "text");

    // The server that was there before is as it was, and no other is left.
    let written = write_file.call_dyn(file(&folder, "c"), &ctx).await;
    assert!(!written.unwrap().is_error);
    assert!(folder.join("c").exists() && is_served(&folder));
    client.close().await;
    assert!(!is_served(&folder));
}

#[tokio::test]
async fn a_server_that_is_in_the_sandbox_already_is_the_one_that_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let spec = files(folder.path(), Setting::ReadOnly);
    let client = McpClient::connect(spec, ()).await.unwrap();
    let list = tool(&client, "list_directory").await;
    let input = json!({"path": folder.path()});
    let (sandbox, ctx) = (ProcessSandbox::workspace(), ToolContext::default());
    let called = sandbox.execute_tool(&*list, input.clone(), &ctx);
    assert!(!called.await.unwrap().is_error);
    client.close().await;
    let called = sandbox.execute_tool(&*list, input, &ctx).await;
    assert!(
        matches!(
            called,
            Err(SandboxError::Tool(ToolError::Unavailable { .. }))
        ),
        "{called:?}"
    );
}

#[tokio::test]
async fn the_tools_of_a_server_at_an_address_cannot_be_confined() {
    let server = Everything::start();
    let client = McpClient::connect_http(&server.url()).await.unwrap();
    let echo = tool(&client, "echo").await;
    let (sandbox, ctx) = (ProcessSandbox::workspace(), ToolContext::default());
    let refused = sandbox.execute_tool(&*echo, json!({"message": "hi"}), &ctx);
    let refused = refused.await.unwrap_err();
    assert!(
        matches!(&refused, SandboxError::NotConfinable { tool } if tool == "echo"),
        "{refused:?}"
    );
    client.close().await;
}

#[tokio::test]
async fn the_sandbox_of_an_agent_is_not_that_of_its_servers() {
    let client = McpClient::connect(everything(), ()).await.unwrap();
    let echo = tool(&client, "echo").await;
    assert!(echo.with_setting(&Setting::Workspace).is_none());
    client.close().await;
}
