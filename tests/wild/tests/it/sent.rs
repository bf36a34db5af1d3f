//! Schemas that servers would reject: what is sent, and who is notified.

use neuron_types::{CompletionRequest, FailureKind, Message, RequestHead, ToolDefinition};
use serde_json::{Value, json};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::method};

use crate::vendors::{VENDORS, Vendor, client};

fn tool(name: &str, input_schema: Value) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        input_schema,
        ..ToolDefinition::default()
    }
}

fn request(tools: Vec<ToolDefinition>) -> CompletionRequest {
    let head = RequestHead {
        tools,
        ..RequestHead::new("m")
    };
    CompletionRequest::new(head, vec![Message::user("hello")])
}

async fn server(answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(answer)
        .mount(&server)
        .await;
    server
}

/// The name and the schema of a tool as this API has them.
fn sent(vendor: Vendor, tool: &Value) -> (Value, Value) {
    let (tool, schema) = match vendor {
        Vendor::Chat | Vendor::Ollama => (&tool["function"], "parameters"),
        Vendor::Responses => (tool, "parameters"),
        Vendor::Anthropic => (tool, "input_schema"),
    };
    (tool["name"].clone(), tool[schema].clone())
}

#[tokio::test]
async fn a_schema_that_is_refused_is_adapted_and_one_that_cannot_be_is_left_out_by_name() {
    let either = json!({"oneOf": [
        {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
        {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    ]});
    let list = json!({"type": "array", "items": {}});
    let request = request(vec![
        tool("find", either),
        tool("odd", list),
        tool("now", json!({})),
    ]);
    for vendor in VENDORS {
        let answer = vendor.last_answer();
        let server = server(ResponseTemplate::new(200).set_body_json(answer)).await;
        let client = client(vendor, &server.uri());
        let answer = client.complete_dyn(&request).await.unwrap();
        let [left_out] = answer.left_out.as_slice() else {
            panic!("{vendor:?} {:?}", answer.left_out);
        };
        assert!(left_out.contains("\"odd\""), "{vendor:?} {left_out}");
        let body: Value = server.received_requests().await.unwrap()[0]
            .body_json()
            .unwrap();
        let tools = body["tools"].as_array().unwrap().iter();
        let tools: Vec<_> = tools.map(|tool| sent(vendor, tool)).collect();
        assert_eq!(tools.len(), 2, "{vendor:?}");
        let (name, schema) = &tools[0];
        assert_eq!(name, "find");
        assert_eq!(schema["type"], "object", "{vendor:?}");
        assert!(schema.get("oneOf").is_none(), "{vendor:?} {schema}");
        let properties = schema["properties"].as_object().unwrap();
        assert!(properties.contains_key("id") && properties.contains_key("name"));
        let (name, schema) = &tools[1];
        assert_eq!((name, &schema["type"]), (&json!("now"), &json!("object")));
    }
}

#[tokio::test]
async fn a_refusal_of_a_tool_by_its_place_names_it() {
    let schema = || json!({"type": "object", "properties": {}});
    let request = request(vec![tool("first", schema()), tool("second", schema())]);
    for vendor in VENDORS {
        for place in [
            "tools.1.custom.input_schema",
            "tools[1].function.parameters",
        ] {
            let said = json!({"error": {"message": format!("{place}: it does not support this")}});
            let server = server(ResponseTemplate::new(400).set_body_json(said)).await;
            let error = client(vendor, &server.uri()).complete_dyn(&request).await;
            let error = error.unwrap_err();
            assert_eq!(error.kind(), FailureKind::InvalidRequest);
            assert!(
                error.to_string().contains("the tool \"second\""),
                "{vendor:?} {error}"
            );
        }
    }
}
