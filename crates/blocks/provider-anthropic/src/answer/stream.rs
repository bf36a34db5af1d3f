use std::{
    collections::{HashMap, VecDeque},
    mem,
};

use neuron_provider_http::{
    Assemble, Calls, Fragment, NoAnswer, Progress, WireEvent, new_call_id, stray_arguments,
};
use neuron_types::{CompletionResponse, StreamEvent, read_json};
use serde_json::{Map, Value, json};

use crate::{
    answer::block::{Block, Kind},
    answer::event::{Delta, Event},
    answer::failure,
    answer::response::{Answer, usage},
};

/// Puts the events of a stream together into the very message that the API would have sent without one.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    message: Option<Map<String, Value>>,
    /// In the order in which they began, which is that of their indexes with servers that count.
    blocks: Vec<Block>,
    /// The newest block of each index.
    indexes: HashMap<u64, usize>,
    /// The blocks of each kind, but for some that have ended.
    kinds: HashMap<Kind, Vec<usize>>,
    calls: Calls,
    /// Input that came while no call was open.
    stray: String,
    /// The event came that states why the answer ended.
    is_reasoned: bool,
    stopped: bool,
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

    /// Begins the blocks that the start of the message had, where no others came.
    fn begin_given(&mut self, seen: &mut VecDeque<StreamEvent>) -> Result<(), NoAnswer> {
        if !self.blocks.is_empty() {
            return Ok(());
        }
        let given = self.message.as_mut().and_then(|it| it.remove("content"));
        let Some(Value::Array(given)) = given else {
            return Ok(());
        };
        for (index, block) in (0..).zip(given) {
            if let Value::Object(fields) = block {
                self.begin(index, fields, seen)?;
            }
        }
        Ok(())
    }

    fn start_block(
        &mut self,
        index: u64,
        data: &[u8],
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<(), NoAnswer> {
        let mut event: Map<String, Value> = read_json(data)?;
        let Some(Value::Object(fields)) = event.remove("content_block") else {
            return Ok(());
        };
        let open = self.open_at(index);
        let known = open.and_then(|place| self.blocks.get(place));
        if known.is_some_and(|block| block.is_repeated_by(&fields)) {
            return Ok(());
        }
        if let Some(place) = open {
            self.end_block(place, seen);
        }
        self.begin(index, fields, seen)
    }

    fn begin(
        &mut self,
        index: u64,
        mut fields: Map<String, Value>,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<(), NoAnswer> {
        let kind = fields.get("type").and_then(Value::as_str);
        let has_id = fields
            .get("id")
            .and_then(Value::as_str)
            .is_some_and(|id| !id.is_empty());
        if kind == Some("tool_use") && !has_id {
            fields.insert("id".to_owned(), Value::String(new_call_id()));
        }
        let mut block = Block {
            fields,
            ..Block::default()
        };
        let said = |name| Some(block.said(name)?.to_owned()).filter(|text| !text.is_empty());
        match block.said("type") {
            Some("text") => seen.extend(said("text").map(StreamEvent::TextDelta)),
            Some("thinking") => seen.extend(said("thinking").map(StreamEvent::ThinkingDelta)),
            Some("tool_use") => {
                let call = Fragment {
                    id: said("id"),
                    name: said("name"),
                    ..Fragment::default()
                };
                block.call = Some(self.calls.start(call, seen)?);
            }
            _ => {}
        }
        let place = self.blocks.len();
        self.indexes.insert(index, place);
        self.kinds.entry(block.kind()).or_default().push(place);
        self.blocks.push(block);
        Ok(())
    }

    /// Returns the place of the block under an index that has not ended.
    fn open_at(&self, index: u64) -> Option<usize> {
        let place = *self.indexes.get(&index)?;
        self.is_open(place).then_some(place)
    }

    fn is_open(&self, place: usize) -> bool {
        self.blocks.get(place).is_some_and(|block| !block.ended)
    }

    /// Returns the place of the newest block of a kind that has not ended.
    fn newest(&mut self, kind: Kind) -> Option<usize> {
        let mut places = mem::take(self.kinds.get_mut(&kind)?);
        while places.last().is_some_and(|place| !self.is_open(*place)) {
            places.pop();
        }
        let newest = places.last().copied();
        self.kinds.insert(kind, places);
        newest
    }

    /// Returns the block that a delta is of. Servers count the pieces of a block apart from its start, and leave the
    /// start of plain blocks out, also behind another block of their index.
    fn block_of(
        &mut self,
        index: u64,
        kind: Kind,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<Option<usize>, NoAnswer> {
        let there = self.open_at(index);
        let is_of_it = |place: &usize| {
            let block = self.blocks.get(*place);
            block.is_some_and(|block| kind == Kind::Other || block.kind() == kind)
        };
        if let Some(place) = there.filter(is_of_it) {
            return Ok(Some(place));
        }
        if kind == Kind::Call || there.is_none() {
            let newest = self.newest(kind);
            if newest.is_some() || kind == Kind::Call {
                return Ok(newest);
            }
        }
        let name = match kind {
            Kind::Text => "text",
            Kind::Thinking => "thinking",
            Kind::Call | Kind::Other => return Ok(None),
        };
        // More may come of a call.
        let plain = there.filter(|place| {
            let block = self.blocks.get(*place);
            block.is_some_and(|block| block.kind() != Kind::Call)
        });
        if let Some(place) = plain {
            self.end_block(place, seen);
        }
        let fields = [("type", json!(name)), (name, json!(""))];
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        self.begin(index, Map::from_iter(fields), seen)?;
        Ok(self.open_at(index))
    }

    fn grow(
        &mut self,
        index: u64,
        delta: Delta,
        data: &[u8],
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<(), NoAnswer> {
        let kind = Kind::of_delta(delta.kind.as_deref());
        let place = self.block_of(index, kind, seen)?;
        let Some(block) = place.and_then(|place| self.blocks.get_mut(place)) else {
            if kind == Kind::Call {
                self.stray.push_str(&delta.input());
            }
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
            Some("input_json_delta") => match block.call {
                Some(call) => self.calls.grow(call, &delta.input(), seen),
                None => block.input.take(&delta.input()),
            },
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

    fn end_block(&mut self, place: usize, seen: &mut VecDeque<StreamEvent>) {
        let Some(block) = self.blocks.get_mut(place).filter(|block| !block.ended) else {
            return;
        };
        block.end();
        let Some(call) = block.call else { return };
        if !self.calls.arguments_at(call).is_empty() {
            self.calls.end_one(call, seen);
            block.set_input(self.calls.arguments_at(call));
            return;
        }
        // The start had them.
        let input = block.fields.get("input");
        if let Some(input) = input.filter(|input| **input != json!({})) {
            self.calls.grow(call, &input.to_string(), seen);
        }
        self.calls.end_one(call, seen);
    }

    /// Returns whether input is lost with what came of it: it is of a call, and not one that has it.
    fn lost_input(&self, message: &Map<String, Value>) -> bool {
        let stray = self.stray.trim();
        let mut calls = self.blocks.iter().filter_map(|block| block.call).peekable();
        let says_so = message
            .get("stop_reason")
            .is_some_and(|it| it == "tool_use");
        let is_any = says_so || calls.peek().is_some();
        !stray.is_empty() && is_any && !calls.any(|call| self.calls.arguments_at(call) == stray)
    }

    fn end_all(&mut self, seen: &mut VecDeque<StreamEvent>) {
        for place in 0..self.blocks.len() {
            self.end_block(place, seen);
        }
    }

    /// Takes new counts, which are totals: the newest stand, and what is not said anew stays.
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
            "content_block_stop" => {
                if let Some(place) = self.open_at(index) {
                    self.end_block(place, seen);
                }
            }
            "message_delta" => {
                self.change(event.data, seen)?;
                if self.is_reasoned {
                    self.begin_given(seen)?;
                    return Ok(Progress::Enough);
                }
            }
            "message_stop" => {
                self.stopped = true;
                self.begin_given(seen)?;
                self.end_all(seen);
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
        self.end_all(&mut VecDeque::new());
        if self.lost_input(&message) {
            return Err(stray_arguments(self.stray.trim()).into());
        }
        let mut blocks = mem::take(&mut self.blocks);
        blocks.retain(|block| !block.call.is_some_and(|call| self.calls.is_repeat(call)));
        let content = blocks.into_iter().map(|block| Value::Object(block.fields));
        message.insert("content".to_owned(), content.collect());
        let answer: Answer = serde_json::from_value(Value::Object(message))?;
        answer.into_response()
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

    #[test]
    fn blocks_at_the_start_of_the_message_are_read_where_no_others_come() {
        let head = r#"data: {"type":"message_start","message":{"content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"a","name":"x","input":{"n":1}}]}}"#;
        let stop = r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#;
        let body = format!("{head}\n\n{stop}\n\n");
        let (seen, response) = assembled(&[body.as_bytes()]);
        let message = response.unwrap().message;
        assert_eq!(message.text(), "Hi");
        assert_eq!(message.content.len(), 2);
        let is_told =
            |event: &StreamEvent| matches!(event, StreamEvent::TextDelta(text) if text == "Hi");
        assert!(seen.iter().any(is_told), "{seen:?}");
    }

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
