//! What a worker remembers of its runs, so that it need not read their histories.

use neuron_types::ContentItem;

use crate::conversation::{byte_cache::ByteCache, known_results::length, transcript::Transcript};

/// Conversations, and tool results that are not yet part of a model call, by Temporal's run id.
#[derive(Debug)]
pub(crate) struct Memory {
    transcripts: ByteCache<String, Transcript>,
    /// By run and name of the step.
    results: ByteCache<(String, String), Vec<ContentItem>>,
}

impl Memory {
    /// Returns a memory of so many bytes of JSON: three quarters of them for conversations. With 0 nothing is
    /// remembered.
    pub(crate) fn new(max_bytes: usize) -> Self {
        let results = max_bytes / 4;
        Self {
            transcripts: ByteCache::new(max_bytes - results),
            results: ByteCache::new(results),
        }
    }

    /// Takes a conversation out, so that it has one user.
    pub(crate) fn take(&self, run: &str) -> Option<Transcript> {
        self.transcripts.take(&run.to_owned())
    }

    /// Remembers a conversation.
    pub(crate) fn put(&self, run: String, transcript: Transcript) {
        let bytes = transcript.bytes();
        self.transcripts.put(run, transcript, bytes);
    }

    /// Returns the result of a step.
    pub(crate) fn result(&self, run: &str, step: &str) -> Option<Vec<ContentItem>> {
        self.results.get(&(run.to_owned(), step.to_owned()))
    }

    /// Remembers the result of a step until it is [forgotten](Self::forget_result).
    pub(crate) fn put_result(&self, run: &str, step: String, content: &[ContentItem]) {
        let bytes = length(content);
        let key = (run.to_owned(), step);
        self.results.put(key, content.to_vec(), bytes);
    }

    /// Forgets the result of a step: a conversation contains it.
    pub(crate) fn forget_result(&self, run: &str, step: &str) {
        drop(self.results.take(&(run.to_owned(), step.to_owned())));
    }
}
