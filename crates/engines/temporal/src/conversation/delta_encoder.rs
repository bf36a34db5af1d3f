//! The conversation as the workflow tracks it: which part of a request is new.

use std::sync::Arc;

use neuron_types::{CompletionRequest, Message, RequestHead};

use crate::{
    conversation::{
        chunks::Chunks,
        digest::{Chain, Digests},
        known_results::KnownResults,
    },
    wire::{activity_inputs::Delta, stated::StatedMessage},
};

/// Encodes requests as deltas to what the model activities of a run have received and answered so far.
///
/// The cost of a request is that of its new messages: of the known messages only the newest is compared. A loop that
/// changes older messages emits a [`RunEvent`](neuron_types::RunEvent) that the context was compacted, or that the run
/// continues as another agent or definition, and then all messages are compared.
#[derive(Debug, Default)]
pub(crate) struct DeltaEncoder {
    messages: Vec<Message>,
    chain: Chain,
    /// Whether the newest message is the model's answer and was never part of a request.
    answered: bool,
    /// Whether older messages may have changed.
    doubtful: bool,
    /// Whether the newest request may be stated only in part.
    is_half_stated: bool,
    /// How often older messages may have changed.
    form: u64,
    head: Option<(Arc<RequestHead>, Digests)>,
}

impl DeltaEncoder {
    /// Returns the conversation so far.
    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Begins with a conversation that the model activities find in the history's input.
    pub(crate) fn begin(&mut self, messages: &[Message]) -> Result<(), serde_json::Error> {
        for message in messages {
            self.chain.push(message)?;
        }
        self.messages = messages.to_vec();
        self.doubtful = true;
        Ok(())
    }

    /// Returns the size of the conversation as JSON.
    pub(crate) fn bytes(&self) -> usize {
        self.chain.bytes()
    }

    /// Returns a number that changes whenever messages that existed before may have changed.
    pub(crate) fn form(&self) -> u64 {
        self.form
    }

    /// Makes the next request compare all messages.
    pub(crate) fn doubt(&mut self) {
        self.form += 1;
        self.doubtful = true;
    }

    /// Adds a request and returns what is new in it, in chunks if it is large. All chunks except the last are sent
    /// without a model call. Until [`stated`](Self::stated) is called, the next request is stated whole. Known results
    /// of at least `least` bytes are replaced by their names.
    pub(crate) fn next(
        &mut self,
        request: &CompletionRequest,
        results: &KnownResults,
        least: usize,
    ) -> Result<Vec<Delta>, serde_json::Error> {
        let keep = if self.is_half_stated {
            self.head = None;
            0
        } else {
            self.common_with(&request.messages)
        };
        self.doubtful = false;
        self.answered = false;
        self.is_half_stated = true;
        let new = request.messages.get(keep..).unwrap_or_default();
        self.messages.truncate(keep);
        self.chain.truncate(keep);
        let (head, head_digests) = self.changed_head(request)?;
        let room = head.as_ref().map_or(0, |(_, bytes)| *bytes);
        let head = head.map(|(head, _)| Box::new(head));
        let mut chunks = Chunks::begin(&mut self.chain, head_digests, keep, head, room);
        for message in new {
            chunks.add(message, results.state(message, least))?;
        }
        let deltas = chunks.end();
        self.messages.extend_from_slice(new);
        Ok(deltas)
    }

    /// Records that everything new in the request is in the history.
    pub(crate) fn stated(&mut self) {
        self.is_half_stated = false;
    }

    /// Forgets what was stated: the next request is stated whole.
    pub(crate) fn forget(&mut self) {
        let form = self.form + 1;
        *self = Self {
            form,
            ..Self::default()
        };
    }

    /// Adds the answer to the request before.
    pub(crate) fn answer(&mut self, message: &Message) -> Result<(), serde_json::Error> {
        self.chain.push(message)?;
        self.messages.push(message.clone());
        self.answered = true;
        Ok(())
    }

    /// Returns how many leading messages of the request are known.
    fn common_with(&self, messages: &[Message]) -> usize {
        if self.doubtful {
            let pairs = self.messages.iter().zip(messages);
            return pairs.take_while(|(known, stated)| known == stated).count();
        }
        let same = |length: usize| {
            length > 0
                && messages.len() >= length
                && self.messages.get(length - 1) == messages.get(length - 1)
        };
        let known = self.messages.len();
        if same(known) {
            known
        } else if self.answered && same(known - 1) {
            // The loop changed the answer.
            known - 1
        } else {
            0
        }
    }

    fn changed_head(
        &mut self,
        request: &CompletionRequest,
    ) -> Result<(Option<(RequestHead, usize)>, Digests), serde_json::Error> {
        if let Some((head, digests)) = &self.head
            && (Arc::ptr_eq(head, &request.head) || *head == request.head)
        {
            return Ok((None, *digests));
        }
        let (digests, bytes) = Digests::of(&*request.head)?;
        self.head = Some((Arc::clone(&request.head), digests));
        Ok((Some((RequestHead::clone(&request.head), bytes)), digests))
    }
}

/// Returns the delta of a request that is not part of the conversation.
pub(crate) fn aside(request: &CompletionRequest) -> Result<Delta, serde_json::Error> {
    let mut chain = Chain::default();
    for message in &request.messages {
        chain.push(message)?;
    }
    let (head_digests, _) = Digests::of(&*request.head)?;
    Ok(Delta {
        keep: 0,
        more: None,
        messages: request.messages.iter().map(StatedMessage::whole).collect(),
        head: Some(Box::new(RequestHead::clone(&request.head))),
        aside: true,
        checksum: chain.checksum(&head_digests),
        sum: Some(chain.sum(&head_digests)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn texts(delta: &Delta) -> Vec<String> {
        let messages = delta.messages.iter();
        let messages = messages.map(|message| message.filled(|_| None).unwrap().text());
        messages.collect()
    }

    #[test]
    fn sends_each_message_once() {
        let mut encoder = DeltaEncoder::default();
        let first = next(&mut encoder, &request(&["a"]));
        assert_eq!((first.keep, texts(&first)), (0, vec!["a".to_owned()]));
        assert!(first.head.is_some());
        encoder.answer(&Message::user("b")).unwrap();
        let second = next(&mut encoder, &request(&["a", "b", "c"]));
        assert_eq!((second.keep, texts(&second)), (2, vec!["c".to_owned()]));
        assert!(second.head.is_none());
    }

    #[test]
    fn keeps_what_was_stated_where_the_loop_did_not_take_the_answer() {
        let mut encoder = DeltaEncoder::default();
        next(&mut encoder, &request(&["a", "b"]));
        encoder.answer(&Message::user("c")).unwrap();
        let next = next(&mut encoder, &request(&["a", "b", "d"]));
        assert_eq!((next.keep, texts(&next)), (2, vec!["d".to_owned()]));
    }

    #[test]
    fn compares_everything_after_a_compaction() {
        let mut encoder = DeltaEncoder::default();
        next(&mut encoder, &request(&["a", "b", "c"]));
        encoder.doubt();
        let next = next(&mut encoder, &request(&["a", "B", "c"]));
        assert_eq!(
            (next.keep, texts(&next)),
            (1, vec!["B".to_owned(), "c".to_owned()])
        );
    }

    #[test]
    fn says_a_request_whole_after_one_that_was_not_stated_to_its_end() {
        let mut encoder = DeltaEncoder::default();
        next(&mut encoder, &request(&["a"]));
        encoder
            .next(&request(&["a", "b"]), &KnownResults::default(), 0)
            .unwrap();
        let whole = next(&mut encoder, &request(&["a", "b", "c"]));
        assert_eq!((whole.keep, texts(&whole).len()), (0, 3));
        assert!(whole.head.is_some());
        let further = next(&mut encoder, &request(&["a", "b", "c", "d"]));
        assert_eq!((further.keep, further.head.is_some()), (3, false));
    }

    #[test]
    fn the_checksum_is_that_of_the_whole_request() {
        let mut encoder = DeltaEncoder::default();
        next(&mut encoder, &request(&["a"]));
        let grown = next(&mut encoder, &request(&["a", "b"]));
        assert_eq!(
            grown.checksum,
            aside(&request(&["a", "b"])).unwrap().checksum
        );
        assert_ne!(
            grown.checksum,
            aside(&request(&["x", "b"])).unwrap().checksum
        );
        let hotter = request(&["a", "b"]).with_head(|head| head.temperature = Some(0.5));
        assert_ne!(grown.checksum, aside(&hotter).unwrap().checksum);
    }
}
