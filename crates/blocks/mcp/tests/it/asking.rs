//! A server of the version of 2026-07-28 asks before it answers; one that is older is recognised.

use std::collections::BTreeMap;

use neuron_harness::ASKING_SERVER;
use neuron_mcp::{
    ElicitationAnswer, ElicitationRequest, McpClient, McpClientHandler, McpError, McpRoot,
    McpServerSpec, ResourceData, SamplingRequest,
};
use neuron_tool::ToolRegistry;
use neuron_types::{
    CompletionResponse, FormRequest, Message, Pending, Resumed, ToolContext, ToolOutput,
    WasmBoxedFuture,
};
use serde_json::{Map, Value, json};

use crate::programs::text;

/// Offers everything, and is called Ada.
struct Ada;

impl McpClientHandler for Ada {
    fn offers_sampling(&self) -> bool {
        true
    }

    fn handle_sampling_request(
        &self,
        _: SamplingRequest,
    ) -> WasmBoxedFuture<'_, Result<CompletionResponse, McpError>> {
        Box::pin(async {
            Ok(CompletionResponse {
                model: "test-model".into(),
                message: Message::assistant("Not much."),
                ..CompletionResponse::default()
            })
        })
    }

    fn offers_elicitation(&self) -> bool {
        true
    }

    fn handle_elicitation_request(
        &self,
        request: ElicitationRequest,
    ) -> WasmBoxedFuture<'_, Result<ElicitationAnswer, McpError>> {
        assert_eq!(request.message, "Your [31mname?");
        let fields = Map::from_iter([("name".to_owned(), json!("Ada"))]);
        Box::pin(async { Ok(ElicitationAnswer::Accept(fields)) })
    }

    fn roots(&self) -> Vec<McpRoot> {
        vec![McpRoot::folder("/srv/a".as_ref())]
    }
}

async fn connect(mode: &str) -> McpClient {
    let spec = McpServerSpec::stdio("asking", "node", [ASKING_SERVER, mode]);
    McpClient::connect(spec, Ada).await.unwrap()
}

/// Returns what a server sent back as JSON in its one text.
fn json_of(output: &ToolOutput) -> Value {
    assert!(output.pending.is_none(), "{output:?}");
    serde_json::from_str(&text(output)).unwrap()
}

#[track_caller]
fn form_of(output: ToolOutput) -> (Vec<FormRequest>, Option<Value>) {
    match output.pending {
        Some(Pending::Form { requests, state }) => (requests, state),
        other => panic!("{other:?}"),
    }
}

fn answered(state: Option<Value>, answers: &[(&str, Value)]) -> ToolContext {
    let answers = answers
        .iter()
        .map(|(key, answer)| ((*key).to_owned(), answer.clone()));
    let resumed = Resumed {
        answers: answers.collect(),
        state,
        ..Resumed::default()
    };
    ToolContext {
        resumed: Some(resumed),
        ..ToolContext::default()
    }
}

#[tokio::test]
async fn a_call_goes_on_with_each_form_that_is_filled_in() {
    let client = connect("newer").await;
    let info = client.server_info().await.unwrap();
    assert_eq!(info.protocol_version, "2026-07-28");
    client.ping().await.unwrap();

    let (requests, state) = form_of(client.call_tool("twice", json!({})).await.unwrap());
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].key, "name");
    assert_eq!(requests[0].message, "Your [31mname?");
    let schema = requests[0].schema.as_ref().unwrap();
    assert_eq!(schema["required"], json!(["name"]));

    // Another process may be the one that continues.
    client.close().await;
    let client = connect("newer").await;
    let registry = ToolRegistry::from_iter(client.discover_tools().await.unwrap());
    let ctx = answered(state, &[("name", json!({"name": "Ada"}))]);
    let output = registry.execute("twice", json!({}), &ctx).await.unwrap();
    let (requests, state) = form_of(output);
    assert_eq!(requests[0].key, "age");
    let ctx = answered(state, &[("age", json!({"age": 36}))]);
    let output = registry.execute("twice", json!({}), &ctx).await.unwrap();
    assert_eq!(
        json_of(&output),
        json!([
            {"name": {"action": "accept", "content": {"name": "Ada"}}},
            {"age": {"action": "accept", "content": {"age": 36}}},
        ])
    );
    client.close().await;
}

#[tokio::test]
async fn a_person_may_decline_cancel_or_visit_a_page() {
    let client = connect("newer").await;
    let (requests, state) = form_of(client.call_tool("page", json!({})).await.unwrap());
    assert_eq!(requests[0].url.as_deref(), Some("https://example.com/in"));
    assert!(requests[0].schema.is_none());
    let declined = Resumed {
        answers: BTreeMap::new(),
        declined: true,
        state: state.clone(),
    };
    let declined = ToolContext {
        resumed: Some(declined),
        ..ToolContext::default()
    };
    for (ctx, action) in [
        (answered(state.clone(), &[("page", json!(true))]), "accept"),
        (answered(state.clone(), &[("page", Value::Null)]), "decline"),
        (declined, "decline"),
        (answered(state, &[]), "cancel"),
    ] {
        let output = client.call_tool_in("page", json!({}), &ctx).await.unwrap();
        assert_eq!(json_of(&output), json!({"page": {"action": action}}));
    }
    client.close().await;
}

#[tokio::test]
async fn a_model_and_the_folders_are_answered_within_the_call() {
    let client = connect("newer").await;
    let answers = json_of(&client.call_tool("nobody", json!({})).await.unwrap());
    assert_eq!(answers["model"]["content"]["text"], "Not much.");
    assert_eq!(answers["folders"]["roots"][0]["uri"], "file:///srv/a");

    let (requests, state) = form_of(client.call_tool("mixed", json!({})).await.unwrap());
    assert_eq!(requests.len(), 1);
    let ctx = answered(state, &[("name", json!({"name": "Ada"}))]);
    let output = client.call_tool_in("mixed", json!({}), &ctx).await.unwrap();
    let answers = json_of(&output);
    assert_eq!(answers["model"]["content"]["text"], "Not much.");
    assert_eq!(answers["name"]["content"]["name"], "Ada");

    let output = client.call_tool("again", json!({})).await.unwrap();
    assert_eq!(json_of(&output), json!({"state": "3"}));

    // No ticket can be opened for a resource: the handler is asked.
    let read = client.read_resource("demo://1").await.unwrap();
    assert!(
        matches!(&read[0].data, ResourceData::Text(text) if text.contains("Ada")),
        "{read:?}"
    );
    client.close().await;
}

#[tokio::test]
async fn a_server_that_asks_too_much_is_an_error() {
    let client = connect("newer").await;
    for (tool, what) in [
        ("restless", "asked 20 times"),
        ("garbage", "no result of a tool"),
        ("shapeless", "no result of a tool"),
        ("many", "more than 32 things"),
        ("hoard", "more than 65536 bytes handed back"),
        ("script", "no address of the web"),
    ] {
        let error = client.call_tool(tool, json!({})).await.unwrap_err();
        assert!(matches!(error, McpError::Protocol { .. }), "{error:?}");
        assert!(error.to_string().contains(what), "{error}");
    }
    // Tickets do not make it longer.
    let mut ctx = ToolContext::default();
    let mut forms = 0;
    let error = loop {
        match client.call_tool_in("forever", json!({}), &ctx).await {
            Ok(output) => {
                forms += 1;
                ctx = answered(form_of(output).1, &[]);
            }
            Err(error) => break error,
        }
    };
    assert_eq!(forms, 20);
    assert!(error.to_string().contains("asked 20 times"), "{error}");

    let foreign = answered(Some(json!({"a": 1})), &[]);
    let error = client.call_tool_in("twice", json!({}), &foreign).await;
    assert!(matches!(error, Err(McpError::Handler(_))), "{error:?}");
    client.close().await;
}

#[tokio::test]
async fn a_server_asks_for_nothing_that_it_was_not_offered() {
    let spec = McpServerSpec::stdio("asking", "node", [ASKING_SERVER, "newer"]);
    let client = McpClient::connect(spec, ()).await.unwrap();
    for (tool, what) in [("twice", "a person"), ("nobody", "a model")] {
        let error = client.call_tool(tool, json!({})).await.unwrap_err();
        assert!(matches!(error, McpError::Protocol { .. }), "{error:?}");
        assert!(error.to_string().contains(what), "{error}");
    }
    client.close().await;
}

#[tokio::test]
async fn an_older_server_costs_one_question_more() {
    for mode in ["older", "knows"] {
        let client = connect(mode).await;
        let info = client.server_info().await.unwrap();
        assert_eq!(info.protocol_version, "2025-11-25", "{mode}");
        let seen = json_of(&client.call_tool("seen", json!({})).await.unwrap());
        let expected = json!(["server/discover", "initialize", "tools/call"]);
        assert_eq!(seen, expected, "{mode}");
        client.close().await;
    }
}

#[tokio::test]
async fn an_older_server_that_ends_at_the_newer_question_is_started_again() {
    let client = connect("ends").await;
    let seen = json_of(&client.call_tool("seen", json!({})).await.unwrap());
    assert_eq!(seen, json!(["initialize", "tools/call"]));
    client.close().await;
}
