use neuron_types::{
    ContentBlock, ContentItem, DocumentSource, ImageSource, Message, Role, ToolResultBlock,
};
use serde_json::json;

pub(crate) const ROLES: [Role; 3] = [Role::User, Role::Assistant, Role::System];

pub(crate) fn image_sources() -> Vec<ImageSource> {
    vec![
        ImageSource::Base64 {
            media_type: "image/png".into(),
            data: "iVBORw0KGgo=".into(),
        },
        ImageSource::Url {
            url: "https://example.com/cat.png".into(),
        },
    ]
}

pub(crate) fn document_sources() -> Vec<DocumentSource> {
    vec![
        DocumentSource::Base64Pdf {
            data: "JVBERi0xLjc=".into(),
        },
        DocumentSource::PlainText {
            data: "A contract.".into(),
        },
        DocumentSource::Url {
            url: "https://example.com/contract.pdf".into(),
        },
    ]
}

pub(crate) fn content_items() -> Vec<ContentItem> {
    vec![
        ContentItem::Text("42 lines".into()),
        ContentItem::Image {
            source: ImageSource::Url {
                url: "https://example.com/plot.png".into(),
            },
        },
    ]
}

pub(crate) fn tool_results() -> Vec<ToolResultBlock> {
    vec![
        ToolResultBlock {
            tool_use_id: "call_1".into(),
            name: "read_file".into(),
            content: content_items(),
            is_error: false,
        },
        ToolResultBlock {
            tool_use_id: "call_2".into(),
            name: "bash".into(),
            content: vec![],
            is_error: true,
        },
    ]
}

pub(crate) fn content_blocks() -> Vec<ContentBlock> {
    let mut blocks = vec![
        ContentBlock::Text("Hello.\n\"Quoted\" ünï".into()),
        ContentBlock::Thinking {
            field: None,
            thinking: "First the file.".into(),
            signature: Some("EqQBCg==".into()),
        },
        ContentBlock::Thinking {
            field: None,
            thinking: String::new(),
            signature: None,
        },
        ContentBlock::RedactedThinking {
            data: "EmwKAhgB".into(),
        },
        ContentBlock::tool_use(
            "call_1",
            "read_file",
            json!({"lines": [1, 2.5], "path": "a.txt"}),
        ),
        ContentBlock::ToolUse {
            own_id: None,
            id: "call_2".into(),
            name: "bash".into(),
            input: json!("not an object"),
            extra: Some(json!({"status": "completed"})),
        },
        ContentBlock::Compaction {
            content: "So far: nothing.".into(),
        },
        ContentBlock::AnsweredBy {
            model: "openai/gpt-6.1-terra".into(),
        },
        ContentBlock::Other(json!({"id": "ws_1", "type": "web_search_call"})),
    ];
    blocks.extend(tool_results().into_iter().map(ContentBlock::ToolResult));
    blocks.extend(
        image_sources()
            .into_iter()
            .map(|source| ContentBlock::Image { source }),
    );
    blocks.extend(
        document_sources()
            .into_iter()
            .map(|source| ContentBlock::Document { source }),
    );
    blocks
}

pub(crate) fn messages() -> Vec<Message> {
    ROLES
        .iter()
        .zip([
            vec![ContentBlock::Text("Hi".into())],
            content_blocks(),
            vec![],
        ])
        .map(|(&role, content)| Message { role, content })
        .collect()
}
