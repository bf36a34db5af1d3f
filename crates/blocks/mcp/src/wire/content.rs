//! Between MCP's content and ours.

use neuron_types::{ContentBlock as MessageBlock, ContentItem, ImageSource, ToolOutput};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

use crate::wire::picture::picture;

/// Returns a result as it came: texts and pictures as such, everything else as the JSON that it came as.
pub(crate) fn output(result: CallToolResult) -> ToolOutput {
    let mut content = items(result.content);
    if content.is_empty()
        && let Some(structured) = &result.structured_content
    {
        // The model reads the content only.
        content.push(ContentItem::Text(structured.to_string()));
    }
    ToolOutput {
        content,
        structured_content: result.structured_content.filter(|value| !value.is_null()),
        is_error: result.is_error.unwrap_or_default(),
        pending: None,
        guarded: None,
        loaded: Box::default(),
    }
}

pub(crate) fn items(blocks: Vec<ContentBlock>) -> Vec<ContentItem> {
    blocks.into_iter().map(item).collect()
}

pub(crate) fn item(block: ContentBlock) -> ContentItem {
    match block {
        ContentBlock::Text(text) => ContentItem::Text(text.text),
        ContentBlock::Image(image) => picture(&image.mime_type, image.data),
        ContentBlock::Resource(resource) => match resource.resource {
            ResourceContents::BlobResourceContents {
                mime_type: Some(media_type),
                blob,
                ..
            } if media_type.starts_with("image/") => picture(&media_type, blob),
            resource => json(&resource),
        },
        other => json(&other),
    }
}

/// Returns a piece of a result as one of a message.
pub(crate) fn block(item: ContentItem) -> MessageBlock {
    match item {
        ContentItem::Text(text) => MessageBlock::Text(text),
        ContentItem::Image { source } => MessageBlock::Image { source },
        other => MessageBlock::Other(serde_json::to_value(other).unwrap_or_default()),
    }
}

fn json<T: serde::Serialize>(value: &T) -> ContentItem {
    let value = serde_json::to_value(value).unwrap_or(Value::Null);
    ContentItem::Text(value.to_string())
}

/// Returns our result as MCP has it.
pub(crate) fn result(output: ToolOutput) -> CallToolResult {
    let content = output
        .content
        .into_iter()
        .map(|item| match item {
            ContentItem::Text(text) => ContentBlock::text(text),
            ContentItem::Image {
                source: ImageSource::Base64 { media_type, data },
            } => ContentBlock::image(data, media_type),
            other => ContentBlock::text(
                serde_json::to_value(other).map_or_else(|_| String::new(), |it| it.to_string()),
            ),
        })
        .collect();
    let mut result = CallToolResult::success(content);
    result.is_error = Some(output.is_error);
    result.structured_content = output.structured_content;
    result
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(result: Value) -> ToolOutput {
        output(serde_json::from_value(result).unwrap())
    }

    #[test]
    fn nothing_of_a_result_is_lost() {
        let read = read(json!({
            "content": [
                {"type": "text", "text": "21 °C"},
                {"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "mimeType": "image/png"},
                {"type": "resource_link", "uri": "demo://1", "name": "one"},
                {"type": "resource", "resource": {"uri": "demo://2", "text": "two"}},
                {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}
            ],
            "structuredContent": {"celsius": 21},
            "isError": true
        }));
        let picture = ImageSource::Base64 {
            media_type: "image/png".into(),
            data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ".into(),
        };
        assert!(read.is_error);
        assert_eq!(read.structured_content, Some(json!({"celsius": 21})));
        assert_eq!(read.content[0], ContentItem::Text("21 °C".into()));
        assert_eq!(read.content[1], ContentItem::Image { source: picture });
        let rest: Vec<Value> = read.content[2..]
            .iter()
            .map(|item| match item {
                ContentItem::Text(text) => serde_json::from_str(text).unwrap(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(rest[0]["uri"], "demo://1");
        assert_eq!(rest[1], json!({"uri": "demo://2", "text": "two"}));
        assert_eq!(rest[2]["data"], "aGk=");
    }

    #[test]
    fn structured_content_alone_is_read_as_text_too() {
        let read = read(json!({"structuredContent": {"a": 1}}));
        assert_eq!(read.content, [ContentItem::Text(r#"{"a":1}"#.into())]);
        assert_eq!(read.structured_content, Some(json!({"a": 1})));
    }

    #[test]
    fn a_result_goes_out_as_it_would_come_in() {
        let ours = ToolOutput {
            content: vec![
                ContentItem::Text("a".into()),
                ContentItem::Image {
                    source: ImageSource::Base64 {
                        media_type: "image/png".into(),
                        data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ".into(),
                    },
                },
            ],
            structured_content: Some(json!({"a": 1})),
            is_error: true,
            pending: None,
            guarded: None,
            loaded: Box::default(),
        };
        assert_eq!(output(result(ours.clone())), ours);
    }
}
