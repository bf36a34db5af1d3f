//! The protocol's file server, over pipes and, behind our own server, over HTTP.

use std::{fs, path::Path};

use neuron_mcp::{McpClient, McpServer};
use neuron_tool::ToolRegistry;
use neuron_types::ToolEffects;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::programs::{filesystem, text};

async fn reads_and_writes(client: &McpClient, folder: &Path, file: &str) {
    let path = folder.join(file);
    let path = path.to_str().unwrap();
    let args = json!({"path": path, "content": "first\nsecond\n"});
    let written = client.call_tool("write_file", args).await.unwrap();
    assert!(!written.is_error, "{written:?}");
    assert_eq!(fs::read_to_string(path).unwrap(), "first\nsecond\n");
    let read = client
        .call_tool("read_text_file", json!({"path": path, "head": 1}))
        .await
        .unwrap();
    assert_eq!(text(&read), "first");
    let outside = client
        .call_tool("read_text_file", json!({"path": "/etc/passwd"}))
        .await
        .unwrap();
    assert!(outside.is_error, "{outside:?}");
    assert!(text(&outside).contains("denied"), "{outside:?}");
}

#[tokio::test]
async fn reads_and_writes_files_over_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let client = McpClient::connect(filesystem(folder.path()), ())
        .await
        .unwrap();
    let found = client.discover(Some("files")).await.unwrap();
    let effects = |name: &str| {
        let tools = found.tools.iter();
        let mut tools = tools.map(|tool| neuron_types::ToolDyn::definition(tool.as_ref()));
        tools.find(|tool| tool.name == name).unwrap().effects()
    };
    assert_eq!(effects("files__read_text_file"), ToolEffects::ReadOnly);
    assert_eq!(effects("files__move_file"), ToolEffects::Write);
    reads_and_writes(&client, folder.path(), "a.txt").await;
    client.close().await;
}

#[tokio::test]
async fn reads_and_writes_files_over_http_behind_our_own_server() {
    let folder = tempfile::tempdir().unwrap();
    let behind = McpClient::connect(filesystem(folder.path()), ())
        .await
        .unwrap();
    let registry = ToolRegistry::from_iter(behind.discover_tools().await.unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let stop = CancellationToken::new();
    let served = McpServer::new(registry);
    let serving = tokio::spawn({
        let stop = stop.clone();
        async move { served.serve_listener(listener, stop).await }
    });

    let client = McpClient::connect_http(&url).await.unwrap();
    let names = |list: Vec<neuron_types::ToolDefinition>| -> Vec<String> {
        list.into_iter().map(|tool| tool.name).collect()
    };
    let mut ours = names(client.list_tools(None).await.unwrap().items);
    let mut theirs = names(behind.list_tools(None).await.unwrap().items);
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs);
    reads_and_writes(&client, folder.path(), "b.txt").await;

    client.close().await;
    stop.cancel();
    serving.await.unwrap().unwrap();
    behind.close().await;
}
