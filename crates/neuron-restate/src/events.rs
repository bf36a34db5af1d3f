//! Events as values of a service's state: a chunk for all that were written at once.

use neuron_types::RecordedEvent;
use restate_sdk::{endpoint::ContextInternal, errors::TerminalError, serde::Json};

/// What the keys of chunks start with.
const PREFIX: &str = "events-";

/// The state key of the events that start with this one. Keys sort like the numbers.
fn key(first_seq: u64) -> String {
    format!("{PREFIX}{first_seq:010}")
}

pub(crate) fn write(ctx: &ContextInternal, events: Vec<RecordedEvent>) {
    if let Some(first) = events.first() {
        ctx.set(&key(first.seq), Json(events));
    }
}

/// The events behind this number, in order.
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
    let chunks = keys.iter().skip(skipped.saturating_sub(1));
    // All are asked for before one is waited for.
    let chunks: Vec<_> = chunks
        .map(|key| ctx.get::<Json<Vec<RecordedEvent>>>(key))
        .collect();
    let mut events = Vec::new();
    for chunk in chunks {
        if let Some(Json(chunk)) = chunk.await? {
            events.extend(chunk.into_iter().filter(|event| event.seq > after));
        }
    }
    Ok(events)
}
