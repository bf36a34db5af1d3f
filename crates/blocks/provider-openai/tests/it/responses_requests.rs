use neuron_types::{
    ContentBlock, ContextEdit, ContextManagement, DocumentSource, FailureKind, Message, Provider,
    ReasoningEffort, ResponseFormat, Role, SystemPrompt, ThinkingConfig, ToolChoice,
};
use serde_json::{Value, json};

use crate::{
    conversations::{conversation, hello, media, message, now, parallel_calls, result, weather},
    fake_api::{FakeApi, responses_sent},
};

#[tokio::test]
async fn text_and_settings() {
    let request = hello().with_head(|head| {
        head.system = Some(SystemPrompt::Text("Be brief.".into()));
        head.max_tokens = Some(100);
        head.temperature = Some(0.2);
        head.top_p = Some(0.9);
        head.reasoning_effort = Some(ReasoningEffort::Max);
        head.response_format = Some(ResponseFormat::JsonSchema {
            name: "answer".into(),
            schema: json!({"type": "object"}),
            strict: true,
        });
        head.context_management = Some(ContextManagement {
            edits: vec![ContextEdit::compact("compaction")],
        });
        head.extra = Some(json!({"prompt_cache_key": "k"}));
    });
    insta::assert_json_snapshot!(responses_sent(&request).await);
}

#[tokio::test]
async fn parallel_results_and_an_error_result() {
    let request = conversation(parallel_calls()).with_head(|head| {
        head.tools = vec![weather(), now()];
        head.tool_choice = Some(ToolChoice::Specific { name: "now".into() });
    });
    insta::assert_json_snapshot!(responses_sent(&request).await);
}

#[tokio::test]
async fn pictures_and_documents() {
    let mut messages = media();
    messages.push(message(
        Role::User,
        vec![
            ContentBlock::Document {
                source: DocumentSource::Url {
                    url: "https://example.com/a.pdf".into(),
                },
            },
            ContentBlock::Other(json!({"type": "input_audio", "data": "x"})),
            ContentBlock::Other(json!({"type": "mcp_approval_response", "approve": true})),
        ],
    ));
    messages.push(message(
        Role::System,
        vec![ContentBlock::Text("Now in French.".into())],
    ));
    insta::assert_json_snapshot!(responses_sent(&conversation(messages)).await["input"]);
}

#[tokio::test]
async fn a_custom_call_is_answered_as_one() {
    let call = ContentBlock::ToolUse {
        own_id: None,
        id: "call_1".into(),
        name: "sql".into(),
        input: json!("select 1"),
        extra: Some(json!({"type": "custom_tool_call", "id": "ctc_1"})),
    };
    let request = conversation(vec![
        message(Role::Assistant, vec![call]),
        message(Role::User, vec![result("call_1", vec![], true)]),
    ]);
    assert_eq!(
        responses_sent(&request).await["input"],
        json!([
            {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "sql", "input": "select 1"},
            {"type": "custom_tool_call_output", "call_id": "call_1", "output": "error: the tool gave no reason"},
        ])
    );
}

#[tokio::test]
async fn extra_replaces_a_default_and_encrypted_reasoning_can_be_left_out() {
    let api = FakeApi::with_body(&json!({"output": []})).await;
    let client = api.responses().encrypted_reasoning(false).build().unwrap();
    let request = hello().with_head(|head| head.extra = Some(json!({"store": true})));
    client.complete(&request).await.unwrap();
    let sent = api.body_of(0).await;
    assert_eq!(sent["store"], true);
    assert_eq!(sent.get("include"), None::<&Value>);
}

#[tokio::test]
async fn what_cannot_be_said_is_refused_before_it_is_sent() {
    let refused = [
        hello().with_head(|head| head.stop_sequences = vec!["END".into()]),
        hello().with_head(|head| {
            head.thinking = Some(ThinkingConfig::Enabled {
                budget_tokens: 1024,
            });
        }),
        conversation(vec![Message::user("x")])
            .with_head(|head| head.extra = Some(json!({"background": true}))),
    ];
    let api = FakeApi::with_body(&json!({"output": []})).await;
    let client = api.responses().build().unwrap();
    for request in refused {
        let error = client.complete(&request).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::InvalidRequest, "{error}");
    }
    assert!(api.requests().await.is_empty());
}
