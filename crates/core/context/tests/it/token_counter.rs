use neuron_context::TokenCounter;
use neuron_types::{
    CompletionRequest, ContentBlock, DocumentSource, ImageSource, Message, RequestHead, Role,
    SystemBlock, SystemPrompt, ToolDefinition,
};
use serde_json::json;

use crate::conversation::{calls, result, results};

fn with(block: ContentBlock) -> Message {
    Message {
        role: Role::User,
        content: vec![block],
    }
}

#[test]
fn counts_four_characters_a_token_and_rounds_up() {
    let counter = TokenCounter::default();
    assert_eq!(counter.estimate_text(""), 0);
    assert_eq!(counter.estimate_text("a"), 1);
    assert_eq!(counter.estimate_text("abcd"), 1);
    assert_eq!(counter.estimate_text("abcde"), 2);
}

#[test]
fn counts_more_for_scripts_beyond_ascii() {
    let counter = TokenCounter::default();
    assert!(counter.estimate_text("世界世界") > counter.estimate_text("abcd"));
}

#[test]
fn takes_another_density_and_refuses_nonsense() {
    assert_eq!(TokenCounter::new(2.0).estimate_text("abcd"), 2);
    for nonsense in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(TokenCounter::new(nonsense), TokenCounter::default());
    }
}

#[test]
fn counts_pictures_and_documents_by_a_constant_and_text_by_its_length() {
    let counter = TokenCounter::default();
    let image = |data: &str| {
        with(ContentBlock::Image {
            source: ImageSource::Base64 {
                media_type: "image/png".to_owned(),
                data: data.to_owned(),
            },
        })
    };
    assert_eq!(counter.estimate_message(&image("")), 1_604);
    assert_eq!(counter.estimate_message(&image(&"A".repeat(9_000))), 1_604);
    let pdf = with(ContentBlock::Document {
        source: DocumentSource::Base64Pdf {
            data: "A".repeat(90_000),
        },
    });
    assert_eq!(counter.estimate_message(&pdf), 6_004);
    let text = with(ContentBlock::Document {
        source: DocumentSource::PlainText {
            data: "a".repeat(400),
        },
    });
    assert_eq!(counter.estimate_message(&text), 104);
}

#[test]
fn counts_calls_results_and_native_blocks_by_what_is_in_them() {
    let counter = TokenCounter::default();
    let long = "a".repeat(4_000);
    for message in [
        with(ContentBlock::tool_use(
            "1",
            "write_file",
            json!({"content": long}),
        )),
        results(vec![result("1", long.clone())]),
        with(ContentBlock::Other(
            json!({"type": "reasoning", "encrypted_content": long}),
        )),
        with(ContentBlock::RedactedThinking { data: long.clone() }),
        with(ContentBlock::Compaction { content: long }),
    ] {
        let tokens = counter.estimate_message(&message);
        assert!((1_000..1_050).contains(&tokens), "{tokens} for {message:?}");
    }
    assert!(counter.estimate_messages(&[calls(&["1"])]) < 50);
}

#[test]
fn counts_a_request_with_its_instructions_and_tools() {
    let counter = TokenCounter::default();
    let tools = vec![ToolDefinition {
        name: "read_file".to_owned(),
        description: "d".repeat(400),
        input_schema: json!({"type": "object"}),
        ..ToolDefinition::default()
    }];
    let messages = vec![Message::user("hello")];
    let request = CompletionRequest::new(
        RequestHead {
            system: Some(SystemPrompt::Blocks(vec![SystemBlock {
                text: "s".repeat(800),
                cache_control: None,
            }])),
            tools: tools.clone(),
            ..RequestHead::default()
        },
        messages.clone(),
    );
    assert_eq!(
        counter.estimate_request(&request),
        200 + counter.estimate_tools(&tools) + counter.estimate_messages(&messages)
    );
    assert!((100..130).contains(&counter.estimate_tools(&tools)));
}
