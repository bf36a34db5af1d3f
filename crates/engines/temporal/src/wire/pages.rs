//! Answers in parts: Temporal takes 2 MB for one answer.

use neuron_engine::RunLedger;
use neuron_types::{ContentBlock, Message, RecordedEvent, Role, json_bytes};
use serde::{Deserialize, Serialize};

/// The size from which on a part is complete.
const PAGE: usize = 1_500_000;

/// Some of the events of one history of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EventsPage {
    /// The id that Temporal gave the history.
    pub(crate) history: String,
    /// Temporal's id of the history before it.
    pub(crate) previous: Option<String>,
    /// The number of the first event of this history, whether it happened already or not.
    pub(crate) first: u64,
    pub(crate) events: Vec<RecordedEvent>,
    /// Whether there are more.
    pub(crate) more: bool,
}

/// Some messages of the conversation.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MessagesPage {
    pub(crate) history: String,
    /// A number that changes whenever messages that existed before have changed.
    pub(crate) form: u64,
    /// The messages. A message may have only some of its blocks: the rest is in the next part.
    pub(crate) messages: Vec<Message>,
    /// Whether the first message continues the last message of the part before.
    pub(crate) joins: bool,
    /// How much is known after this part.
    pub(crate) known: u64,
    /// Whether there are more.
    pub(crate) more: bool,
}

impl EventsPage {
    /// Returns the events behind number `after`.
    pub(crate) fn of(
        ledger: Option<&RunLedger>,
        previous: Option<&str>,
        history: &str,
        after: u64,
    ) -> Self {
        let known = ledger.map_or(&[][..], |ledger| ledger.events_after(after));
        let (events, more) = page(known, 0);
        Self {
            history: history.to_owned(),
            previous: previous.map(ToOwned::to_owned),
            first: ledger.map_or(1, |ledger| ledger.last() + 1 - ledger.events().len() as u64),
            events,
            more,
        }
    }
}

impl MessagesPage {
    /// Returns the messages behind the first `known` blocks; a message without blocks counts as one.
    pub(crate) fn of(messages: &[Message], form: u64, history: &str, known: u64) -> Self {
        let pieces: Vec<_> = messages.iter().flat_map(pieces).collect();
        let (taken, more) = page(&pieces, known);
        let mut joins = false;
        let mut messages: Vec<Message> = Vec::new();
        for (index, piece) in taken.iter().enumerate() {
            match (piece.begins, messages.last_mut()) {
                (false, Some(message)) => message.content.extend(piece.block.cloned()),
                (begins, _) => {
                    joins |= index == 0 && !begins;
                    messages.push(Message {
                        role: piece.role,
                        content: piece.block.cloned().into_iter().collect(),
                    });
                }
            }
        }
        Self {
            history: history.to_owned(),
            form,
            messages,
            joins,
            known: known.saturating_add(taken.len() as u64),
            more,
        }
    }

    /// Appends the part to those before it.
    pub(crate) fn append_to(self, conversation: &mut Vec<Message>) {
        let mut messages = self.messages.into_iter();
        if self.joins
            && let (Some(last), Some(rest)) = (conversation.last_mut(), messages.next())
        {
            last.content.extend(rest.content);
        }
        conversation.extend(messages);
    }
}

/// A block of a message.
#[derive(Debug, Clone, Serialize)]
struct Piece<'a> {
    role: Role,
    begins: bool,
    block: Option<&'a ContentBlock>,
}

fn pieces(message: &Message) -> Vec<Piece<'_>> {
    let piece = |begins, block| Piece {
        role: message.role,
        begins,
        block,
    };
    if message.content.is_empty() {
        return vec![piece(true, None)];
    }
    let blocks = message.content.iter().enumerate();
    blocks
        .map(|(index, block)| piece(index == 0, Some(block)))
        .collect()
}

/// Returns the items behind the first `after` until the page is full, at least one, and whether there are more.
fn page<T: Serialize + Clone>(items: &[T], after: u64) -> (Vec<T>, bool) {
    let after = usize::try_from(after).unwrap_or(usize::MAX);
    let rest = items.get(after..).unwrap_or_default();
    let mut bytes = 0;
    let enough = rest.iter().position(|item| {
        bytes += json_bytes(item).unwrap_or_default();
        bytes > PAGE
    });
    let taken = enough.map_or(rest.len(), |index| index.max(1));
    let page = rest.get(..taken).unwrap_or_default().to_vec();
    (page, taken < rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_comes_in_parts_of_messages_and_is_put_together_again() {
        let large = ContentBlock::Text("x".repeat(PAGE / 3));
        let message = |blocks: usize| Message {
            content: vec![large.clone(); blocks],
            ..Message::user("")
        };
        let conversation = [message(1), message(7), message(0), message(4), message(2)];
        let (mut read, mut known, mut parts) = (Vec::new(), 0, 0);
        loop {
            let page = MessagesPage::of(&conversation, 0, "h", known);
            assert!(json_bytes(&page).unwrap() < PAGE + 1_000);
            (known, parts) = (page.known, parts + 1);
            let more = page.more;
            page.append_to(&mut read);
            if !more {
                break;
            }
        }
        assert!(parts >= 5, "{parts}");
        assert_eq!(read, conversation);
    }

    #[test]
    fn a_page_has_one_item_at_least_and_says_if_there_are_more() {
        let large = "x".repeat(PAGE + 1);
        let items = [large.clone(), "a".into(), "b".into(), large];
        assert_eq!(page(&items, 0), (items[..1].to_vec(), true));
        assert_eq!(page(&items, 1), (items[1..3].to_vec(), true));
        assert_eq!(page(&items, 3), (items[3..].to_vec(), false));
        assert_eq!(page(&items, 9), (Vec::new(), false));
    }
}
