//! A conversation's new messages in parts that fit into one input each.

use neuron_types::{CompletionRequest, Message};

use crate::{
    digest::{Chain, Digest, digest},
    payload::{Delta, More},
};

/// The messages of one delta have no more bytes of JSON, unless a single block has: Temporal takes 2 MiB.
pub(crate) const PART_BYTES: usize = 1_400_000;

/// New messages on their way into deltas.
pub(crate) struct Parts<'a> {
    chain: &'a mut Chain,
    head_digest: Digest,
    done: Vec<Delta>,
    part: Delta,
    /// Of the part.
    bytes: usize,
}

impl<'a> Parts<'a> {
    /// Messages behind the first `keep` of a conversation, with a changed head of so many bytes.
    pub(crate) fn begin(
        chain: &'a mut Chain,
        head_digest: Digest,
        keep: usize,
        head: Option<Box<CompletionRequest>>,
        bytes: usize,
    ) -> Self {
        Self {
            chain,
            head_digest,
            done: Vec::new(),
            part: Delta {
                head,
                ..following(keep)
            },
            bytes,
        }
    }

    /// Adds a message.
    pub(crate) fn add(&mut self, message: &Message) -> Result<(), serde_json::Error> {
        let before = self.chain.bytes();
        self.chain.push(message)?;
        let bytes = self.chain.bytes() - before;
        if self.bytes + bytes <= PART_BYTES {
            self.part.messages.push(message.clone());
            self.bytes += bytes;
            return Ok(());
        }
        let index = self.chain.len() - 1;
        self.chain.truncate(index);
        if bytes > PART_BYTES && message.content.len() > 1 {
            return self.add_in_pieces(message, index);
        }
        if self.bytes > 0 {
            self.cut(index);
        }
        self.chain.push(message)?;
        self.part.messages.push(message.clone());
        self.bytes += bytes;
        Ok(())
    }

    /// Adds a message block by block.
    fn add_in_pieces(&mut self, message: &Message, index: usize) -> Result<(), serde_json::Error> {
        let mut said = Message {
            content: Vec::new(),
            ..message.clone()
        };
        for block in &message.content {
            let (_, bytes) = digest(&Digest::default(), block)?;
            let is_begun = !said.content.is_empty();
            if self.bytes > 0 && self.bytes + bytes > PART_BYTES {
                if is_begun {
                    self.chain.push(&said)?;
                }
                self.cut(index + usize::from(is_begun));
                self.chain.truncate(index);
                if is_begun {
                    self.part.more = Some(More {
                        after: said.content.len(),
                        blocks: Vec::new(),
                    });
                }
            }
            self.bytes += bytes;
            said.content.push(block.clone());
            match (&mut self.part.more, self.part.messages.last_mut()) {
                (Some(more), None) => more.blocks.push(block.clone()),
                (_, Some(last)) if is_begun => last.content.push(block.clone()),
                _ => self.part.messages.push(said.clone()),
            }
        }
        self.chain.push(&said)
    }

    /// Ends a part. The next keeps so many messages.
    fn cut(&mut self, keep: usize) {
        let next = following(keep);
        let mut part = std::mem::replace(&mut self.part, next);
        part.checksum = self.chain.checksum(&self.head_digest);
        self.done.push(part);
        self.bytes = 0;
    }

    /// The deltas, one at least.
    pub(crate) fn end(mut self) -> Vec<Delta> {
        self.part.checksum = self.chain.checksum(&self.head_digest);
        self.done.push(self.part);
        self.done
    }
}

/// A delta without anything new yet.
fn following(keep: usize) -> Delta {
    Delta {
        keep,
        more: None,
        messages: Vec::new(),
        head: None,
        aside: false,
        checksum: String::new(),
    }
}
