//! The conversation as the workflow follows it: what of a request is new.

use neuron_types::{CompletionRequest, Message};

use crate::{
    digest::{Chain, Digest, digest},
    payload::Delta,
};

/// What the model activities of a run have been told and have answered so far.
///
/// The cost of a request is that of its new messages: of those that are known only the newest is compared. A
/// loop that changes older ones says so with [`RunEvent::ContextCompacted`](neuron_types::RunEvent), and then
/// all are.
#[derive(Debug, Default)]
pub(crate) struct Line {
    messages: Vec<Message>,
    chain: Chain,
    /// The newest message is the model's answer and was never part of a request.
    answered: bool,
    /// Older messages may have changed.
    doubtful: bool,
    head: Option<(CompletionRequest, Digest)>,
}

impl Line {
    /// The conversation so far.
    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Compares all messages with the next request's.
    pub(crate) fn doubt(&mut self) {
        self.doubtful = true;
    }

    /// Takes in a request and says what is new in it.
    pub(crate) fn next(&mut self, request: &CompletionRequest) -> Result<Delta, serde_json::Error> {
        let keep = self.common_with(&request.messages);
        self.doubtful = false;
        let new = request.messages.get(keep..).unwrap_or_default();
        self.messages.truncate(keep);
        self.chain.truncate(keep);
        for message in new {
            self.chain.push(message)?;
        }
        self.messages.extend_from_slice(new);
        self.answered = false;
        let (head, head_digest) = self.changed_head(request)?;
        Ok(Delta {
            keep,
            messages: new.to_vec(),
            head: head.map(Box::new),
            aside: false,
            checksum: self.chain.checksum(&head_digest),
        })
    }

    /// Takes in the answer to the request before.
    pub(crate) fn answer(&mut self, message: &Message) -> Result<(), serde_json::Error> {
        self.chain.push(message)?;
        self.messages.push(message.clone());
        self.answered = true;
        Ok(())
    }

    /// How many leading messages of the request are known.
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
            // The loop did not take the answer as it was.
            known - 1
        } else {
            0
        }
    }

    fn changed_head(
        &mut self,
        request: &CompletionRequest,
    ) -> Result<(Option<CompletionRequest>, Digest), serde_json::Error> {
        if let Some((head, digest)) = &self.head
            && same_head(head, request)
        {
            return Ok((None, *digest));
        }
        let head = head_of(request);
        let (digest, _) = digest(&Digest::default(), &head)?;
        self.head = Some((head.clone(), digest));
        Ok((Some(head), digest))
    }
}

/// A request that stands for itself.
pub(crate) fn aside(request: &CompletionRequest) -> Result<Delta, serde_json::Error> {
    let mut line = Line::default();
    let delta = line.next(request)?;
    Ok(Delta {
        aside: true,
        ..delta
    })
}

/// The request without its messages.
fn head_of(request: &CompletionRequest) -> CompletionRequest {
    // Every field by name, so that one that is added is not forgotten, and without a copy of the messages.
    let CompletionRequest {
        provider,
        model,
        messages: _,
        system,
        tools,
        max_tokens,
        temperature,
        top_p,
        stop_sequences,
        tool_choice,
        response_format,
        thinking,
        reasoning_effort,
        context_management,
        extra,
    } = request;
    CompletionRequest {
        provider: provider.clone(),
        model: model.clone(),
        messages: Vec::new(),
        system: system.clone(),
        tools: tools.clone(),
        max_tokens: *max_tokens,
        temperature: *temperature,
        top_p: *top_p,
        stop_sequences: stop_sequences.clone(),
        tool_choice: tool_choice.clone(),
        response_format: response_format.clone(),
        thinking: *thinking,
        reasoning_effort: *reasoning_effort,
        context_management: context_management.clone(),
        extra: extra.clone(),
    }
}

fn same_head(head: &CompletionRequest, request: &CompletionRequest) -> bool {
    let CompletionRequest {
        provider,
        model,
        messages: _,
        system,
        tools,
        max_tokens,
        temperature,
        top_p,
        stop_sequences,
        tool_choice,
        response_format,
        thinking,
        reasoning_effort,
        context_management,
        extra,
    } = head;
    *provider == request.provider
        && *model == request.model
        && *system == request.system
        && *tools == request.tools
        && *max_tokens == request.max_tokens
        && *temperature == request.temperature
        && *top_p == request.top_p
        && *stop_sequences == request.stop_sequences
        && *tool_choice == request.tool_choice
        && *response_format == request.response_format
        && *thinking == request.thinking
        && *reasoning_effort == request.reasoning_effort
        && *context_management == request.context_management
        && *extra == request.extra
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(texts: &[&str]) -> CompletionRequest {
        CompletionRequest {
            model: "m".into(),
            messages: texts.iter().map(|text| Message::user(*text)).collect(),
            ..CompletionRequest::default()
        }
    }

    fn texts(delta: &Delta) -> Vec<String> {
        delta.messages.iter().map(Message::text).collect()
    }

    #[test]
    fn sends_each_message_once() {
        let mut line = Line::default();
        let first = line.next(&request(&["a"])).unwrap();
        assert_eq!((first.keep, texts(&first)), (0, vec!["a".to_owned()]));
        assert!(first.head.is_some());
        line.answer(&Message::user("b")).unwrap();
        let second = line.next(&request(&["a", "b", "c"])).unwrap();
        assert_eq!((second.keep, texts(&second)), (2, vec!["c".to_owned()]));
        assert!(second.head.is_none());
    }

    #[test]
    fn keeps_what_was_stated_where_the_loop_did_not_take_the_answer() {
        let mut line = Line::default();
        line.next(&request(&["a", "b"])).unwrap();
        line.answer(&Message::user("c")).unwrap();
        let next = line.next(&request(&["a", "b", "d"])).unwrap();
        assert_eq!((next.keep, texts(&next)), (2, vec!["d".to_owned()]));
    }

    #[test]
    fn compares_everything_after_a_compaction() {
        let mut line = Line::default();
        line.next(&request(&["a", "b", "c"])).unwrap();
        line.doubt();
        let next = line.next(&request(&["a", "B", "c"])).unwrap();
        assert_eq!(
            (next.keep, texts(&next)),
            (1, vec!["B".to_owned(), "c".to_owned()])
        );
    }

    #[test]
    fn the_checksum_is_that_of_the_whole_request() {
        let mut line = Line::default();
        line.next(&request(&["a"])).unwrap();
        let grown = line.next(&request(&["a", "b"])).unwrap();
        assert_eq!(
            grown.checksum,
            aside(&request(&["a", "b"])).unwrap().checksum
        );
        assert_ne!(
            grown.checksum,
            aside(&request(&["x", "b"])).unwrap().checksum
        );
        let hotter = CompletionRequest {
            temperature: Some(0.5),
            ..request(&["a", "b"])
        };
        assert_ne!(grown.checksum, aside(&hotter).unwrap().checksum);
    }
}
