//! The conversations that a worker remembers, bounded.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::transcript::Transcript;

/// Conversations by the id of Temporal's run. Those that were used longest ago go first.
#[derive(Debug)]
pub(crate) struct TranscriptCache {
    max_bytes: usize,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    by_run: HashMap<String, Entry>,
    bytes: usize,
    uses: u64,
}

#[derive(Debug)]
struct Entry {
    transcript: Transcript,
    bytes: usize,
    used: u64,
}

impl TranscriptCache {
    /// A cache of conversations of so many bytes of JSON together. With 0 nothing is remembered.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            entries: Mutex::default(),
        }
    }

    /// Takes a conversation out, so that it has one user.
    pub(crate) fn take(&self, run: &str) -> Option<Transcript> {
        let mut entries = self.entries();
        let entry = entries.by_run.remove(run)?;
        entries.bytes -= entry.bytes;
        Some(entry.transcript)
    }

    /// Puts a conversation in.
    pub(crate) fn put(&self, run: String, transcript: Transcript) {
        let bytes = transcript.bytes();
        if bytes > self.max_bytes || self.max_bytes == 0 {
            return;
        }
        let mut entries = self.entries();
        entries.uses += 1;
        let used = entries.uses;
        let entry = Entry {
            transcript,
            bytes,
            used,
        };
        entries.bytes += bytes;
        if let Some(replaced) = entries.by_run.insert(run, entry) {
            entries.bytes -= replaced.bytes;
        }
        while entries.bytes > self.max_bytes {
            let oldest = entries.by_run.iter().min_by_key(|(_, entry)| entry.used);
            let Some(run) = oldest.map(|(run, _)| run.clone()) else {
                return;
            };
            if let Some(evicted) = entries.by_run.remove(&run) {
                entries.bytes -= evicted.bytes;
            }
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use neuron_types::Message;

    use super::*;

    fn of_bytes(bytes: usize) -> Transcript {
        let mut transcript = Transcript::default();
        transcript.answer(&Message::user("")).unwrap();
        let text = "x".repeat(bytes - transcript.bytes());
        let mut transcript = Transcript::default();
        transcript.answer(&Message::user(text)).unwrap();
        assert_eq!(transcript.bytes(), bytes);
        transcript
    }

    #[test]
    fn forgets_what_was_used_longest_ago() {
        let cache = TranscriptCache::new(1_000);
        cache.put("a".into(), of_bytes(400));
        cache.put("b".into(), of_bytes(400));
        let a = cache.take("a").unwrap();
        cache.put("a".into(), a);
        cache.put("c".into(), of_bytes(400));
        assert!(cache.take("b").is_none());
        assert!(cache.take("a").is_some());
        assert!(cache.take("c").is_some());
        assert_eq!(cache.entries().bytes, 0);
    }

    #[test]
    fn remembers_nothing_that_is_larger_than_it_is() {
        let cache = TranscriptCache::new(100);
        cache.put("a".into(), of_bytes(400));
        assert!(cache.take("a").is_none());
    }
}
