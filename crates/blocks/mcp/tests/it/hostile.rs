//! Broken and malicious servers cost a clear error, never the process.

use std::time::Duration;

use neuron_mcp::{McpClient, McpError};
use neuron_patience::patience;
use neuron_tool::{ToolRegistry, builtin::SchemaValidator};
use neuron_types::{ToolContext, ToolDyn as _};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::programs::{hostile, text};

/// Returns the error that calling `evil` ends with, and checks whether the server can be used afterwards.
async fn evil(mode: &str) -> McpError {
    let spec = hostile(mode).max_message_bytes(1024 * 1024);
    let client = McpClient::connect(spec, ()).await.unwrap();
    let call = timeout(patience(), client.call_tool("evil", json!({})));
    let error = call.await.expect("it ends").unwrap_err();
    let fine = client.call_tool("fine", json!({})).await.unwrap();
    assert_eq!(text(&fine), "fine", "{mode}");
    client.close().await;
    assert!(
        !error.to_string().chars().any(char::is_control),
        "{error:?}"
    );
    error
}

fn says(error: &McpError, what: &str) {
    assert!(matches!(error, McpError::Protocol { .. }), "{error:?}");
    assert!(error.to_string().contains(what), "{error}");
}

#[tokio::test]
async fn a_huge_result_is_an_error() {
    says(&evil("huge").await, "more than 1048576 bytes");
}

#[tokio::test]
async fn a_result_that_never_ends_is_an_error() {
    says(&evil("endless-line").await, "more than 1048576 bytes");
}

#[tokio::test]
async fn output_that_is_no_mcp_and_never_ends_is_an_error() {
    says(&evil("endless-noise").await, "that are no MCP");
}

#[tokio::test]
async fn notices_without_end_are_an_error() {
    says(&evil("endless-notices").await, "without answering anything");
}

#[tokio::test]
async fn answers_without_end_to_what_is_answered_are_an_error() {
    says(&evil("endless-answers").await, "without answering anything");
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_may_have_taken_effect_and_has_not_failed() {
    for (mode, why) in [
        ("invalid-json", "invalid JSON"),
        ("no-result", "neither a result nor an error"),
    ] {
        let spec = hostile(mode).max_message_bytes(1024 * 1024);
        let client = McpClient::connect(spec, ()).await.unwrap();
        let call = timeout(patience(), client.call_tool("evil", json!({})));
        let output = call.await.expect("it ends").unwrap();
        let said = text(&output);
        assert!(!output.is_error, "{mode}");
        assert!(said.contains("the answer cannot be read"), "{said}");
        assert!(said.contains("may have taken effect"), "{said}");
        assert!(said.contains(why), "{said}");
        assert!(said.contains("\"jsonrpc\""), "{said}");
        assert!(said.len() < 1000, "{said}");
        client.close().await;
    }
}

#[tokio::test]
async fn of_an_answer_of_another_shape_the_model_reads_what_there_is() {
    for (mode, what) in [
        ("wrong-shape", "not a list"),
        ("unknown-content", r#"{"data":1,"type":"hologram"}"#),
        ("invalid-utf8", "\u{fffd}\u{fffd}"),
    ] {
        let client = McpClient::connect(hostile(mode), ()).await.unwrap();
        let output = client.call_tool("evil", json!({})).await.unwrap();
        assert!(!output.is_error, "{mode}");
        assert_eq!(text(&output), what, "{mode}");
        client.close().await;
    }
}

#[tokio::test]
async fn a_refusal_is_shown_without_its_control_characters() {
    let error = evil("refuses").await;
    assert!(
        matches!(error, McpError::Refused { code: -32603, .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_server_that_dies_is_lost_with_its_last_words_and_is_started_again() {
    let error = evil("dies").await;
    assert!(matches!(error, McpError::Lost { .. }), "{error:?}");
    assert!(error.to_string().contains("the disk is on fire"), "{error}");
}

#[tokio::test]
async fn the_last_line_of_a_server_needs_no_end() {
    let client = McpClient::connect(hostile("last-line"), ()).await.unwrap();
    let call = timeout(patience(), client.call_tool("evil", json!({})));
    let output = call.await.expect("it ends").unwrap();
    assert_eq!(text(&output), "last");
    client.close().await;
    let error = evil("broken-last-line").await;
    assert!(matches!(error, McpError::Lost { .. }), "{error:?}");
}

#[tokio::test]
async fn an_answer_nested_without_end_is_read_with_its_depth_as_a_text() {
    let client = McpClient::connect(hostile("deep-json"), ()).await.unwrap();
    let call = timeout(patience(), client.call_tool("evil", json!({})));
    let output = call.await.expect("it ends").unwrap();
    let structured = output.structured_content.unwrap().to_string();
    assert!(serde_json::from_str::<Value>(&structured).is_ok());
    assert_eq!(structured.matches('[').count(), 100_000);
    client.close().await;
}

#[tokio::test]
async fn an_answer_that_never_comes_ends_with_the_attempt() {
    let client = McpClient::connect(hostile("silent"), ()).await.unwrap();
    let call = client.call_tool("evil", json!({}));
    let late = timeout(Duration::from_millis(100), call).await; // It never comes, however long it is.
    assert!(late.is_err());
    let fine = client.call_tool("fine", json!({})).await.unwrap();
    assert_eq!(text(&fine), "fine");
    client.close().await;
}

#[tokio::test]
async fn an_answer_to_a_request_that_was_not_made_ends_the_wait_and_is_not_taken() {
    let client = McpClient::connect(hostile("wrong-id"), ()).await.unwrap();
    let call = timeout(patience(), client.call_tool("evil", json!({})));
    let output = call.await.expect("the wait ends").unwrap();
    assert!(
        text(&output).contains("may have taken effect"),
        "{output:?}"
    );
    assert!(!output.is_error, "{output:?}");
    let fine = client.call_tool("fine", json!({})).await.unwrap();
    assert_eq!(text(&fine), "fine");
    client.close().await;
}

#[tokio::test]
async fn tools_with_evil_names_are_left_out() {
    let client = McpClient::connect(hostile("names"), ()).await.unwrap();
    let found = client.discover(Some("h")).await.unwrap();
    let names: Vec<_> = found.tools.iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["h__fine"]);
    assert_eq!(found.left_out.len(), 4, "{:?}", found.left_out);
    for tool in &found.left_out {
        assert!(!tool.name.chars().any(char::is_control), "{tool:?}");
        assert!(tool.name.chars().count() < 200, "{tool:?}");
    }
    let info = client.server_info().await.unwrap();
    assert!(!info.name.chars().any(char::is_control), "{info:?}");
    client.close().await;
}

#[tokio::test]
async fn schemas_that_blow_up_are_left_out_or_never_unrolled() {
    let client = McpClient::connect(hostile("schemas"), ()).await.unwrap();
    let found = client.discover(None).await.unwrap();
    let left_out: Vec<_> = found
        .left_out
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(left_out, ["deep", "big", "array"]);

    let mut registry = ToolRegistry::new();
    for tool in found.tools {
        registry.register_dyn(tool);
    }
    let validator = SchemaValidator::new(&registry);
    assert_eq!(validator.unchecked().count(), 0);
    registry.add_middleware(validator);
    for name in ["bomb", "self", "regex", "remote"] {
        let input = json!({"a": format!("{}!", "a".repeat(40))});
        let context = ToolContext::default();
        let call = timeout(patience(), registry.execute(name, input, &context));
        let output = call.await.expect("it ends");
        assert_eq!(text(&output.unwrap()), "fine", "{name}");
    }
    client.close().await;
}

#[tokio::test]
async fn of_lists_without_end_the_first_tools_are_kept_and_the_rest_is_named() {
    for (mode, what) in [
        ("many", "more than 1000 tools"),
        ("endless-pages", "more than 100 pages"),
        ("same-page", "leads to one that was read already"),
        ("large-pages", "more than 16777216 bytes"),
    ] {
        let client = McpClient::connect(hostile(mode), ()).await.unwrap();
        let found = client.discover(None).await.unwrap();
        assert!(!found.tools.is_empty(), "{mode}");
        let last = found.left_out.last().expect(mode);
        assert!(last.reason.contains(what), "{mode}: {last:?}");
        client.close().await;
    }
}

#[tokio::test]
async fn servers_that_do_not_begin_are_an_error() {
    let stillborn = McpClient::connect(hostile("stillborn"), ())
        .await
        .unwrap_err();
    assert!(
        stillborn
            .to_string()
            .contains("cannot find my configuration"),
        "{stillborn}"
    );
    let spec = hostile("mute").timeout(Duration::from_millis(100)); // It never says anything.
    let mute = McpClient::connect(spec, ()).await.unwrap_err();
    assert!(matches!(mute, McpError::Initialization { .. }), "{mute:?}");
    says(
        &McpClient::connect(hostile("babbler"), ())
            .await
            .unwrap_err(),
        "no MCP",
    );
    let nameless = McpClient::connect(hostile("nameless"), ()).await;
    let nameless = nameless.unwrap_err().to_string();
    let missing = "it says none of protocolVersion, capabilities and serverInfo";
    assert!(nameless.contains(missing), "{nameless}");
    assert!(!nameless.contains("Some("), "{nameless}");
    let missing = McpClient::connect_stdio("no-such-program", &[])
        .await
        .unwrap_err();
    assert!(missing.is_unavailable(), "{missing}");
    assert!(missing.to_string().contains("no-such-program"), "{missing}");
}

#[tokio::test]
async fn what_the_model_reads_of_it_is_one_clear_text() {
    let spec = hostile("huge").max_message_bytes(1024 * 1024);
    let client = McpClient::connect(spec, ()).await.unwrap();
    let registry = ToolRegistry::from_iter(client.discover_tools().await.unwrap());
    let output = registry
        .execute("evil", json!({}), &ToolContext::default())
        .await
        .unwrap();
    assert!(!output.is_error, "{output:?}");
    assert_eq!(
        text(&output),
        "The call was made and the server answered, but the answer cannot be read: it sent a message of more than \
         1048576 bytes. The call may have taken effect."
    );
    client.close().await;
}
