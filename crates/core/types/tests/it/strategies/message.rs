use neuron_types::{
    ContentBlock, ContentItem, DocumentSource, ImageSource, Message, Role, ToolResultBlock,
};
use proptest::{option, prelude::*};

use super::{few, json, one_of, optional_json, text};
use crate::samples::message::ROLES;

pub(crate) fn role() -> impl Strategy<Value = Role> {
    one_of(&ROLES)
}

pub(crate) fn image_source() -> impl Strategy<Value = ImageSource> {
    prop_oneof![
        (text(), text()).prop_map(|(media_type, data)| ImageSource::Base64 { media_type, data }),
        text().prop_map(|url| ImageSource::Url { url }),
    ]
}

pub(crate) fn document_source() -> impl Strategy<Value = DocumentSource> {
    prop_oneof![
        text().prop_map(|data| DocumentSource::Base64Pdf { data }),
        text().prop_map(|data| DocumentSource::PlainText { data }),
        text().prop_map(|url| DocumentSource::Url { url }),
    ]
}

pub(crate) fn content_item() -> impl Strategy<Value = ContentItem> {
    prop_oneof![
        text().prop_map(ContentItem::Text),
        image_source().prop_map(|source| ContentItem::Image { source }),
    ]
}

prop_compose! {
    pub(crate) fn tool_result()(
        tool_use_id in text(),
        name in text(),
        content in few(content_item()),
        is_error in any::<bool>(),
    ) -> ToolResultBlock {
        ToolResultBlock { tool_use_id, name, content, is_error }
    }
}

pub(crate) fn content_block() -> BoxedStrategy<ContentBlock> {
    let tool_use = (text(), option::of(text()), text(), json(), optional_json()).prop_map(
        |(id, own_id, name, input, extra)| ContentBlock::ToolUse {
            own_id,
            id,
            name,
            input,
            extra,
        },
    );
    prop_oneof![
        text().prop_map(ContentBlock::Text),
        (text(), option::of(text()), option::of(text())).prop_map(
            |(thinking, signature, field)| ContentBlock::Thinking {
                field,
                thinking,
                signature,
            }
        ),
        text().prop_map(|data| ContentBlock::RedactedThinking { data }),
        tool_use,
        tool_result().prop_map(ContentBlock::ToolResult),
        image_source().prop_map(|source| ContentBlock::Image { source }),
        document_source().prop_map(|source| ContentBlock::Document { source }),
        text().prop_map(|content| ContentBlock::Compaction { content }),
        text().prop_map(|model| ContentBlock::AnsweredBy { model }),
        json().prop_map(ContentBlock::Other),
    ]
    .boxed()
}

prop_compose! {
    pub(crate) fn message()(role in role(), content in few(content_block())) -> Message {
        Message { role, content }
    }
}
