//! The same over HTTP, and what happens when the server goes away.

use neuron_mcp::{McpClient, McpError};
use neuron_patience::patience;
use serde_json::json;
use tokio::time::timeout;

use crate::{
    everything::{offers_tools_resources_and_prompts, reports_progress_and_stops_when_told},
    programs::{Everything, text, until},
    recorder,
};

#[tokio::test]
async fn offers_tools_resources_and_prompts_over_http() {
    let server = Everything::start();
    let client = McpClient::connect_http(&server.url()).await.unwrap();
    offers_tools_resources_and_prompts(&client).await;
    client.close().await;
}

#[tokio::test]
async fn reports_progress_and_stops_when_told_over_http() {
    let server = Everything::start();
    let client = McpClient::connect_http(&server.url()).await.unwrap();
    reports_progress_and_stops_when_told(&client).await;
    client.close().await;
}

#[tokio::test]
async fn a_server_that_was_started_anew_is_initialised_anew() {
    let mut server = Everything::start();
    let client = McpClient::connect_http(&server.url()).await.unwrap();
    client.ping().await.unwrap();
    server.start_again();
    let output = client.call_tool("echo", json!({"message": "again"})).await;
    assert_eq!(text(&output.unwrap()), "Echo: again");
    client.close().await;
}

#[tokio::test]
async fn a_call_that_the_server_takes_with_it_is_lost_and_not_repeated() {
    let mut server = Everything::start();
    let client = McpClient::connect_http(&server.url()).await.unwrap();
    let (ctx, recorder) = recorder::context();
    // Longer than any test waits for the end of the call.
    let work = json!({"duration": 3600, "steps": 36000});
    let call = client.call_tool_in("trigger-long-running-operation", work, &ctx);
    let kill = async {
        until("progress", || !recorder.reports().is_empty()).await;
        server.kill();
    };
    let both = async { tokio::join!(call, kill) };
    let (outcome, ()) = timeout(patience(), both).await.expect("the call ends");
    assert!(matches!(outcome, Err(McpError::Lost { .. })), "{outcome:?}");

    // No server is there now, and that is reported.
    let ping = timeout(patience(), client.ping()).await;
    let error = ping.expect("an answer").unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    assert!(!error.to_string().contains(&server.url()), "{error}");

    server.start_again();
    client.ping().await.unwrap();
    client.close().await;
}

#[tokio::test]
async fn an_address_where_nobody_is_or_somebody_else_is_an_error() {
    let nobody = McpClient::connect_http("http://127.0.0.1:9/mcp?key=secret")
        .await
        .unwrap_err();
    assert!(nobody.is_unavailable(), "{nobody}");
    assert!(!nobody.to_string().contains("secret"), "{nobody}");

    let server = Everything::start();
    let elsewhere = server.url().replace("/mcp", "/elsewhere");
    let error = McpClient::connect_http(&elsewhere).await.unwrap_err();
    assert!(error.is_unavailable(), "{error}");
}
