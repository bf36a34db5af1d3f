//! A conversation's new messages in chunks that each fit into one input.

use neuron_types::{Message, RequestHead, json_bytes};

use crate::{
    conversation::digest::{Chain, Digests},
    wire::{
        activity_inputs::{Delta, More},
        stated::{StatedBlock, StatedMessage},
    },
};

/// The most bytes of JSON in the messages of one delta, unless a single block has more: Temporal takes 2 MiB.
pub(crate) const CHUNK_BYTES: usize = 1_400_000;

/// New messages that are being split into deltas.
pub(crate) struct Chunks<'a> {
    chain: &'a mut Chain,
    head_digests: Digests,
    done: Vec<Delta>,
    chunk: Delta,
    /// The size of the chunk.
    bytes: usize,
}

impl<'a> Chunks<'a> {
    /// Begins with messages behind the first `keep` of a conversation, with a changed head of so many bytes.
    pub(crate) fn begin(
        chain: &'a mut Chain,
        head_digests: Digests,
        keep: usize,
        head: Option<Box<RequestHead>>,
        bytes: usize,
    ) -> Self {
        Self {
            chain,
            head_digests,
            done: Vec::new(),
            chunk: Delta {
                head,
                ..following(keep)
            },
            bytes,
        }
    }

    /// Adds a message in this stated form.
    pub(crate) fn add(
        &mut self,
        message: &Message,
        stated: StatedMessage,
    ) -> Result<(), serde_json::Error> {
        let before = self.chain.bytes();
        self.chain.push(message)?;
        let bytes = if stated.names().next().is_none() {
            self.chain.bytes() - before
        } else {
            json_bytes(&stated)?
        };
        if self.bytes + bytes <= CHUNK_BYTES {
            self.chunk.messages.push(stated);
            self.bytes += bytes;
            return Ok(());
        }
        let index = self.chain.len() - 1;
        self.chain.truncate(index);
        if bytes > CHUNK_BYTES && message.content.len() > 1 {
            return self.add_in_pieces(message, stated, index);
        }
        if self.bytes > 0 {
            self.cut(index);
        }
        self.chain.push(message)?;
        self.chunk.messages.push(stated);
        self.bytes += bytes;
        Ok(())
    }

    /// Adds a message block by block.
    fn add_in_pieces(
        &mut self,
        message: &Message,
        stated: StatedMessage,
        index: usize,
    ) -> Result<(), serde_json::Error> {
        let mut said = Message {
            role: message.role,
            content: Vec::new(),
        };
        for (block, stated) in message.content.iter().zip(stated.content) {
            let bytes = match &stated {
                StatedBlock::Named(named) => json_bytes(named)?,
                StatedBlock::Whole(block) => Digests::of(block)?.1,
            };
            let is_begun = !said.content.is_empty();
            if self.bytes > 0 && self.bytes + bytes > CHUNK_BYTES {
                if is_begun {
                    self.chain.push(&said)?;
                }
                self.cut(index + usize::from(is_begun));
                self.chain.truncate(index);
                if is_begun {
                    self.chunk.more = Some(More {
                        after: said.content.len(),
                        blocks: Vec::new(),
                    });
                }
            }
            self.bytes += bytes;
            said.content.push(block.clone());
            match (&mut self.chunk.more, self.chunk.messages.last_mut()) {
                (Some(more), None) => more.blocks.push(stated),
                (_, Some(last)) if is_begun => last.content.push(stated),
                _ => self.chunk.messages.push(StatedMessage {
                    role: message.role,
                    content: vec![stated],
                }),
            }
        }
        self.chain.push(&said)
    }

    /// Ends a chunk. The next chunk keeps so many messages.
    fn cut(&mut self, keep: usize) {
        let next = following(keep);
        self.sum_up();
        let chunk = std::mem::replace(&mut self.chunk, next);
        self.done.push(chunk);
        self.bytes = 0;
    }

    /// Returns the deltas, at least one.
    pub(crate) fn end(mut self) -> Vec<Delta> {
        self.sum_up();
        self.done.push(self.chunk);
        self.done
    }

    /// Records the checksum of the conversation with the chunk.
    fn sum_up(&mut self) {
        self.chunk.checksum = self.chain.checksum(&self.head_digests);
        self.chunk.sum = Some(self.chain.sum(&self.head_digests));
    }
}

/// Returns a delta without anything new.
fn following(keep: usize) -> Delta {
    Delta {
        keep,
        more: None,
        messages: Vec::new(),
        head: None,
        aside: false,
        checksum: String::new(),
        sum: None,
    }
}
