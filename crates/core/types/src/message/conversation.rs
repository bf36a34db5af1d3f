//! A conversation that is cheap to hand around.

use std::{fmt, ops::Deref, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{Message, json::shared};

/// Messages, oldest first. A clone is a pointer copy; changing messages that are shared copies them first, and only
/// then.
///
/// It reads as a slice of messages, and stands in JSON as a list of them.
///
/// ```
/// use neuron_types::{Conversation, Message};
///
/// let mut conversation = Conversation::from(vec![Message::user("hello")]);
/// let before = conversation.clone();
/// conversation.push(Message::assistant("Hello."));
/// assert_eq!((before.len(), conversation.len()), (1, 2));
/// assert_eq!(conversation[1].text(), "Hello.");
/// ```
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Conversation(#[serde(with = "shared")] Arc<Vec<Message>>);

impl Conversation {
    /// Adds a message.
    pub fn push(&mut self, message: Message) {
        self.make_mut().push(message);
    }

    /// Returns the messages, to be changed. Copies them if they are shared.
    pub fn make_mut(&mut self) -> &mut Vec<Message> {
        Arc::make_mut(&mut self.0)
    }

    /// Returns the messages. Copies them if they are shared.
    #[must_use]
    pub fn into_messages(self) -> Vec<Message> {
        Arc::unwrap_or_clone(self.0)
    }
}

impl Deref for Conversation {
    type Target = [Message];

    fn deref(&self) -> &[Message] {
        &self.0
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Vec<Message>> for Conversation {
    fn from(messages: Vec<Message>) -> Self {
        Self(Arc::new(messages))
    }
}

impl FromIterator<Message> for Conversation {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Self {
        Vec::from_iter(messages).into()
    }
}

impl Extend<Message> for Conversation {
    fn extend<I: IntoIterator<Item = Message>>(&mut self, messages: I) {
        self.make_mut().extend(messages);
    }
}

impl<'a> IntoIterator for &'a Conversation {
    type Item = &'a Message;
    type IntoIter = std::slice::Iter<'a, Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq<[Message]> for Conversation {
    fn eq(&self, other: &[Message]) -> bool {
        **self == *other
    }
}

impl PartialEq<Vec<Message>> for Conversation {
    fn eq(&self, other: &Vec<Message>) -> bool {
        **self == **other
    }
}
