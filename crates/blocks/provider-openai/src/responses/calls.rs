use std::collections::VecDeque;

use neuron_types::StreamEvent;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::responses::item::CUSTOM_CALL;

/// The calls of a response that is coming in, as a reader of the stream is told of them.
#[derive(Debug, Default)]
pub(crate) struct Calls(Vec<Call>);

#[derive(Debug)]
struct Call {
    output_index: Option<u64>,
    item_id: Option<String>,
    call_id: String,
    /// Something of its arguments was told.
    told: bool,
}

pub(crate) fn is_call(item: &Map<String, Value>) -> bool {
    let kind = item.get("type").and_then(Value::as_str);
    matches!(kind, Some("function_call" | CUSTOM_CALL)) && item.contains_key("name")
}

impl Calls {
    pub(crate) fn start(
        &mut self,
        output_index: Option<u64>,
        item: &Map<String, Value>,
        seen: &mut VecDeque<StreamEvent>,
    ) {
        let item_id = text(item, "id").map(str::to_owned);
        if self.find(output_index, item_id.as_deref()).is_some() {
            return;
        }
        let call_id = text(item, "call_id").map_or_else(
            || format!("call_{}", Uuid::new_v4().simple()),
            str::to_owned,
        );
        seen.push_back(StreamEvent::ToolUseStart {
            id: call_id.clone(),
            name: text(item, "name").unwrap_or_default().to_owned(),
        });
        self.0.push(Call {
            output_index,
            item_id,
            call_id,
            told: false,
        });
    }

    pub(crate) fn append(
        &mut self,
        output_index: Option<u64>,
        item_id: &str,
        delta: String,
        seen: &mut VecDeque<StreamEvent>,
    ) {
        if let Some(call) = self.find(output_index, Some(item_id)) {
            call.tell(delta, seen);
        }
    }

    /// Takes the item that is done, which may be the first that is heard of it.
    pub(crate) fn end(
        &mut self,
        output_index: Option<u64>,
        item: &Map<String, Value>,
        seen: &mut VecDeque<StreamEvent>,
    ) {
        self.start(output_index, item, seen);
        let Some(call) = self.find(output_index, text(item, "id")) else {
            return;
        };
        if !call.told {
            let whole = text(item, "arguments").or_else(|| text(item, "input"));
            call.tell(whole.unwrap_or_default().to_owned(), seen);
        }
        let id = call.call_id.clone();
        seen.push_back(StreamEvent::ToolUseEnd { id });
    }

    fn find(&mut self, output_index: Option<u64>, item_id: Option<&str>) -> Option<&mut Call> {
        self.0.iter_mut().find(|call| match output_index {
            Some(_) => call.output_index == output_index,
            None => call.item_id.is_some() && call.item_id.as_deref() == item_id,
        })
    }

    /// Gives calls that have no id the one that was told of them.
    pub(crate) fn name(&self, output: &mut [Value]) {
        for call in &self.0 {
            let position = call
                .output_index
                .and_then(|index| usize::try_from(index).ok());
            let item = position.and_then(|position| output.get_mut(position)?.as_object_mut());
            if let Some(item) = item.filter(|item| is_call(item) && text(item, "call_id").is_none())
            {
                let id = Value::String(call.call_id.clone());
                item.insert("call_id".to_owned(), id);
            }
        }
    }
}

impl Call {
    fn tell(&mut self, delta: String, seen: &mut VecDeque<StreamEvent>) {
        if !delta.is_empty() {
            self.told = true;
            let id = self.call_id.clone();
            seen.push_back(StreamEvent::ToolUseInputDelta { id, delta });
        }
    }
}

fn text<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    let text = fields.get(key)?.as_str()?;
    (!text.is_empty()).then_some(text)
}
