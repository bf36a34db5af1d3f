//! Servers are said which run a call is of, where they are to know.

use neuron_mcp::{McpClient, McpServerSpec};
use neuron_types::{RunTags, ToolContext};
use serde_json::{Value, json};

use crate::programs::{hostile, text};

/// Returns what a server is said beside the arguments of a call.
async fn meta(spec: McpServerSpec, ctx: &ToolContext) -> Value {
    let client = McpClient::connect(spec, ()).await.unwrap();
    let output = client.call_tool_in("fine", json!({}), ctx).await.unwrap();
    client.close().await;
    let mut meta: Value = serde_json::from_str(&text(&output)).unwrap();
    let ours = meta.as_object_mut().unwrap();
    ours.retain(|key, _| key.starts_with("neuron/"));
    meta
}

fn of_a_child() -> ToolContext {
    ToolContext {
        run_id: "r1.1-1".to_owned(),
        root: "r1".to_owned(),
        tags: RunTags {
            tenant: Some("acme".to_owned()),
            owner: Some("ada".to_owned()),
            labels: [("team".to_owned(), "a".to_owned())].into(),
        },
        ..ToolContext::default()
    }
}

#[tokio::test]
async fn a_program_learns_which_run_a_call_is_of_and_whose() {
    assert_eq!(
        meta(hostile("meta"), &of_a_child()).await,
        json!({
            "neuron/run": "r1.1-1",
            "neuron/root": "r1",
            "neuron/tenant": "acme",
            "neuron/owner": "ada",
            "neuron/labels": {"team": "a"},
        })
    );
}

#[tokio::test]
async fn a_server_for_which_it_is_switched_off_learns_nothing() {
    let spec = hostile("meta").tags(false);
    assert_eq!(meta(spec, &of_a_child()).await, json!({}));
}

#[tokio::test]
async fn outside_a_run_nothing_is_said() {
    assert_eq!(
        meta(hostile("meta"), &ToolContext::default()).await,
        json!({})
    );
}

#[test]
fn a_server_at_an_address_learns_nothing_unless_it_is_switched_on() {
    let remote = || McpServerSpec::http("remote", "https://mcp.example.com");
    assert!(!remote().sends_tags());
    assert!(remote().tags(true).sends_tags());
    assert!(hostile("meta").sends_tags());
}
