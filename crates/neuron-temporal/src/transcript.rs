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
    use super::*;
    use crate::line::Line;

    fn request(texts: &[&str]) -> CompletionRequest {
        CompletionRequest {
            model: "m".into(),
            messages: texts.iter().map(|text| Message::user(*text)).collect(),
            ..CompletionRequest::default()
        }
    }

    #[test]
    fn follows_the_line_and_an_attempt_that_is_repeated() {
        let (mut line, mut transcript) = (Line::default(), Transcript::default());
        let first = line.next(&request(&["a"])).unwrap();
        transcript.apply(&first).unwrap();
        assert!(transcript.stated(&first));
        line.answer(&Message::user("b")).unwrap();
        transcript.answer(&Message::user("b")).unwrap();
        let second = line.next(&request(&["a", "b", "c"])).unwrap();
        for _attempt in 0..2 {
            transcript.apply(&second).unwrap();
            assert!(transcript.stated(&second));
            assert_eq!(transcript.request(), &request(&["a", "b", "c"]));
        }
    }

    #[test]
    fn knows_that_an_answer_is_missing_or_another() {
        let mut line = Line::default();
        let first = line.next(&request(&["a"])).unwrap();
        line.answer(&Message::user("b")).unwrap();
        let second = line.next(&request(&["a", "b", "c"])).unwrap();
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
