//! The same over HTTP, and what happens when the server goes away.

use std::time::Instant;

use neuron_mcp::{McpClient, McpError};
use serde_json::json;

use crate::{
    everything::{offers_tools_resources_and_prompts, reports_progress_and_stops_when_told},
    programs::{DEADLINE, Everything, text, until},
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
    let start = Instant::now();
    let work = json!({"duration": 600, "steps": 6000});
    let call = client.call_tool_in("trigger-long-running-operation", work, &ctx);
    let kill = async {
        until("progress", || !recorder.reports().is_empty()).await;
        server.kill();
    };
    let (outcome, ()) = tokio::join!(call, kill);
    assert!(matches!(outcome, Err(McpError::Lost { .. })), "{outcome:?}");
    assert!(start.elapsed() < DEADLINE);

    // Nobody is there now, and that is said in bounded time.
    let start = Instant::now();
    let error = client.ping().await.unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    assert!(start.elapsed() < DEADLINE);
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
