//! The conversation as the worker puts it together again.

use neuron_types::{CompletionRequest, Message};

use crate::{
    digest::{Chain, Digest, digest},
    payload::Delta,
};

/// A request that grows by what the model activities of a run are told and answer.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    request: CompletionRequest,
    head: Digest,
    chain: Chain,
}

impl Transcript {
    /// A conversation that a history began with.
    pub(crate) fn beginning_with(messages: Vec<Message>) -> Result<Self, serde_json::Error> {
        let mut transcript = Self::default();
        for message in &messages {
            transcript.chain.push(message)?;
        }
        transcript.request.messages = messages;
        Ok(transcript)
    }

    /// Takes in what is new. Applying the same again changes nothing.
    pub(crate) fn apply(&mut self, delta: &Delta) -> Result<(), serde_json::Error> {
        if let Some(head) = &delta.head {
            self.head = digest(&Digest::default(), head)?.0;
            let messages = std::mem::take(&mut self.request.messages);
            self.request = CompletionRequest {
                messages,
                ..CompletionRequest::clone(head)
            };
        }
        self.request.messages.truncate(delta.keep);
        self.chain.truncate(delta.keep);
        if let (Some(more), Some(last)) = (&delta.more, self.request.messages.last_mut()) {
            last.content.truncate(more.after);
            last.content.extend_from_slice(&more.blocks);
            self.chain.truncate(delta.keep.saturating_sub(1));
            self.chain.push(last)?;
        }
        for message in &delta.messages {
            self.chain.push(message)?;
        }
        self.request.messages.extend_from_slice(&delta.messages);
        Ok(())
    }

    /// Takes in the answer to the request.
    pub(crate) fn answer(&mut self, message: &Message) -> Result<(), serde_json::Error> {
        self.chain.push(message)?;
        self.request.messages.push(message.clone());
        Ok(())
    }

    /// The request, if it is the one that was stated.
    pub(crate) fn stated(&self, delta: &Delta) -> bool {
        self.request.messages.len() == delta.keep + delta.messages.len()
            && self.chain.checksum(&self.head) == delta.checksum
    }

    pub(crate) fn request(&self) -> &CompletionRequest {
        &self.request
    }

    /// The size of the conversation as JSON.
    pub(crate) fn bytes(&self) -> usize {
        self.chain.bytes()
    }
}

#[cfg(test)]
mod tests {
    use neuron_types::ContentBlock;

    use super::*;
    use crate::{carried::json_bytes, line::Line, parts::PART_BYTES};

    fn request(texts: &[&str]) -> CompletionRequest {
        CompletionRequest {
            model: "m".into(),
            messages: texts.iter().map(|text| Message::user(*text)).collect(),
            ..CompletionRequest::default()
        }
    }

    fn next(line: &mut Line, request: &CompletionRequest) -> Delta {
        let mut deltas = line.next(request).unwrap();
        assert_eq!(deltas.len(), 1);
        deltas.remove(0)
    }

    #[test]
    fn follows_a_line_that_is_told_in_parts() {
        let large = |text: &str| ContentBlock::Text(text.repeat(PART_BYTES / 5 * 2));
        let message = |blocks: &[&str]| Message {
            content: blocks.iter().map(|text| large(text)).collect(),
            ..Message::user("")
        };
        let mut stated = request(&["a"]);
        stated.messages.push(message(&["1", "2", "3", "4", "5"]));
        stated.messages.push(message(&["6", "7"]));
        stated.messages.push(message(&["8"]));
        let (mut line, mut transcript) = (Line::default(), Transcript::default());
        let deltas = line.next(&stated).unwrap();
        assert!(deltas.len() >= 4, "{}", deltas.len());
        for delta in &deltas {
            assert!(json_bytes(delta).unwrap() < PART_BYTES + 1_000);
            for _attempt in 0..2 {
                transcript.apply(delta).unwrap();
                assert!(transcript.stated(delta));
            }
        }
        assert_eq!(transcript.request(), &stated);
        stated.messages.push(Message::user("b"));
        let further = next(&mut line, &stated);
        assert_eq!(further.keep, 4);
        transcript.apply(&further).unwrap();
        assert!(transcript.stated(&further));
    }

    #[test]
    fn follows_the_line_and_an_attempt_that_is_repeated() {
        let (mut line, mut transcript) = (Line::default(), Transcript::default());
        let first = next(&mut line, &request(&["a"]));
        transcript.apply(&first).unwrap();
        assert!(transcript.stated(&first));
        line.answer(&Message::user("b")).unwrap();
        transcript.answer(&Message::user("b")).unwrap();
        let second = next(&mut line, &request(&["a", "b", "c"]));
        for _attempt in 0..2 {
            transcript.apply(&second).unwrap();
            assert!(transcript.stated(&second));
            assert_eq!(transcript.request(), &request(&["a", "b", "c"]));
        }
    }

    #[test]
    fn knows_that_an_answer_is_missing_or_another() {
        let mut line = Line::default();
        let first = next(&mut line, &request(&["a"]));
        line.answer(&Message::user("b")).unwrap();
        let second = next(&mut line, &request(&["a", "b", "c"]));
        for answer in [None, Some("x")] {
            let mut transcript = Transcript::default();
            transcript.apply(&first).unwrap();
            if let Some(text) = answer {
                transcript.answer(&Message::user(text)).unwrap();
            }
            transcript.apply(&second).unwrap();
            assert!(!transcript.stated(&second));
        }
    }
}
