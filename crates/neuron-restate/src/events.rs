//! Events as values of a service's state: a chunk for all that were written at once.

use neuron_types::RecordedEvent;
use restate_sdk::{endpoint::ContextInternal, errors::TerminalError, serde::Json};

/// What the keys of chunks start with.
const PREFIX: &str = "events-";

/// How many events are told at once.
const MOST: usize = 1_000;

/// How many bytes of events are told at once: far less than the 32 MiB that Restate takes in one message.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// How many chunks are asked for at once.
const AT_ONCE: usize = 16;

/// The state key of the events that start with this one. Keys sort like the numbers.
fn key(first_seq: u64) -> String {
    format!("{PREFIX}{first_seq:010}")
}

pub(crate) fn write(ctx: &ContextInternal, events: Vec<RecordedEvent>) {
    if let Some(first) = events.first() {
        ctx.set(&key(first.seq), Json(events));
    }
}

/// The first of the events behind this number, in order: none if there are none, else so many that the next
/// page can be asked for with the number of the last.
pub(crate) async fn read(
    ctx: &ContextInternal,
    after: u64,
) -> Result<Vec<RecordedEvent>, TerminalError> {
    let mut keys = ctx.get_keys().await?;
    keys.retain(|key| key.starts_with(PREFIX));
    keys.sort_unstable();
    let first_seq = |key: &String| {
        let digits = key.strip_prefix(PREFIX).unwrap_or_default();
        digits.parse().unwrap_or(0)
    };
    // The last chunk that starts at or before the first wanted event may hold it.
    let wanted = after.saturating_add(1);
    let skipped = keys.partition_point(|key| first_seq(key) <= wanted);
    let keys = keys.split_off(skipped.saturating_sub(1));
    let mut page = Page::behind(after);
    for keys in keys.chunks(AT_ONCE) {
        // All are asked for before one is waited for.
        let chunks: Vec<_> = keys.iter().map(|key| ctx.get::<Vec<u8>>(key)).collect();
        for chunk in chunks {
            if let Some(chunk) = chunk.await? {
                page.add(&chunk).map_err(TerminalError::from_error)?;
            }
        }
        if page.is_full {
            break;
        }
    }
    Ok(page.events)
}

/// As many events as are told at once.
struct Page {
    after: u64,
    events: Vec<RecordedEvent>,
    bytes: usize,
    is_full: bool,
}

impl Page {
    fn behind(after: u64) -> Self {
        Self {
            after,
            events: Vec::new(),
            bytes: 0,
            is_full: false,
        }
    }

    /// Takes in what is wanted of the next chunk, if there is room.
    fn add(&mut self, chunk: &[u8]) -> Result<(), serde_json::Error> {
        // A chunk that is larger than a page is a page. It came in one message, so it goes in one.
        if !self.events.is_empty() && self.bytes + chunk.len() > MOST_BYTES {
            self.is_full = true;
        }
        if self.is_full {
            return Ok(());
        }
        let chunk_events: Vec<RecordedEvent> = serde_json::from_slice(chunk)?;
        let wanted = chunk_events
            .into_iter()
            .filter(|event| event.seq > self.after);
        let before = self.events.len();
        self.events.extend(wanted);
        if self.events.len() > before {
            self.bytes += chunk.len();
        }
        if self.events.len() >= MOST {
            self.events.truncate(MOST);
            self.is_full = true;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use neuron_types::RunEvent;

    use super::*;

    fn chunk(numbers: std::ops::RangeInclusive<u64>, bytes: usize) -> Vec<u8> {
        let events = numbers.map(|seq| RecordedEvent {
            seq,
            at: DateTime::UNIX_EPOCH,
            event: RunEvent::MessageReceived {
                text: "x".repeat(bytes),
            },
        });
        serde_json::to_vec(&events.collect::<Vec<_>>()).unwrap()
    }

    /// The numbers on each page of these chunks.
    fn pages(chunks: &[Vec<u8>]) -> Vec<Vec<u64>> {
        let mut pages: Vec<Vec<u64>> = Vec::new();
        loop {
            let last = pages.last().and_then(|page| page.last());
            let mut page = Page::behind(last.copied().unwrap_or(0));
            for chunk in chunks {
                page.add(chunk).unwrap();
            }
            if page.events.is_empty() {
                return pages;
            }
            pages.push(page.events.iter().map(|event| event.seq).collect());
        }
    }

    #[test]
    fn a_page_ends_before_the_chunk_that_would_make_it_too_large() {
        let half = MOST_BYTES / 2;
        let chunks = [
            chunk(1..=1, half - 1_000),
            chunk(2..=3, 10),
            chunk(4..=4, half + 1_000),
            chunk(5..=5, 10),
        ];
        assert_eq!(pages(&chunks), [vec![1, 2, 3], vec![4, 5]]);
    }

    #[test]
    fn a_chunk_that_is_larger_than_a_page_is_told_alone() {
        let chunks = [chunk(1..=1, 10), chunk(2..=3, MOST_BYTES), chunk(4..=4, 10)];
        assert_eq!(pages(&chunks), [vec![1], vec![2, 3], vec![4]]);
    }

    #[test]
    fn a_page_has_a_thousand_events_and_the_next_goes_on_in_the_middle_of_a_chunk() {
        let chunks = [chunk(1..=600, 1), chunk(601..=1_200, 1)];
        let pages = pages(&chunks);
        assert_eq!(
            pages,
            [Vec::from_iter(1..=1_000), Vec::from_iter(1_001..=1_200)]
        );
    }
}
