use std::time::Duration;

use neuron_provider_ollama::{KeepAlive, Think};
use neuron_types::{
    ContentBlock, ContentItem, ContextManagement, DocumentSource, FIND_TOOLS, FailureKind,
    ImageSource, Message, Provider, ReasoningEffort, RequestHead, ResponseFormat, Role,
    SystemPrompt, ThinkingConfig, ToolChoice, ToolDefinition,
};
use serde_json::{Value, json};

use crate::{
    conversations::{conversation, hello, message, parallel_calls, picture, result, weather},
    fake_api::{FakeApi, sent, sent_by},
};

const SECOND: Duration = Duration::from_secs(1); // Only sent to the server.

#[tokio::test]
async fn text_and_settings() {
    let request = hello().with_head(|head| {
        head.provider = Some("ignored".into());
        head.system = Some(SystemPrompt::Text("Be brief.".into()));
        head.max_tokens = Some(100);
        head.temperature = Some(0.5);
        head.top_p = Some(0.75);
        head.stop_sequences = vec!["END".into()];
        head.response_format = Some(ResponseFormat::JsonSchema {
            name: "answer".into(),
            schema: json!({"type": "object"}),
            strict: true,
        });
        head.extra = Some(json!({"logprobs": true, "options": {"seed": 1, "top_p": 0.5}}));
    });
    let body = sent_by(
        |builder| {
            builder
                .num_ctx(16_384)
                .keep_alive(KeepAlive::For(600 * SECOND))
                .think(Think::Off)
        },
        &request,
    )
    .await;
    insta::assert_json_snapshot!(body);
}

#[tokio::test]
async fn nothing_is_said_that_nobody_asked_for() {
    assert_eq!(
        sent(&hello()).await,
        json!({
            "model": "qwen3", "stream": false, "truncate": false, "shift": false,
            "messages": [{"role": "user", "content": "hello"}],
        })
    );
}

#[tokio::test]
async fn tools_that_a_provider_is_to_search_are_not_sent() {
    let finder = ToolDefinition {
        name: FIND_TOOLS.into(),
        ..weather()
    };
    let listed = hello().with_head(|head| head.tools = vec![finder, weather()]);
    let searched = ToolDefinition {
        name: "rare".into(),
        ..weather()
    };
    let request = listed
        .clone()
        .with_head(|head| head.searched_tools = vec![searched]);
    assert_eq!(sent(&request).await, sent(&listed).await);
}

#[tokio::test]
async fn parallel_results_and_an_error_result() {
    let request = conversation(parallel_calls()).with_head(|head| {
        head.tools = vec![weather()];
        head.tool_choice = Some(ToolChoice::Auto);
    });
    insta::assert_json_snapshot!(sent(&request).await);
}

#[tokio::test]
async fn pictures_documents_and_notes_of_the_operator() {
    let content = vec![
        ContentBlock::Text("What is this?".into()),
        ContentBlock::Image { source: picture() },
        ContentBlock::Document {
            source: DocumentSource::PlainText {
                data: "notes".into(),
            },
        },
    ];
    let shot = vec![
        ContentItem::Text("a screenshot".into()),
        ContentItem::Image { source: picture() },
    ];
    let request = conversation(vec![
        message(Role::User, content),
        message(
            Role::Assistant,
            vec![ContentBlock::tool_use("call_1", "shoot", json!({}))],
        ),
        message(Role::User, vec![result("call_1", shot, false)]),
        message(Role::System, vec![ContentBlock::Text("Be kind.".into())]),
    ]);
    insta::assert_json_snapshot!(sent(&request).await["messages"]);
}

#[tokio::test]
async fn arguments_are_always_an_object() {
    let call = |input| ContentBlock::tool_use("call_1", "n", input);
    let calls = vec![call(json!(null)), call(json!("{\"cut")), call(json!([1]))];
    let body = sent(&conversation(vec![message(Role::Assistant, calls)])).await;
    let arguments =
        |index: usize| body["messages"][0]["tool_calls"][index]["function"]["arguments"].clone();
    assert_eq!(arguments(0), json!({}));
    assert_eq!(arguments(1), json!({"arguments": "{\"cut"}));
    assert_eq!(arguments(2), json!({"arguments": [1]}));
}

#[tokio::test]
async fn a_stream_is_asked_for_as_such() {
    let api = FakeApi::with_body(&json!({"done": true})).await;
    drop(api.client().complete_stream(&hello()).await.unwrap());
    assert_eq!(api.chats().await[0]["stream"], true);
    let asked = &api.requests("/api/chat").await[0];
    assert_eq!(asked.headers["accept"], "application/x-ndjson");
}

#[tokio::test]
async fn thinking_is_told_as_asked() {
    let told = async |thinking, reasoning_effort| {
        let request = hello().with_head(|head| {
            head.thinking = thinking;
            head.reasoning_effort = reasoning_effort;
        });
        sent_by(|builder| builder.think(Think::High), &request).await["think"].clone()
    };
    let (off, on) = (
        Some(ThinkingConfig::Disabled),
        Some(ThinkingConfig::Adaptive),
    );
    assert_eq!(told(None, None).await, json!("high"));
    assert_eq!(told(off, None).await, json!(false));
    assert_eq!(told(off, Some(ReasoningEffort::None)).await, json!(false));
    assert_eq!(told(None, Some(ReasoningEffort::None)).await, json!(false));
    assert_eq!(told(on, None).await, json!(true));
    assert_eq!(told(on, Some(ReasoningEffort::Low)).await, json!("low"));
    assert_eq!(
        told(None, Some(ReasoningEffort::Medium)).await,
        json!("medium")
    );
    assert_eq!(told(None, Some(ReasoningEffort::Max)).await, json!("max"));
}

#[tokio::test]
async fn no_tool_choice_leaves_out_the_tools() {
    let request = hello().with_head(|head| {
        head.tools = vec![weather()];
        head.tool_choice = Some(ToolChoice::None);
    });
    assert_eq!(sent(&request).await["tools"], Value::Null);
}

#[tokio::test]
async fn how_long_a_model_stays_is_said_in_seconds() {
    let told = async |keep_alive| {
        sent_by(|builder| builder.keep_alive(keep_alive), &hello()).await["keep_alive"].clone()
    };
    assert_eq!(told(KeepAlive::For(Duration::ZERO)).await, json!(0));
    assert_eq!(told(KeepAlive::For(SECOND * 3 / 2)).await, json!(1.5));
    assert_eq!(told(KeepAlive::Forever).await, json!(-1));
}

#[tokio::test]
async fn extra_fields_replace_what_would_be_sent() {
    let request = hello().with_head(|head| { head.response_format = Some(ResponseFormat::JsonObject); head.extra = Some(
            json!({"truncate": true, "think": "low", "keep_alive": "1m", "options": {"num_ctx": 1}}),
        ); });
    let body = sent_by(|builder| builder.num_ctx(8192).think(Think::Off), &request).await;
    assert_eq!(body["truncate"], true);
    assert_eq!(body["think"], "low");
    assert_eq!(body["keep_alive"], "1m");
    assert_eq!(body["options"], json!({"num_ctx": 1}));
    assert_eq!(body["format"], "json");
}

#[tokio::test]
async fn what_cannot_be_said_is_refused_before_anything_is_sent() {
    let picture_at = |url: &str| {
        message(
            Role::User,
            vec![ContentBlock::Image {
                source: ImageSource::Url { url: url.into() },
            }],
        )
    };
    let pdf = ContentBlock::Document {
        source: DocumentSource::Base64Pdf {
            data: "JVBERi0=".into(),
        },
    };
    let with = |change: fn(&mut RequestHead)| hello().with_head(change);
    let specific = |head: &mut RequestHead| {
        head.tool_choice = Some(ToolChoice::Specific { name: "n".into() });
    };
    let api = FakeApi::with_body(&json!({"done": true})).await;
    for (request, word) in [
        (
            with(|head| head.tool_choice = Some(ToolChoice::Required)),
            "tool_choice",
        ),
        (with(specific), "tool_choice"),
        (
            with(|head| head.parallel_tool_calls = Some(false)),
            "parallel_tool_calls",
        ),
        (
            with(|head| head.context_management = Some(ContextManagement::default())),
            "context_management",
        ),
        (
            with(|head| head.thinking = Some(ThinkingConfig::Enabled { budget_tokens: 9 })),
            "budget",
        ),
        (
            with(|head| head.thinking = Some(ThinkingConfig::BetweenTools)),
            "when to think",
        ),
        (
            with(|head| head.reasoning_effort = Some(ReasoningEffort::Minimal)),
            "efforts",
        ),
        (
            with(|head| head.reasoning_effort = Some(ReasoningEffort::XHigh)),
            "efforts",
        ),
        (
            with(|head| {
                head.thinking = Some(ThinkingConfig::Disabled);
                head.reasoning_effort = Some(ReasoningEffort::Low);
            }),
            "exclude",
        ),
        (
            with(|head| {
                head.thinking = Some(ThinkingConfig::Adaptive);
                head.reasoning_effort = Some(ReasoningEffort::None);
            }),
            "exclude",
        ),
        (
            with(|head| head.extra = Some(json!({"messages": []}))),
            "messages",
        ),
        (
            with(|head| head.extra = Some(json!({"options": 1}))),
            "options",
        ),
        (
            conversation(vec![picture_at("https://example.com/a.png")]),
            "address",
        ),
        (
            conversation(vec![message(Role::User, vec![pdf])]),
            "plain text",
        ),
    ] {
        let client = api.client();
        let whole = client.complete(&request).await.unwrap_err();
        let stream = client.complete_stream(&request).await.unwrap_err();
        assert_eq!(whole.kind(), FailureKind::InvalidRequest);
        assert!(whole.to_string().contains(word), "{word}: {whole}");
        assert_eq!(whole.to_string(), stream.to_string());
    }
    assert!(api.chats().await.is_empty());
}

#[tokio::test]
async fn the_same_conversation_is_the_same_bytes() {
    let request = conversation(parallel_calls()).with_head(|head| head.tools = vec![weather()]);
    let mut longer = request.clone();
    longer.messages.push(Message::user("And now?"));
    let api = FakeApi::with_body(&json!({"message": {}})).await;
    let client = api.client();
    for request in [&request, &request, &longer] {
        client.complete(request).await.unwrap();
    }
    let bodies: Vec<_> = api.requests("/api/chat").await;
    assert_eq!(bodies[0].body, bodies[1].body);
    let common = bodies[0].body.len() - "]}".len();
    assert_eq!(bodies[2].body[..common], bodies[0].body[..common]);
}
