//! Everything that the protocol's test server can do, over standard input and output.

use std::sync::{Arc, Mutex};

use neuron_mcp::{
    ElicitationAnswer, ElicitationForm, ElicitationRequest, McpClient, McpClientHandler, McpError,
    McpRoot, ResourceData, SamplingRequest,
};
use neuron_patience::patience;
use neuron_tool::ToolRegistry;
use neuron_types::{
    CompletionResponse, ContentItem, ImageSource, Message, ToolContext, ToolEffects, ToolError,
    WasmBoxedFuture,
};
use serde_json::{Map, json};
use tokio::time::timeout;

use crate::{
    programs::{Everything, everything, text, until},
    recorder,
};

/// The same on each transport.
pub(crate) async fn offers_tools_resources_and_prompts(client: &McpClient) {
    let info = client.server_info().await.unwrap();
    assert!(
        info.has_tools && info.has_resources && info.has_prompts,
        "{info:?}"
    );
    client.ping().await.unwrap();

    let tools = client.list_tools(None).await.unwrap();
    let echo = tools.items.iter().find(|tool| tool.name == "echo").unwrap();
    assert_eq!(echo.effects(), ToolEffects::ReadOnly);
    assert_eq!(echo.input_schema["required"], json!(["message"]));
    let output = client.call_tool("echo", json!({"message": "hi"})).await;
    assert_eq!(text(&output.unwrap()), "Echo: hi");

    let image = client.call_tool("get-tiny-image", json!({})).await.unwrap();
    assert!(image.content.iter().any(|item| matches!(
        item,
        ContentItem::Image { source: ImageSource::Base64 { media_type, data } }
            if media_type == "image/png" && data.len() > 100
    )));
    let weather = json!({"location": "New York"});
    let structured = client
        .call_tool("get-structured-content", weather)
        .await
        .unwrap();
    let content = structured.structured_content.unwrap();
    assert!(content["temperature"].is_number(), "{content}");

    let wrong = client.call_tool("echo", json!({})).await;
    match wrong {
        Ok(output) => assert!(output.is_error, "{output:?}"),
        Err(error) => assert!(
            matches!(error, McpError::Refused { code: -32602, .. }),
            "{error}"
        ),
    }
    let missing = client.call_tool("no-such-tool", json!({})).await;
    match missing {
        Ok(output) => assert!(output.is_error, "{output:?}"),
        Err(error) => assert!(matches!(error, McpError::Refused { .. }), "{error}"),
    }

    let page = client.list_resources(None).await.unwrap();
    let resource = &page.items[0];
    let read = client.read_resource(&resource.uri).await.unwrap();
    assert!(matches!(&read[0].data, ResourceData::Text(text) if !text.is_empty()));
    let templates = client.list_resource_templates(None).await.unwrap();
    assert!(!templates.items.is_empty());

    let prompts = client.list_prompts(None).await.unwrap();
    let prompt = prompts
        .items
        .iter()
        .find(|it| it.name == "args-prompt")
        .unwrap();
    assert!(
        prompt
            .arguments
            .iter()
            .any(|it| it.name == "city" && it.required)
    );
    let city = [("city".to_owned(), "Ulm".to_owned())];
    let filled = client.get_prompt("args-prompt", city).await.unwrap();
    assert!(filled.messages[0].text().contains("Ulm"), "{filled:?}");
}

/// The same on each transport.
pub(crate) async fn reports_progress_and_stops_when_told(client: &McpClient) {
    let (ctx, recorder) = recorder::context();
    let long = "trigger-long-running-operation";
    let work = json!({"duration": 0.5, "steps": 5});
    let done = client.call_tool_in(long, work, &ctx).await.unwrap();
    assert!(text(&done).contains("completed"), "{done:?}");
    // The last report and the result race with one another.
    let reports = recorder.reports();
    assert!(reports.len() >= 4, "{reports:?}");
    assert!(reports.contains(&(1.0, Some(5.0))), "{reports:?}");

    let (ctx, recorder) = recorder::context();
    let token = ctx.cancellation_token.clone();
    // Longer than any test waits for the end of the call.
    let work = json!({"duration": 3600, "steps": 36000});
    let call = client.call_tool_in(long, work, &ctx);
    let cancel = async {
        until("progress", || !recorder.reports().is_empty()).await;
        token.cancel();
    };
    let both = async { tokio::join!(call, cancel) };
    let (outcome, ()) = timeout(patience(), both).await.expect("the call ends");
    assert!(matches!(outcome, Err(McpError::Cancelled)), "{outcome:?}");
    client.ping().await.unwrap();
}

#[tokio::test]
async fn offers_tools_resources_and_prompts_over_pipes() {
    let client = McpClient::connect(everything(), ()).await.unwrap();
    offers_tools_resources_and_prompts(&client).await;
    client.close().await;
}

#[tokio::test]
async fn reports_progress_and_stops_when_told_over_pipes() {
    let client = McpClient::connect(everything(), ()).await.unwrap();
    reports_progress_and_stops_when_told(&client).await;
    client.close().await;
}

#[tokio::test]
async fn its_tools_are_tools_of_a_registry() {
    let client = McpClient::connect(everything(), ()).await.unwrap();
    let registry = ToolRegistry::from_iter(client.discover_tools().await.unwrap());
    let ctx = ToolContext::default();
    let sum = registry
        .execute("get-sum", json!({"a": 2, "b": 40}), &ctx)
        .await;
    assert!(text(&sum.unwrap()).contains("42"));
    client.close().await;
    let closed = registry
        .execute("get-sum", json!({"a": 2, "b": 40}), &ctx)
        .await;
    assert!(
        matches!(closed, Err(ToolError::Unavailable { .. })),
        "{closed:?}"
    );
}

/// Answers whatever is asked, and remembers it.
#[derive(Default)]
struct Person {
    asked: Mutex<Vec<String>>,
}

impl McpClientHandler for Person {
    fn offers_sampling(&self) -> bool {
        true
    }

    fn handle_sampling_request(
        &self,
        request: SamplingRequest,
    ) -> WasmBoxedFuture<'_, Result<CompletionResponse, McpError>> {
        Box::pin(async move {
            let prompt = request.request.messages[0].text();
            assert_eq!(request.server, "everything");
            assert_eq!(request.request.max_tokens, Some(100));
            self.asked.lock().unwrap().push(prompt);
            Ok(CompletionResponse {
                model: "test-model".into(),
                message: Message::assistant("a model's answer"),
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
        Box::pin(async move {
            let ElicitationForm::Fields(schema) = &request.form else {
                panic!("{request:?}")
            };
            assert_eq!(schema["properties"]["name"]["type"], "string");
            self.asked.lock().unwrap().push(request.message);
            let fields = Map::from_iter([("name".to_owned(), json!("Ada"))]);
            Ok(ElicitationAnswer::Accept(fields))
        })
    }

    fn roots(&self) -> Vec<McpRoot> {
        vec![McpRoot::folder(std::path::Path::new("/some/where"))]
    }
}

async fn asks_models_and_people(client: &McpClient, person: &Person) {
    // The server offers these tools when it has looked at what we offer.
    let args = json!({"prompt": "what is up?"});
    let sampled = client
        .call_tool("trigger-sampling-request", args)
        .await
        .unwrap();
    assert!(text(&sampled).contains("a model's answer"), "{sampled:?}");
    let elicited = client
        .call_tool("trigger-elicitation-request", json!({}))
        .await
        .unwrap();
    assert!(text(&elicited).contains("Ada"), "{elicited:?}");
    let roots = client.call_tool("get-roots-list", json!({})).await.unwrap();
    assert!(text(&roots).contains("file:///some/where"), "{roots:?}");
    let asked = person.asked.lock().unwrap();
    assert!(asked[0].contains("what is up?"), "{asked:?}");
    assert!(asked[1].contains("Please provide inputs"), "{asked:?}");
}

#[tokio::test]
async fn asks_models_and_people_over_pipes() {
    let person = Arc::new(Person::default());
    let client = McpClient::connect(everything(), person.clone())
        .await
        .unwrap();
    asks_models_and_people(&client, &person).await;
    client.close().await;
}

#[tokio::test]
async fn asks_models_and_people_over_http() {
    let server = Everything::start();
    let person = Arc::new(Person::default());
    let spec = neuron_mcp::McpServerSpec::http("everything", server.url());
    let client = McpClient::connect(spec, person.clone()).await.unwrap();
    asks_models_and_people(&client, &person).await;
    client.close().await;
}

#[tokio::test]
async fn who_offers_nothing_is_asked_nothing() {
    let client = McpClient::connect(everything(), ()).await.unwrap();
    let found = client.discover(Some("e")).await.unwrap();
    let names: Vec<_> = found.tools.iter().map(|tool| tool.own_name()).collect();
    assert!(names.contains(&"echo"), "{names:?}");
    assert!(!names.contains(&"trigger-sampling-request"), "{names:?}");
    assert!(!names.contains(&"trigger-elicitation-request"), "{names:?}");
    client.close().await;
}
