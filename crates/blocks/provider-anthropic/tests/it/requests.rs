use neuron_provider_anthropic::ApiVersion;
use neuron_types::{
    ContentBlock, ContentItem, ContextEdit, ContextManagement, DocumentSource, FailureKind,
    ImageSource, Message, Provider, ReasoningEffort, ResponseFormat, Role, SystemPrompt,
    ThinkingConfig, ToolChoice, ToolDefinition, ToolResultBlock,
};
use serde_json::{Value, json};

use crate::fake_api::{FakeApi, conversation, hello, sent, sent_by};

pub(crate) fn weather() -> ToolDefinition {
    ToolDefinition {
        name: "get_weather".into(),
        description: "Current weather for a city.".into(),
        input_schema: json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}),
        ..ToolDefinition::default()
    }
}

fn result(id: &str, content: Vec<ContentItem>, is_error: bool) -> ContentBlock {
    ContentBlock::ToolResult(ToolResultBlock {
        tool_use_id: id.into(),
        name: "get_weather".into(),
        content,
        is_error,
    })
}

pub(crate) fn message(role: Role, content: Vec<ContentBlock>) -> Message {
    Message { role, content }
}

fn picture() -> ImageSource {
    ImageSource::Base64 {
        media_type: "image/png".into(),
        data: "iVBORw0KGgo=".into(),
    }
}

/// Two parallel calls. One of them failed.
pub(crate) fn parallel_calls() -> Vec<Message> {
    vec![
        Message::user("Weather in Paris and Oslo?"),
        message(
            Role::Assistant,
            vec![
                ContentBlock::Text("I'll check both.".into()),
                ContentBlock::tool_use("toolu_1", "get_weather", json!({"city": "Paris"})),
                ContentBlock::tool_use("toolu_2", "get_weather", json!({"city": "Oslo"})),
            ],
        ),
        message(
            Role::User,
            vec![
                result("toolu_1", vec![ContentItem::Text("21 C".into())], false),
                result(
                    "toolu_2",
                    vec![ContentItem::Text("no such station".into())],
                    true,
                ),
            ],
        ),
    ]
}

#[tokio::test]
async fn text_and_settings() {
    let request = hello().with_head(|head| {
        head.provider = Some("ignored".into());
        head.system = Some(SystemPrompt::Text("Be brief.".into()));
        head.max_tokens = Some(100);
        head.stop_sequences = vec!["END".into()];
        head.extra = Some(json!({"metadata": {"user_id": "u"}, "service_tier": "auto"}));
    });
    insta::assert_json_snapshot!(sent(&request).await);
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
async fn results_come_first_in_one_merged_message_and_blank_text_is_left_out() {
    let mut messages = parallel_calls();
    let results = messages.pop().unwrap();
    messages.push(Message::user("Hurry up."));
    messages.push(message(
        Role::Assistant,
        vec![ContentBlock::Text(" \n".into())],
    ));
    messages.push(results);
    messages.push(message(
        Role::User,
        vec![
            ContentBlock::Text(String::new()),
            result("toolu_3", vec![ContentItem::Text(String::new())], false),
        ],
    ));
    insta::assert_json_snapshot!(sent(&conversation(messages)).await["messages"]);
}

#[tokio::test]
async fn what_an_operator_says_goes_behind_what_the_user_says_at_the_same_time() {
    let operator = |text: &str| message(Role::System, vec![ContentBlock::Text(text.into())]);
    let messages = vec![
        operator("Be brief."),
        Message::user("hello"),
        Message::assistant("Hi."),
        operator("Be kind."),
        Message::user("How are you?"),
        operator("And honest."),
        Message::user("And where?"),
    ];
    let body = sent(&conversation(messages)).await;
    let said = body["messages"].as_array().unwrap().iter();
    let said: Vec<_> = said
        .map(|message| {
            let texts = message["content"].as_array().unwrap().iter();
            let texts: Vec<_> = texts.map(|block| block["text"].as_str().unwrap()).collect();
            format!("{}: {}", message["role"].as_str().unwrap(), texts.join(" "))
        })
        .collect();
    assert_eq!(
        said,
        [
            "user: hello",
            "system: Be brief.",
            "assistant: Hi.",
            "user: How are you? And where?",
            "system: Be kind. And honest.",
        ]
    );
}

#[tokio::test]
async fn images_and_documents() {
    let content = vec![
        ContentBlock::Image { source: picture() },
        ContentBlock::Image {
            source: ImageSource::Url {
                url: "https://example.com/a.png".into(),
            },
        },
        ContentBlock::Document {
            source: DocumentSource::Base64Pdf {
                data: "JVBERi0=".into(),
            },
        },
        ContentBlock::Document {
            source: DocumentSource::PlainText {
                data: "notes".into(),
            },
        },
        ContentBlock::Document {
            source: DocumentSource::Url {
                url: "https://example.com/a.pdf".into(),
            },
        },
        result(
            "toolu_1",
            vec![
                ContentItem::Text("a screenshot".into()),
                ContentItem::Image { source: picture() },
            ],
            false,
        ),
    ];
    let request = conversation(vec![message(Role::User, content)]);
    insta::assert_json_snapshot!(sent(&request).await["messages"]);
}

#[tokio::test]
async fn thinking_is_replayed_in_place_and_unsigned_thinking_is_left_out() {
    let signed = |thinking: &str, signature: &str| ContentBlock::Thinking {
        field: None,
        thinking: thinking.into(),
        signature: Some(signature.into()),
    };
    let request = conversation(vec![
        Message::user("Weather?"),
        message(
            Role::Assistant,
            vec![
                signed("", "EqQB+/="),
                ContentBlock::Text("I'll check.".into()),
                ContentBlock::RedactedThinking {
                    data: "b64==".into(),
                },
                signed("which city", "EqQC"),
                ContentBlock::Thinking {
                    field: None,
                    thinking: "another provider's".into(),
                    signature: None,
                },
                ContentBlock::tool_use("toolu_1", "get_weather", json!({})),
            ],
        ),
        message(Role::User, vec![result("toolu_1", vec![], false)]),
    ])
    .with_head(|head| head.thinking = Some(ThinkingConfig::Adaptive));
    insta::assert_json_snapshot!(sent(&request).await);
}

#[tokio::test]
async fn a_schema_and_effort_go_into_the_output_config() {
    let request = hello().with_head(|head| {
        head.response_format = Some(ResponseFormat::JsonSchema {
            name: "answer".into(),
            schema: json!({"type": "object", "additionalProperties": false}),
            strict: true,
        });
        head.reasoning_effort = Some(ReasoningEffort::XHigh);
    });
    insta::assert_json_snapshot!(sent(&request).await);
}

#[tokio::test]
async fn thinking_and_effort_are_told_as_asked() {
    let told = async |thinking, reasoning_effort| {
        let body = sent(&hello().with_head(|head| {
            head.model = "claude-opus-4-6".into();
            head.thinking = thinking;
            head.reasoning_effort = reasoning_effort;
        }))
        .await;
        (
            body["thinking"].clone(),
            body["output_config"].clone(),
            body["max_tokens"].clone(),
        )
    };
    let off = Some(ThinkingConfig::Disabled);
    assert_eq!(
        told(None, None).await,
        (Value::Null, Value::Null, json!(16_384))
    );
    assert_eq!(
        told(off, Some(ReasoningEffort::Low)).await,
        (
            json!({"type": "disabled"}),
            json!({"effort": "low"}),
            json!(16_384)
        ),
    );
    assert_eq!(
        told(None, Some(ReasoningEffort::None)).await.0,
        json!({"type": "disabled"}),
    );
    let budget = Some(ThinkingConfig::Enabled {
        budget_tokens: 4096,
    });
    assert_eq!(
        told(budget, None).await,
        (
            json!({"type": "enabled", "budget_tokens": 4096}),
            Value::Null,
            json!(20_480)
        ),
    );
}

#[tokio::test]
async fn tool_choice_is_told_in_anthropics_words() {
    let told = async |choice, tools| {
        let request = hello().with_head(|head| {
            head.model = "claude-opus-4-8".into();
            head.tool_choice = Some(choice);
            head.tools = tools;
        });
        sent(&request).await["tool_choice"].clone()
    };
    let specific = ToolChoice::Specific {
        name: "get_weather".into(),
    };
    assert_eq!(
        told(ToolChoice::None, vec![weather()]).await,
        json!({"type": "none"})
    );
    assert_eq!(
        told(ToolChoice::Required, vec![weather()]).await,
        json!({"type": "any"})
    );
    assert_eq!(
        told(specific, vec![weather()]).await,
        json!({"type": "tool", "name": "get_weather"}),
    );
    assert_eq!(told(ToolChoice::Auto, vec![]).await, Value::Null);
}

#[tokio::test]
async fn one_call_at_a_time_is_part_of_the_choice() {
    let told = async |tool_choice, tools, parallel| {
        let request = hello().with_head(|head| {
            head.model = "claude-opus-4-8".into();
            head.tool_choice = tool_choice;
            head.parallel_tool_calls = Some(parallel);
            head.tools = tools;
        });
        sent(&request).await["tool_choice"].clone()
    };
    let tools = || vec![weather()];
    let one = |kind: &str| json!({"type": kind, "disable_parallel_tool_use": true});
    assert_eq!(told(None, tools(), false).await, one("auto"));
    assert_eq!(
        told(Some(ToolChoice::Required), tools(), false).await,
        one("any")
    );
    assert_eq!(
        told(Some(ToolChoice::None), tools(), false).await,
        json!({"type": "none"})
    );
    assert_eq!(told(None, vec![], false).await, Value::Null);
    assert_eq!(told(None, tools(), true).await, Value::Null);
}

#[tokio::test]
async fn provider_side_compaction_brings_its_beta_flag() {
    let request = hello().with_head(|head| {
        head.context_management = Some(ContextManagement {
            edits: vec![ContextEdit::compact("compact_20260112")],
        });
    });
    let api = FakeApi::with_body(json!({"content": []})).await;
    let client = api.client().beta("one").beta("two").build().unwrap();
    client.complete(&request).await.unwrap();

    let sent = &api.requests().await[0];
    assert_eq!(sent.headers["anthropic-beta"], "one,two,compact-2026-01-12");
    assert_eq!(
        sent.body_json::<Value>().unwrap()["context_management"],
        json!({"edits": [{"type": "compact_20260112"}]}),
    );
}

#[tokio::test]
async fn extra_replaces_a_whole_field_of_the_same_name() {
    let request = hello().with_head(|head| {
        head.reasoning_effort = Some(ReasoningEffort::Low);
        head.extra = Some(json!({"thinking": {"type": "between_tools"}, "max_tokens": 5}));
    });
    let body = sent(&request).await;
    assert_eq!(body["thinking"], json!({"type": "between_tools"}));
    assert_eq!(body["max_tokens"], 5);
    assert_eq!(body["output_config"], json!({"effort": "low"}));
}

#[tokio::test]
async fn sampling_is_sent_under_the_old_version_only() {
    let request = hello().with_head(|head| {
        head.model = "claude-sonnet-4-5".into();
        head.temperature = Some(0.2);
        head.top_p = Some(0.9);
    });
    let old = sent_by(|builder| builder.version(ApiVersion::V2023_06_01), &request).await;
    assert_eq!(
        (&old["temperature"], &old["top_p"]),
        (&json!(0.2), &json!(0.9))
    );

    let top_k = hello().with_head(|head| {
        head.model = "claude-sonnet-4-5".into();
        head.extra = Some(json!({"top_k": 4}));
    });
    for (request, name) in [(&request, "temperature"), (&top_k, "top_k")] {
        let api = FakeApi::with_body(json!({"content": []})).await;
        let error = api
            .client()
            .build()
            .unwrap()
            .complete(request)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), FailureKind::InvalidRequest);
        let text = error.to_string();
        assert!(text.contains(name) && text.contains("2023-06-01"), "{text}");
        assert!(api.requests().await.is_empty(), "it was sent");
    }
}
