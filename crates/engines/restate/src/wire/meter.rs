//! The size of an invocation's journal.

use std::sync::atomic::{AtomicU64, Ordering};

use hyper::body::Bytes;
use neuron_engine::SegmentSize;
use restate_sdk::serde::{Deserialize, Json, Serialize};
use serde::de::DeserializeOwned;

/// The entries of a value that is written, without an answer.
pub(crate) const WRITE: u64 = 1;

/// The entries of an operation that the server or this worker completes: the request and the answer.
pub(crate) const ASK: u64 = 2;

/// The entries of a call of another handler: with the id that the server gives it.
pub(crate) const CALL: u64 = 3;

/// Counts what one invocation journals: its entries, and the bytes of the results that were read, as they are
/// journaled. What is written follows from them. A replay counts the same: the operations are the same, and the
/// results are read from the journal.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    entries: AtomicU64,
    bytes: AtomicU64,
}

impl Meter {
    pub(crate) fn count(&self, entries: u64) {
        self.entries.fetch_add(entries, Ordering::Relaxed);
    }

    /// Returns the value of a result that was read from the journal, and counts it.
    pub(crate) fn read<T>(&self, result: Weighed<T>) -> T {
        self.bytes.fetch_add(result.bytes, Ordering::Relaxed);
        result.value
    }

    pub(crate) fn size(&self) -> SegmentSize {
        SegmentSize::new(
            self.entries.load(Ordering::Relaxed),
            self.bytes.load(Ordering::Relaxed),
        )
    }
}

/// A JSON value that knows its size in bytes.
#[derive(Debug, Clone)]
pub(crate) struct Weighed<T> {
    value: T,
    bytes: u64,
}

impl<T> Weighed<T> {
    /// Returns the value without counting it.
    pub(crate) const fn value(&self) -> &T {
        &self.value
    }
}

impl<T> From<T> for Weighed<T> {
    fn from(value: T) -> Self {
        Self { value, bytes: 0 }
    }
}

impl<T: serde::Serialize> Serialize for Weighed<T> {
    type Error = serde_json::Error;

    fn serialize(&self) -> Result<Bytes, serde_json::Error> {
        Json(&self.value).serialize()
    }
}

impl<T: DeserializeOwned> Deserialize for Weighed<T> {
    type Error = serde_json::Error;

    fn deserialize(bytes: &mut Bytes) -> Result<Self, serde_json::Error> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let Json(value) = Json::deserialize(bytes)?;
        Ok(Self {
            value,
            bytes: length,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_counted_as_they_stand_in_the_journal() {
        let meter = Meter::default();
        meter.count(ASK);
        let mut journaled = Weighed::from("ab").serialize().unwrap();
        let text: String = meter.read(Weighed::deserialize(&mut journaled).unwrap());
        assert_eq!(text, "ab");
        assert_eq!(meter.size(), SegmentSize::new(2, 4));
    }
}
