//! Servers of a process.

use std::sync::Arc;

use neuron_mcp::McpServers;
use neuron_types::ToolContext;
use serde_json::json;

use crate::programs::{everything, filesystem, hostile, text};

#[tokio::test]
async fn share_one_process_and_prefix_their_tools() {
    let folder = tempfile::tempdir().unwrap();
    let specs = [everything(), filesystem(folder.path())];
    let servers = McpServers::start(specs, Arc::new(())).await.unwrap();
    assert!(servers.names().eq(["everything", "files"]));
    let echo = servers.tool("everything__echo").unwrap();
    let ctx = ToolContext::default();
    let output = echo.call_dyn(json!({"message": "hi"}), &ctx).await.unwrap();
    assert_eq!(text(&output), "Echo: hi");
    assert!(servers.tool("echo").is_none());
    assert!(
        servers
            .definitions("files")
            .iter()
            .all(|tool| tool.name.starts_with("files__"))
    );
    servers.stop().await;
    assert!(echo.call_dyn(json!({"message": "hi"}), &ctx).await.is_err());
}

#[tokio::test]
async fn one_that_cannot_be_started_keeps_all_from_starting() {
    let specs = [everything(), hostile("stillborn")];
    let error = McpServers::start(specs, Arc::new(())).await.unwrap_err();
    assert!(
        error.to_string().contains("the MCP server hostile"),
        "{error}"
    );
}

#[tokio::test]
async fn one_that_died_is_back_for_the_next_call() {
    let servers = McpServers::start([hostile("dies")], Arc::new(()))
        .await
        .unwrap();
    let ctx = ToolContext::default();
    let evil = servers.tool("hostile__evil").unwrap();
    assert!(evil.call_dyn(json!({}), &ctx).await.is_err());
    let fine = servers.tool("hostile__fine").unwrap();
    assert_eq!(fine.name(), "hostile__fine");
    assert_eq!(text(&fine.call_dyn(json!({}), &ctx).await.unwrap()), "fine");
    servers.stop().await;
}
