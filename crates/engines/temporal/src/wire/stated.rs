//! Messages as a delta states them: whole, except for tool results that the history already has.

use neuron_types::{ContentBlock, ContentItem, Message, Role, StepId, ToolResultBlock};
use serde::{Deserialize, Serialize};

/// One message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StatedMessage {
    pub(crate) role: Role,
    pub(crate) content: Vec<StatedBlock>,
}

/// One block of a message.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum StatedBlock {
    Named(Named),
    Whole(ContentBlock),
}

/// The answer to a tool call, named by the step that gave it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Named {
    pub(crate) result_of: ResultOf,
}

/// The step whose result it is, and the block's other fields.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ResultOf {
    /// The name that [`step_name`] writes.
    pub(crate) step: String,
    pub(crate) tool_use_id: String,
    pub(crate) name: String,
    pub(crate) is_error: bool,
}

/// Returns a step's name in histories.
pub(crate) fn step_name(step: StepId) -> String {
    match step.scope {
        0 => format!("{}.{}", step.turn, step.position),
        scope => format!("{scope}.{}.{}", step.turn, step.position),
    }
}

/// Returns the step of this name.
pub(crate) fn step_in(name: &str) -> Option<StepId> {
    let mut parts = name.split('.').rev();
    let (position, turn) = (parts.next()?, parts.next()?);
    let scope = parts.next().map_or(Ok(0), str::parse);
    Some(StepId {
        scope: scope.ok()?,
        turn: turn.parse().ok()?,
        position: position.parse().ok()?,
    })
}

impl StatedMessage {
    /// Returns the message with nothing named.
    pub(crate) fn whole(message: &Message) -> Self {
        let content = message.content.iter().cloned().map(StatedBlock::Whole);
        Self {
            role: message.role,
            content: content.collect(),
        }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &ResultOf> {
        self.content.iter().filter_map(StatedBlock::name)
    }

    /// Returns the message with the contents of the named results; `None` if one is not found.
    pub(crate) fn filled(
        &self,
        mut find: impl FnMut(&ResultOf) -> Option<Vec<ContentItem>>,
    ) -> Option<Message> {
        let content = self.content.iter().map(|block| block.filled(&mut find));
        Some(Message {
            role: self.role,
            content: content.collect::<Option<_>>()?,
        })
    }
}

impl StatedBlock {
    pub(crate) fn name(&self) -> Option<&ResultOf> {
        match self {
            Self::Named(named) => Some(&named.result_of),
            Self::Whole(_) => None,
        }
    }

    pub(crate) fn filled(
        &self,
        mut find: impl FnMut(&ResultOf) -> Option<Vec<ContentItem>>,
    ) -> Option<ContentBlock> {
        match self {
            Self::Named(Named { result_of }) => Some(ContentBlock::ToolResult(ToolResultBlock {
                content: find(result_of)?,
                tool_use_id: result_of.tool_use_id.clone(),
                name: result_of.name.clone(),
                is_error: result_of.is_error,
            })),
            Self::Whole(block) => Some(block.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_without_names_is_written_as_the_message() {
        let message = Message {
            content: vec![
                ContentBlock::Text("a".into()),
                ContentBlock::Other(json!({"type": "b"})),
                ContentBlock::tool_use("1", "look", json!({"deep": [1, 2.5, null]})),
            ],
            ..Message::assistant("")
        };
        let stated = serde_json::to_value(StatedMessage::whole(&message)).unwrap();
        assert_eq!(stated, serde_json::to_value(&message).unwrap());
        let read: StatedMessage = serde_json::from_value(stated).unwrap();
        assert_eq!(read.filled(|_| None), Some(message));
    }

    #[test]
    fn a_step_is_found_by_its_name() {
        for step in [
            StepId::new(3, 1),
            StepId {
                scope: 2,
                ..StepId::new(12, 0)
            },
        ] {
            assert_eq!(step_in(&step_name(step)), Some(step));
        }
        assert_eq!(step_in("17"), None);
        assert_eq!(step_in("a.b"), None);
    }

    #[test]
    fn a_named_result_comes_back_with_its_content_or_not_at_all() {
        let stated: StatedMessage = serde_json::from_value(json!({
            "role": "user",
            "content": [{"result_of": {
                "step": "3.1", "tool_use_id": "c1", "name": "look", "is_error": false,
            }}],
        }))
        .unwrap();
        let names: Vec<&str> = stated.names().map(|named| named.step.as_str()).collect();
        assert_eq!(names, ["3.1"]);
        assert_eq!(stated.filled(|_| None), None);
        let content = vec![ContentItem::Text("seen".into())];
        let filled = stated.filled(|_| Some(content.clone())).unwrap();
        let expected = ContentBlock::ToolResult(ToolResultBlock {
            tool_use_id: "c1".into(),
            name: "look".into(),
            content,
            is_error: false,
        });
        assert_eq!(filled.content, [expected]);
    }
}
