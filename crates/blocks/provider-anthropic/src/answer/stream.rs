use std::{collections::VecDeque, mem};

use neuron_provider_http::{Assemble, NoAnswer, Progress, WireEvent, new_call_id};
use neuron_types::{CompletionResponse, StreamEvent, read_json};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    answer::failure,
    answer::response::{Answer, usage},
};

/// Puts the events of a stream together into the very message that the API would have sent without one.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    message: Option<Map<String, Value>>,
    /// In the order in which they began, which is that of their indexes with servers that count.
    blocks: Vec<Block>,
    /// The event came that says why the answer ended.
    is_reasoned: bool,
    stopped: bool,
}

/// A block that is still growing.
#[derive(Debug, Default)]
struct Block {
    index: u64,
    fields: Map<String, Value>,
    text: String,
    thinking: String,
    /// The arguments of a call, as JSON text.
    input: String,
    ended: bool,
}

/// What most events say. The others are read once more, as a whole.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    index: u64,
    delta: Delta,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    thinking: Option<String>,
    partial_json: Option<String>,
    signature: Option<String>,
}

impl Assembler {
    fn start(&mut self, data: &[u8], seen: &mut VecDeque<StreamEvent>) -> serde_json::Result<()> {
        let mut event: Map<String, Value> = read_json(data)?;
        if self.message.is_none()
            && let Some(Value::Object(message)) = event.remove("message")
        {
            self.message = Some(message);
            self.tell_usage(seen);
        }
        Ok(())
    }

    fn start_block(
        &mut self,
        index: u64,
        data: &[u8],
        seen: &mut VecDeque<StreamEvent>,
    ) -> serde_json::Result<()> {
        let mut event: Map<String, Value> = read_json(data)?;
        let Some(Value::Object(fields)) = event.remove("content_block") else {
            return Ok(());
        };
        self.begin(index, fields, seen);
        Ok(())
    }

    /// Begins a block, and ends one that goes on under the same index.
    fn begin(
        &mut self,
        index: u64,
        mut fields: Map<String, Value>,
        seen: &mut VecDeque<StreamEvent>,
    ) {
        let open = self.open_block(index);
        if open.is_some_and(|block| block.is_repeated_by(&fields)) {
            return;
        }
        self.end_block(index, seen);
        let kind = fields.get("type").and_then(Value::as_str);
        let has_id = fields
            .get("id")
            .and_then(Value::as_str)
            .is_some_and(|id| !id.is_empty());
        if kind == Some("tool_use") && !has_id {
            fields.insert("id".to_owned(), Value::String(new_call_id()));
        }
        let block = Block {
            index,
            fields,
            ..Block::default()
        };
        let said = |name| Some(block.said(name)?.to_owned()).filter(|text| !text.is_empty());
        match block.said("type") {
            Some("text") => seen.extend(said("text").map(StreamEvent::TextDelta)),
            Some("thinking") => seen.extend(said("thinking").map(StreamEvent::ThinkingDelta)),
            Some("tool_use") => {
                seen.push_back(StreamEvent::ToolUseStart {
                    id: said("id").unwrap_or_default(),
                    name: said("name").unwrap_or_default(),
                });
            }
            _ => {}
        }
        self.blocks.push(block);
    }

    /// The block under an index that has not ended.
    fn open_block(&mut self, index: u64) -> Option<&mut Block> {
        let mut blocks = self.blocks.iter_mut().rev();
        blocks.find(|block| block.index == index && !block.ended)
    }

    fn grow(
        &mut self,
        index: u64,
        delta: Delta,
        data: &[u8],
        seen: &mut VecDeque<StreamEvent>,
    ) -> serde_json::Result<()> {
        let kind = match delta.kind.as_deref() {
            Some("text_delta") => Some("text"),
            Some("thinking_delta") => Some("thinking"),
            _ => None,
        };
        // Servers leave the start of plain blocks out, also behind another block of their index.
        let open = self.open_block(index);
        let is_of_it = |block: &Block| kind.is_none_or(|kind| block.said("type") == Some(kind));
        if !open.is_some_and(|block| is_of_it(block)) {
            let Some(kind) = kind else { return Ok(()) };
            let fields = Map::from_iter([
                ("type".to_owned(), json!(kind)),
                (kind.to_owned(), json!("")),
            ]);
            self.begin(index, fields, seen);
        }
        let Some(block) = self.open_block(index) else {
            return Ok(());
        };
        match delta.kind.as_deref() {
            Some("text_delta") => {
                let text = delta.text.unwrap_or_default();
                block.text.push_str(&text);
                seen.push_back(StreamEvent::TextDelta(text));
            }
            Some("thinking_delta") => {
                let thinking = delta.thinking.unwrap_or_default();
                block.thinking.push_str(&thinking);
                seen.push_back(StreamEvent::ThinkingDelta(thinking));
            }
            Some("input_json_delta") => {
                let delta = delta.partial_json.unwrap_or_default();
                block.input.push_str(&delta);
                if let Some(id) = block.call_id() {
                    seen.push_back(StreamEvent::ToolUseInputDelta { id, delta });
                }
            }
            Some("signature_delta") => {
                let signature = delta.signature.unwrap_or_default();
                block.set("signature", Value::String(signature.clone()));
                seen.push_back(StreamEvent::SignatureDelta(signature));
            }
            Some("citations_delta") => block.cite(whole_delta(data)?),
            Some("compaction_delta") => {
                for (name, value) in whole_delta(data)? {
                    if name != "type" {
                        block.set(&name, value);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end_block(&mut self, index: u64, seen: &mut VecDeque<StreamEvent>) {
        if let Some(block) = self.open_block(index) {
            let seeded = block.input.is_empty();
            block.end();
            let Some(id) = block.call_id() else { return };
            let input = block
                .fields
                .get("input")
                .filter(|input| **input != json!({}));
            if let Some(input) = input.filter(|_| seeded) {
                seen.push_back(StreamEvent::ToolUseInputDelta {
                    id: id.clone(),
                    delta: input.to_string(),
                });
            }
            seen.push_back(StreamEvent::ToolUseEnd { id });
        }
    }

    /// The counts are totals: the newest stand, and what is not said anew stays.
    fn change(&mut self, data: &[u8], seen: &mut VecDeque<StreamEvent>) -> serde_json::Result<()> {
        let mut event: Map<String, Value> = read_json(data)?;
        let Some(message) = &mut self.message else {
            return Ok(());
        };
        event.remove("type");
        let delta = event.remove("delta");
        let counts = event.remove("usage");
        let delta = delta.as_ref().and_then(Value::as_object);
        let reason = delta.and_then(|delta| delta.get("stop_reason")?.as_str());
        self.is_reasoned |= reason.is_some_and(|reason| !reason.is_empty());
        let fields = event.iter().chain(delta.into_iter().flatten());
        for (name, value) in fields.filter(|(_, value)| !value.is_null()) {
            message.insert(name.clone(), value.clone());
        }
        if let Some(Value::Object(counts)) = counts {
            let usage = message.entry("usage").or_insert_with(|| json!({}));
            if !usage.is_object() {
                *usage = json!({});
            }
            if let Some(usage) = usage.as_object_mut() {
                // Servers that count the prompt at the start say none at the end.
                let is_said = |(name, count): &(String, Value)| {
                    let is_new = name == "output_tokens" || !usage.contains_key(name);
                    !count.is_null() && (is_new || *count != 0)
                };
                let counts: Vec<_> = counts.into_iter().filter(is_said).collect();
                usage.extend(counts);
            }
            self.tell_usage(seen);
        }
        Ok(())
    }

    fn tell_usage(&self, seen: &mut VecDeque<StreamEvent>) {
        let counts = self
            .message
            .as_ref()
            .and_then(|message| message.get("usage"));
        if let Some(counts) = counts {
            seen.push_back(StreamEvent::Usage(usage(counts)));
        }
    }
}

impl Assemble for Assembler {
    fn take(
        &mut self,
        event: WireEvent<'_>,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<Progress, NoAnswer> {
        let Event { kind, index, delta } = Event::read(event.data)?;
        let kind = if kind.is_empty() { event.name } else { &kind };
        match kind {
            "message_start" => self.start(event.data, seen)?,
            "content_block_start" => self.start_block(index, event.data, seen)?,
            "content_block_delta" => self.grow(index, delta, event.data, seen)?,
            "content_block_stop" => self.end_block(index, seen),
            "message_delta" => {
                self.change(event.data, seen)?;
                if self.is_reasoned {
                    return Ok(Progress::Enough);
                }
            }
            "message_stop" => {
                self.stopped = true;
                let open = self.blocks.iter().filter(|block| !block.ended);
                let open: Vec<u64> = open.map(|block| block.index).collect();
                for index in open {
                    self.end_block(index, seen);
                }
                return Ok(Progress::Complete);
            }
            "error" => return Err(NoAnswer::Failed(failure::of_event(event.data))),
            // Servers of other APIs behind a proxy fail in their own form.
            "" => {
                let body: Map<String, Value> = read_json(event.data)?;
                if body.get("error").is_some_and(|error| !error.is_null()) {
                    return Err(NoAnswer::Failed(failure::of_event(event.data)));
                }
            }
            // Pings, and what the API may add.
            _ => {}
        }
        Ok(Progress::More)
    }

    fn finish(&mut self) -> Result<CompletionResponse, NoAnswer> {
        // Servers forget the last event, and one that says why the answer ended has said all of it.
        let is_whole = self.stopped || self.is_reasoned;
        let message = self.message.take().filter(|_| is_whole);
        let mut message = message.ok_or(NoAnswer::Absent)?;
        let blocks = mem::take(&mut self.blocks).into_iter();
        let content = blocks.map(|mut block| {
            block.end();
            Value::Object(block.fields)
        });
        message.insert("content".to_owned(), content.collect());
        let answer: Answer = serde_json::from_value(Value::Object(message))?;
        answer.into_response()
    }
}

impl Event {
    /// Reads an event. What does not fit in one that servers made up is not read.
    fn read(data: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(data).or_else(|_| {
            let event: Value = read_json(data)?;
            let delta = event.get("delta").map(Delta::deserialize);
            Ok(Self {
                kind: event
                    .get("type")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned(),
                index: event.get("index").and_then(Value::as_u64).unwrap_or(0),
                delta: delta.and_then(Result::ok).unwrap_or_default(),
            })
        })
    }
}

impl Block {
    fn said(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str()
    }

    /// Whether its start comes once more. Two blocks of text that lie on one another are one.
    fn is_repeated_by(&self, fields: &Map<String, Value>) -> bool {
        let same = |name| self.fields.get(name) == fields.get(name);
        let is_call = fields.contains_key("name");
        same("type") && same("name") && same("id") && (!is_call || fields.contains_key("id"))
    }

    fn set(&mut self, name: &str, value: Value) {
        self.fields.insert(name.to_owned(), value);
    }

    /// The id, if this is a call of a tool of ours.
    fn call_id(&self) -> Option<String> {
        (self.said("type")? == "tool_use").then(|| self.said("id").map(str::to_owned))?
    }

    fn cite(&mut self, mut delta: Map<String, Value>) {
        let Some(citation) = delta.remove("citation") else {
            return;
        };
        let citations = self.fields.entry("citations").or_insert(Value::Null);
        match citations {
            Value::Array(citations) => citations.push(citation),
            other => *other = Value::Array(vec![citation]),
        }
    }

    /// Puts what came in pieces into its field.
    fn end(&mut self) {
        if mem::replace(&mut self.ended, true) {
            return;
        }
        for (name, more) in [
            ("text", mem::take(&mut self.text)),
            ("thinking", mem::take(&mut self.thinking)),
        ] {
            if !more.is_empty() {
                let text = self.said(name).unwrap_or_default().to_owned() + &more;
                self.set(name, Value::String(text));
            }
        }
        let input = mem::take(&mut self.input);
        if !input.is_empty() {
            // What is no JSON is kept as the model wrote it, for the loop to tell the model.
            let input = serde_json::from_str(&input).unwrap_or(Value::String(input));
            self.set("input", input);
        }
    }
}

fn whole_delta(data: &[u8]) -> serde_json::Result<Map<String, Value>> {
    let mut event: Map<String, Value> = read_json(data)?;
    Ok(match event.remove("delta") {
        Some(Value::Object(delta)) => delta,
        _ => Map::new(),
    })
}

#[cfg(test)]
mod tests {
    use neuron_provider_http::{EventDecoder, SseDecoder};

    use super::*;

    const STREAM: &str = include_str!("../../tests/fixtures/interleaved.sse");

    fn assembled(chunks: &[&[u8]]) -> (Vec<StreamEvent>, Option<CompletionResponse>) {
        let mut decoder = SseDecoder::default();
        let mut assembler = Assembler::default();
        let mut seen = VecDeque::new();
        for chunk in chunks {
            let mut input = *chunk;
            while decoder.advance(&mut input).unwrap() {
                assembler.take(decoder.event(), &mut seen).unwrap();
            }
        }
        if decoder.finish() {
            assembler.take(decoder.event(), &mut seen).unwrap();
        }
        (seen.into(), assembler.finish().ok())
    }

    #[test]
    fn the_answer_is_the_same_wherever_the_bytes_are_split() {
        let (events, answer) = assembled(&[STREAM.as_bytes()]);
        insta::assert_json_snapshot!(answer);
        insta::assert_debug_snapshot!(events);
        for cut in 0..=STREAM.len() {
            let (head, tail) = STREAM.as_bytes().split_at(cut);
            let (pieces, same) = assembled(&[head, tail]);
            assert_eq!(same, answer, "cut at {cut}");
            assert_eq!(format!("{pieces:?}"), format!("{events:?}"), "cut at {cut}");
        }
    }

    #[test]
    fn the_answer_is_the_same_whatever_ends_the_lines() {
        let (_, answer) = assembled(&[STREAM.as_bytes()]);
        let endings = [
            STREAM.replace('\n', "\r\n"),
            STREAM.replace('\n', "\r"),
            STREAM.trim_end().to_owned(),
            format!("\u{feff}{STREAM}"),
        ];
        for stream in endings {
            assert_eq!(assembled(&[stream.as_bytes()]).1, answer);
        }
    }

    #[test]
    fn a_stream_that_lacks_its_end_is_no_answer() {
        let end = STREAM.find("event: message_delta").unwrap();
        let (_, answer) = assembled(&[&STREAM.as_bytes()[..end]]);
        assert_eq!(answer, None);
    }
}
