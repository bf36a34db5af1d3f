//! No process is left behind.

use std::fs;

use neuron_mcp::{McpClient, McpServerSpec, McpTransport};

use crate::programs::{hostile, is_running, until};

/// A server that ignores the end of its input and SIGTERM, and has a child that does so too.
pub(crate) fn stubborn(file: &std::path::Path) -> McpServerSpec {
    with_file(hostile("stubborn"), file)
}

/// The same, with a file in its arguments as well.
pub(crate) fn with_file(mut spec: McpServerSpec, file: &std::path::Path) -> McpServerSpec {
    if let McpTransport::Stdio { args, .. } = &mut spec.transport {
        args.push(file.to_str().unwrap().to_owned());
    }
    spec
}

fn processes(file: &std::path::Path) -> Vec<u32> {
    let ids = fs::read_to_string(file).unwrap();
    let ids: Vec<u32> = ids.split(' ').map(|id| id.parse().unwrap()).collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.iter().all(|id| is_running(*id)));
    ids
}

#[tokio::test]
async fn closing_ends_a_stubborn_server_and_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids");
    let client = McpClient::connect(stubborn(&file), ()).await.unwrap();
    let ids = processes(&file);
    client.close().await;
    assert!(!ids.iter().any(|id| is_running(*id)));
}

#[tokio::test]
async fn dropping_ends_it_in_the_background() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids");
    let client = McpClient::connect(stubborn(&file), ()).await.unwrap();
    let ids = processes(&file);
    drop(client);
    until("the end of the server", || {
        !ids.iter().any(|id| is_running(*id))
    })
    .await;
}

#[test]
fn the_end_of_the_runtime_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let client = runtime
        .block_on(McpClient::connect(stubborn(&file), ()))
        .unwrap();
    let ids = processes(&file);
    runtime.shutdown_background();
    drop(client);
    let other = tokio::runtime::Runtime::new().unwrap();
    other.block_on(until("the end of the server", || {
        !ids.iter().any(|id| is_running(*id))
    }));
}
