//! The conversation as the workflow follows it: what of a request is new.

use neuron_types::{CompletionRequest, Message};

use crate::{
    digest::{Chain, Digest, digest},
    parts::Parts,
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
    /// How often they may have changed.
    form: u64,
    head: Option<(CompletionRequest, Digest)>,
}

impl Line {
    /// The conversation so far.
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

    /// The size of the conversation as JSON.
    pub(crate) fn bytes(&self) -> usize {
        self.chain.bytes()
    }

    /// Another number where messages may have changed that were there before.
    pub(crate) fn form(&self) -> u64 {
        self.form
    }

    /// Compares all messages with the next request's.
    pub(crate) fn doubt(&mut self) {
        self.form += 1;
        self.doubtful = true;
    }

    /// Takes in a request and says what is new in it, in parts where it is much. All but the last are told
    /// without a call.
    pub(crate) fn next(
        &mut self,
        request: &CompletionRequest,
    ) -> Result<Vec<Delta>, serde_json::Error> {
        let keep = self.common_with(&request.messages);
        self.doubtful = false;
        self.answered = false;
        let new = request.messages.get(keep..).unwrap_or_default();
        self.messages.truncate(keep);
        self.chain.truncate(keep);
        let (head, head_digest) = self.changed_head(request)?;
        let room = head.as_ref().map_or(0, |(_, bytes)| *bytes);
        let head = head.map(|(head, _)| Box::new(head));
        let mut parts = Parts::begin(&mut self.chain, head_digest, keep, head, room);
        for message in new {
            parts.add(message)?;
        }
        let deltas = parts.end();
        self.messages.extend_from_slice(new);
        Ok(deltas)
    }

    /// Takes back that anything was said: the next request is said whole.
    pub(crate) fn forget(&mut self) {
        let form = self.form + 1;
        *self = Self {
            form,
            ..Self::default()
        };
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
    ) -> Result<(Option<(CompletionRequest, usize)>, Digest), serde_json::Error> {
        if let Some((head, digest)) = &self.head
            && same_head(head, request)
        {
            return Ok((None, *digest));
        }
        let head = head_of(request);
        let (digest, bytes) = digest(&Digest::default(), &head)?;
        self.head = Some((head.clone(), digest));
        Ok((Some((head, bytes)), digest))
    }
}

/// A request that stands for itself.
pub(crate) fn aside(request: &CompletionRequest) -> Result<Delta, serde_json::Error> {
    let mut chain = Chain::default();
    for message in &request.messages {
        chain.push(message)?;
    }
    let head = head_of(request);
    let (head_digest, _) = digest(&Digest::default(), &head)?;
    Ok(Delta {
        keep: 0,
        more: None,
        messages: request.messages.clone(),
        head: Some(Box::new(head)),
        aside: true,
        checksum: chain.checksum(&head_digest),
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
        parallel_tool_calls,
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
        parallel_tool_calls: *parallel_tool_calls,
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
        parallel_tool_calls,
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
        && *parallel_tool_calls == request.parallel_tool_calls
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

    fn next(line: &mut Line, request: &CompletionRequest) -> Delta {
        let mut deltas = line.next(request).unwrap();
        assert_eq!(deltas.len(), 1);
        deltas.remove(0)
    }

    fn texts(delta: &Delta) -> Vec<String> {
        delta.messages.iter().map(Message::text).collect()
    }

    #[test]
    fn sends_each_message_once() {
        let mut line = Line::default();
        let first = next(&mut line, &request(&["a"]));
        assert_eq!((first.keep, texts(&first)), (0, vec!["a".to_owned()]));
        assert!(first.head.is_some());
        line.answer(&Message::user("b")).unwrap();
        let second = next(&mut line, &request(&["a", "b", "c"]));
        assert_eq!((second.keep, texts(&second)), (2, vec!["c".to_owned()]));
        assert!(second.head.is_none());
    }

    #[test]
    fn keeps_what_was_stated_where_the_loop_did_not_take_the_answer() {
        let mut line = Line::default();
        next(&mut line, &request(&["a", "b"]));
        line.answer(&Message::user("c")).unwrap();
        let next = next(&mut line, &request(&["a", "b", "d"]));
        assert_eq!((next.keep, texts(&next)), (2, vec!["d".to_owned()]));
    }

    #[test]
    fn compares_everything_after_a_compaction() {
        let mut line = Line::default();
        next(&mut line, &request(&["a", "b", "c"]));
        line.doubt();
        let next = next(&mut line, &request(&["a", "B", "c"]));
        assert_eq!(
            (next.keep, texts(&next)),
            (1, vec!["B".to_owned(), "c".to_owned()])
        );
    }

    #[test]
    fn the_checksum_is_that_of_the_whole_request() {
        let mut line = Line::default();
        next(&mut line, &request(&["a"]));
        let grown = next(&mut line, &request(&["a", "b"]));
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
