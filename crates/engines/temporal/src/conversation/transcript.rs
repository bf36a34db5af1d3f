//! The conversation as the worker assembles it.

use std::sync::Arc;

use neuron_types::{
    CompletionRequest, ContentBlock, ContentItem, Conversation, Message, RequestHead,
};

use crate::{
    conversation::digest::{Chain, Digests},
    wire::{activity_inputs::Delta, stated::ResultOf},
};

/// A request that grows by what the model activities of a run receive and answer.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    request: CompletionRequest,
    head: Digests,
    chain: Chain,
    /// The activity that added the newest delta: where to continue reading in the history.
    pub(crate) mark: Option<String>,
}

impl Transcript {
    /// Returns a conversation that a history began with.
    pub(crate) fn beginning_with(messages: Conversation) -> Result<Self, serde_json::Error> {
        let mut transcript = Self::default();
        for message in &messages {
            transcript.chain.push(message)?;
        }
        transcript.request.messages = messages;
        Ok(transcript)
    }

    /// Adds what is new, with the results that the delta names. Applying the same delta again changes nothing.
    ///
    /// Returns false, and changes nothing, if the conversation before the delta is not complete here, or if a result is
    /// found neither by `find` nor in the conversation.
    pub(crate) fn apply(
        &mut self,
        delta: &Delta,
        find: impl Fn(&ResultOf) -> Option<Vec<ContentItem>>,
    ) -> Result<bool, serde_json::Error> {
        let find = |named: &ResultOf| find(named).or_else(|| self.result(named));
        let new = delta.messages.iter().map(|message| message.filled(find));
        let new: Option<Vec<Message>> = new.collect();
        let more = match &delta.more {
            Some(more) => {
                let blocks = more.blocks.iter().map(|block| block.filled(find));
                let blocks: Option<Vec<ContentBlock>> = blocks.collect();
                blocks.map(|blocks| Some((more.after, blocks)))
            }
            None => Some(None),
        };
        let (Some(new), Some(more)) = (new, more) else {
            return Ok(false);
        };
        if self.request.messages.len() < delta.keep {
            return Ok(false);
        }
        if let Some(head) = &delta.head {
            self.head = Digests::of(&**head)?.0;
            self.request.head = Arc::new(RequestHead::clone(head));
        }
        let messages = self.request.messages.make_mut();
        messages.truncate(delta.keep);
        self.chain.truncate(delta.keep);
        if let (Some((after, blocks)), Some(last)) = (more, messages.last_mut()) {
            last.content.truncate(after);
            last.content.extend(blocks);
            self.chain.truncate(delta.keep.saturating_sub(1));
            self.chain.push(last)?;
        }
        for message in &new {
            self.chain.push(message)?;
        }
        messages.extend(new);
        Ok(true)
    }

    /// Returns the content that the conversation has for a call's result. The checksum shows whether it is the right
    /// one.
    fn result(&self, named: &ResultOf) -> Option<Vec<ContentItem>> {
        let messages = self.request.messages.iter().rev();
        let mut blocks = messages.flat_map(|message| message.content.iter().rev());
        blocks.find_map(|block| match block {
            ContentBlock::ToolResult(result) if result.tool_use_id == named.tool_use_id => {
                Some(result.content.clone())
            }
            _ => None,
        })
    }

    /// Adds the answer to the request.
    pub(crate) fn answer(&mut self, message: &Message) -> Result<(), serde_json::Error> {
        self.chain.push(message)?;
        self.request.messages.push(message.clone());
        Ok(())
    }

    /// Returns the request, if it is the one that was stated.
    pub(crate) fn stated(&self, delta: &Delta) -> bool {
        let is_same = match &delta.sum {
            Some(sum) => self.chain.sum(&self.head) == *sum,
            None => self.chain.checksum(&self.head) == delta.checksum,
        };
        is_same && self.request.messages.len() == delta.keep + delta.messages.len()
    }

    pub(crate) fn request(&self) -> &CompletionRequest {
        &self.request
    }

    /// Returns the size of the conversation as JSON.
    pub(crate) fn bytes(&self) -> usize {
        self.chain.bytes()
    }
}

#[cfg(test)]
mod tests {
    use neuron_types::{StepId, ToolResultBlock};

    use neuron_types::json_bytes;

    use super::*;
    use crate::conversation::{
        chunks::CHUNK_BYTES, delta_encoder::DeltaEncoder, known_results::KnownResults,
    };

    const NOWHERE: fn(&ResultOf) -> Option<Vec<ContentItem>> = |_| None;

    fn request(texts: &[&str]) -> CompletionRequest {
        let messages = texts.iter().map(|text| Message::user(*text));
        CompletionRequest::new(RequestHead::new("m"), messages.collect::<Vec<_>>())
    }

    fn next(encoder: &mut DeltaEncoder, request: &CompletionRequest) -> Delta {
        let mut deltas = encoder.next(request, &KnownResults::default(), 0).unwrap();
        encoder.stated();
        assert_eq!(deltas.len(), 1);
        deltas.remove(0)
    }

    #[test]
    fn follows_a_conversation_that_comes_in_chunks() {
        let large = |text: &str| ContentBlock::Text(text.repeat(CHUNK_BYTES / 5 * 2));
        let message = |blocks: &[&str]| Message {
            content: blocks.iter().map(|text| large(text)).collect(),
            ..Message::user("")
        };
        let mut stated = request(&["a"]);
        stated.messages.push(message(&["1", "2", "3", "4", "5"]));
        stated.messages.push(message(&["6", "7"]));
        stated.messages.push(message(&["8"]));
        let (mut encoder, mut transcript) = (DeltaEncoder::default(), Transcript::default());
        let deltas = encoder.next(&stated, &KnownResults::default(), 0).unwrap();
        encoder.stated();
        assert!(deltas.len() >= 4, "{}", deltas.len());
        for delta in &deltas {
            assert!(json_bytes(delta).unwrap() < CHUNK_BYTES + 1_000);
            for _attempt in 0..2 {
                assert!(transcript.apply(delta, NOWHERE).unwrap());
                assert!(transcript.stated(delta));
            }
        }
        assert_eq!(transcript.request(), &stated);
        stated.messages.push(Message::user("b"));
        let further = next(&mut encoder, &stated);
        assert_eq!(further.keep, 4);
        assert!(transcript.apply(&further, NOWHERE).unwrap());
        assert!(transcript.stated(&further));
    }

    #[test]
    fn an_older_build_stated_how_it_writes_a_request() {
        let (mut encoder, mut transcript) = (DeltaEncoder::default(), Transcript::default());
        let mut delta = next(&mut encoder, &request(&["a"]));
        delta.sum = None;
        assert!(transcript.apply(&delta, NOWHERE).unwrap());
        assert!(transcript.stated(&delta));
        delta.checksum = "another".into();
        assert!(!transcript.stated(&delta));
        delta.sum = Some("another".into());
        assert!(!transcript.stated(&delta));
    }

    #[test]
    fn follows_the_line_and_an_attempt_that_is_repeated() {
        let (mut encoder, mut transcript) = (DeltaEncoder::default(), Transcript::default());
        let first = next(&mut encoder, &request(&["a"]));
        assert!(transcript.apply(&first, NOWHERE).unwrap());
        assert!(transcript.stated(&first));
        encoder.answer(&Message::user("b")).unwrap();
        transcript.answer(&Message::user("b")).unwrap();
        let second = next(&mut encoder, &request(&["a", "b", "c"]));
        for _attempt in 0..2 {
            assert!(transcript.apply(&second, NOWHERE).unwrap());
            assert!(transcript.stated(&second));
            assert_eq!(transcript.request(), &request(&["a", "b", "c"]));
        }
    }

    fn results(texts: &[(u32, &str)]) -> Message {
        let block = |(position, text): &(u32, &str)| {
            ContentBlock::ToolResult(ToolResultBlock {
                tool_use_id: format!("c{position}"),
                name: "look".into(),
                content: vec![ContentItem::Text((*text).to_owned())],
                is_error: false,
            })
        };
        Message {
            content: texts.iter().map(block).collect(),
            ..Message::user("")
        }
    }

    #[test]
    fn takes_named_results_from_where_they_are_and_from_the_conversation() {
        let (one, two) = ("1".repeat(500), "2".repeat(500));
        let mut known = KnownResults::default();
        for (position, text) in [(1, &one), (2, &two)] {
            let step = StepId::new(1, position);
            let content = [ContentItem::Text(text.clone())];
            known.note(step, &content);
        }
        let mut stated = request(&["a"]);
        stated
            .messages
            .push(results(&[(1, &one), (2, &two), (3, "3")]));
        let (mut encoder, mut transcript) = (DeltaEncoder::default(), Transcript::default());
        let deltas = encoder.next(&stated, &known, 256).unwrap();
        encoder.stated();
        let [delta] = deltas.as_slice() else {
            panic!("{deltas:?}");
        };
        assert!(json_bytes(delta).unwrap() < 700);
        let find = |named: &ResultOf| match named.step.as_str() {
            "1.1" => Some(vec![ContentItem::Text(one.clone())]),
            "1.2" => Some(vec![ContentItem::Text(two.clone())]),
            _ => None,
        };
        assert!(!transcript.apply(delta, NOWHERE).unwrap());
        assert!(transcript.request().messages.is_empty());
        assert!(transcript.apply(delta, find).unwrap());
        assert!(transcript.stated(delta));
        assert_eq!(transcript.request(), &stated);
        // The next attempt at the call, when the results are not remembered any more.
        assert!(transcript.apply(delta, NOWHERE).unwrap());
        assert!(transcript.stated(delta));
        // The conversation is reduced, and one of the results stays.
        encoder.doubt();
        stated.messages = vec![Message::user("b"), results(&[(2, &two)])].into();
        let deltas = encoder.next(&stated, &known, 256).unwrap();
        encoder.stated();
        assert_eq!(deltas[0].keep, 0);
        assert!(transcript.apply(&deltas[0], NOWHERE).unwrap());
        assert!(transcript.stated(&deltas[0]));
        assert_eq!(transcript.request(), &stated);
    }

    #[test]
    fn follows_a_line_that_is_stated_in_parts_and_names_results() {
        let texts: Vec<String> = ["1", "2", "3", "4"]
            .iter()
            .map(|text| text.repeat(CHUNK_BYTES / 5 * 2))
            .collect();
        let mut known = KnownResults::default();
        let content = |text: &str| vec![ContentItem::Text(text.to_owned())];
        known.note(StepId::new(1, 2), &content(&texts[1]));
        let numbered: Vec<(u32, &str)> = (1..).zip(texts.iter().map(String::as_str)).collect();
        let mut stated = request(&["a"]);
        stated.messages.push(results(&numbered));
        stated
            .messages
            .push(results(&[(5, &texts[1]), (6, &texts[0]), (7, &texts[1])]));
        let (mut encoder, mut transcript) = (DeltaEncoder::default(), Transcript::default());
        let deltas = encoder.next(&stated, &known, 256).unwrap();
        encoder.stated();
        assert!(deltas.len() >= 2, "{}", deltas.len());
        for delta in &deltas {
            assert!(json_bytes(delta).unwrap() < CHUNK_BYTES + 1_000);
            for _attempt in 0..2 {
                let find = |_: &ResultOf| Some(content(&texts[1]));
                assert!(transcript.apply(delta, find).unwrap());
                assert!(transcript.stated(delta));
            }
        }
        assert_eq!(transcript.request(), &stated);
    }

    #[test]
    fn knows_that_an_answer_is_missing_or_another() {
        let mut encoder = DeltaEncoder::default();
        let first = next(&mut encoder, &request(&["a"]));
        encoder.answer(&Message::user("b")).unwrap();
        let second = next(&mut encoder, &request(&["a", "b", "c"]));
        for answer in [None, Some("x")] {
            let mut transcript = Transcript::default();
            assert!(transcript.apply(&first, NOWHERE).unwrap());
            if let Some(text) = answer {
                transcript.answer(&Message::user(text)).unwrap();
            }
            let is_applied = transcript.apply(&second, NOWHERE).unwrap();
            assert_eq!(is_applied, answer.is_some());
            assert!(!transcript.stated(&second));
        }
    }
}
