use neuron_provider_openai::{ChatSettings, OpenAiBuilder, SystemRole, TokenLimitField};
use neuron_types::{
    ContentBlock, ContentItem, ContextManagement, DocumentSource, FailureKind, Message, Provider,
    ReasoningEffort, ResponseFormat, Role, SystemBlock, SystemPrompt, ThinkingConfig, ToolChoice,
};
use serde_json::{Value, json};

use crate::{
    conversations::{conversation, hello, media, message, now, parallel_calls, result, weather},
    fake_api::{FakeApi, chat_answer, chat_sent, chat_sent_by},
};

#[tokio::test]
async fn text_and_settings() {
    let request = hello().with_head(|head| {
        head.provider = Some("ignored".into());
        head.system = Some(SystemPrompt::Text("Be brief.".into()));
        head.max_tokens = Some(100);
        head.temperature = Some(0.2);
        head.top_p = Some(0.9);
        head.stop_sequences = vec!["END".into()];
        head.reasoning_effort = Some(ReasoningEffort::XHigh);
        head.extra = Some(json!({"seed": 7, "parallel_tool_calls": false}));
    });
    insta::assert_json_snapshot!(chat_sent(&request).await);
}

#[tokio::test]
async fn parallel_results_and_an_error_result() {
    let request = conversation(parallel_calls()).with_head(|head| {
        head.tools = vec![weather(), now()];
        head.tool_choice = Some(ToolChoice::Auto);
    });
    insta::assert_json_snapshot!(chat_sent(&request).await);
}

#[tokio::test]
async fn pictures_of_results_follow_in_a_user_message() {
    let request = conversation(media());
    insta::assert_json_snapshot!(chat_sent(&request).await["messages"]);
}

#[tokio::test]
async fn the_dialect_of_openai_itself_can_be_asked_for() {
    let request = conversation(vec![
        Message::user("hello"),
        message(
            Role::System,
            vec![ContentBlock::Text("Now in French.".into())],
        ),
    ])
    .with_head(|head| {
        head.system = Some(SystemPrompt::Blocks(vec![
            SystemBlock {
                text: "One.".into(),
                cache_control: None,
            },
            SystemBlock {
                text: "Two.".into(),
                cache_control: None,
            },
        ]));
        head.max_tokens = Some(100);
    });
    let build = |builder: OpenAiBuilder<ChatSettings>| {
        builder
            .system_role(SystemRole::Developer)
            .token_limit_field(TokenLimitField::MaxCompletionTokens)
    };
    assert_eq!(
        chat_sent_by(build, &request).await,
        json!({
            "model": "gpt-6.1-terra",
            "max_completion_tokens": 100,
            "messages": [
                {"role": "developer", "content": "One.\nTwo."},
                {"role": "user", "content": "hello"},
                {"role": "developer", "content": "Now in French."},
            ],
        })
    );
}

#[tokio::test]
async fn reasoning_goes_back_where_the_server_wants_it() {
    let request = conversation(parallel_calls());
    let sent = chat_sent_by(
        |builder| builder.reasoning_field("reasoning_content"),
        &request,
    )
    .await;
    assert_eq!(sent["messages"][1]["reasoning_content"], "two calls");
}

/// Kimi and DeepSeek reject a call whose reasoning does not come back, and old servers of DeepSeek any other.
#[tokio::test]
async fn reasoning_goes_back_beside_calls_in_the_field_that_it_came_in() {
    let thought = |field: Option<&str>| ContentBlock::Thinking {
        thinking: "hm".into(),
        signature: None,
        field: field.map(str::to_owned),
    };
    let call = ContentBlock::tool_use("call_1", "get_weather", json!({}));
    let text = ContentBlock::Text("Hi.".into());
    let sent = async |field: Option<&str>, last: &ContentBlock, setting: Option<&str>| {
        let answer = message(Role::Assistant, vec![thought(field), last.clone()]);
        let request = conversation(vec![Message::user("?"), answer]);
        let build = |builder: OpenAiBuilder<ChatSettings>| match setting {
            Some(name) => builder.reasoning_field(name),
            None => builder,
        };
        let sent = chat_sent_by(build, &request).await;
        sent["messages"][1].get("reasoning_content").cloned()
    };
    let came = Some("reasoning_content");
    assert_eq!(sent(came, &call, None).await, Some(json!("hm")));
    assert_eq!(sent(came, &text, None).await, None);
    assert_eq!(sent(None, &call, None).await, None);
    assert_eq!(sent(came, &call, Some("")).await, None);
    assert_eq!(sent(None, &text, came).await, Some(json!("hm")));
}

#[tokio::test]
async fn a_refusal_for_want_of_reasoning_names_the_setting() {
    let body = json!({"error": {"message": "thinking is enabled but reasoning_content is missing in message 2"}});
    let template = wiremock::ResponseTemplate::new(400).set_body_json(body);
    let api = FakeApi::answering(template).await;
    let error = api.chat().build().unwrap().complete(&hello()).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("set `reasoning_field`"), "{error}");
}

#[tokio::test]
async fn a_schema_goes_into_the_response_format() {
    let told = async |format| {
        let request = hello().with_head(|head| head.response_format = Some(format));
        chat_sent(&request).await["response_format"].clone()
    };
    let schema = ResponseFormat::JsonSchema {
        name: "answer".into(),
        schema: json!({"type": "object"}),
        strict: true,
    };
    assert_eq!(
        told(schema).await,
        json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": true}}),
    );
    assert_eq!(
        told(ResponseFormat::JsonObject).await,
        json!({"type": "json_object"})
    );
    assert_eq!(told(ResponseFormat::Text).await, Value::Null);
}

#[tokio::test]
async fn tool_choice_is_told_in_openais_words() {
    let told = async |choice, tools| {
        let request = hello().with_head(|head| {
            head.tool_choice = Some(choice);
            head.tools = tools;
        });
        chat_sent(&request).await["tool_choice"].clone()
    };
    let specific = ToolChoice::Specific { name: "now".into() };
    assert_eq!(told(ToolChoice::None, vec![now()]).await, "none");
    assert_eq!(told(ToolChoice::Required, vec![now()]).await, "required");
    assert_eq!(
        told(specific, vec![now()]).await,
        json!({"type": "function", "function": {"name": "now"}}),
    );
    assert_eq!(told(ToolChoice::Auto, vec![]).await, Value::Null);
}

#[tokio::test]
async fn results_without_text_still_answer_their_calls() {
    let outcome = async |content, is_error| {
        let messages = vec![
            message(
                Role::Assistant,
                vec![ContentBlock::tool_use("c", "n", json!(null))],
            ),
            message(Role::User, vec![result("c", content, is_error)]),
        ];
        chat_sent(&conversation(messages)).await["messages"][1]["content"].clone()
    };
    let text = |text: &str| ContentItem::Text(text.into());
    assert_eq!(outcome(vec![], false).await, "");
    assert_eq!(
        outcome(vec![], true).await,
        "error: the tool gave no reason"
    );
    assert_eq!(outcome(vec![text("a"), text("b")], false).await, "a\nb");
    assert_eq!(
        outcome(vec![text("a"), text("b")], true).await,
        "error: a\nb"
    );
}

#[tokio::test]
async fn messages_with_nothing_to_send_are_left_out() {
    let thought = ContentBlock::Thinking {
        field: None,
        thinking: "hm".into(),
        signature: Some("s".into()),
    };
    let request = conversation(vec![
        Message::user("hello"),
        message(Role::Assistant, vec![thought]),
        message(Role::User, vec![]),
    ]);
    assert_eq!(
        chat_sent(&request).await["messages"],
        json!([{"role": "user", "content": "hello"}]),
    );
}

#[tokio::test]
async fn what_cannot_be_said_is_refused_before_it_is_sent() {
    let url = DocumentSource::Url {
        url: "https://example.com/a.pdf".into(),
    };
    let refused = [
        hello().with_head(|head| {
            head.thinking = Some(ThinkingConfig::Enabled {
                budget_tokens: 1024,
            });
        }),
        hello().with_head(|head| {
            head.thinking = Some(ThinkingConfig::Disabled);
            head.reasoning_effort = Some(ReasoningEffort::High);
        }),
        hello().with_head(|head| head.context_management = Some(ContextManagement::default())),
        hello().with_head(|head| head.extra = Some(json!({"messages": []}))),
        conversation(vec![message(
            Role::User,
            vec![ContentBlock::Document { source: url }],
        )]),
    ];
    let api = FakeApi::with_body(&chat_answer(&json!({}))).await;
    let client = api.chat().build().unwrap();
    for request in refused {
        let error = client.complete(&request).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::InvalidRequest, "{error}");
    }
    assert!(api.requests().await.is_empty());
}

#[tokio::test]
async fn disabled_thinking_is_effort_none() {
    let request = hello().with_head(|head| head.thinking = Some(ThinkingConfig::Disabled));
    assert_eq!(chat_sent(&request).await["reasoning_effort"], "none");
}
