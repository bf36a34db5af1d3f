use neuron_types::{CacheControl, CacheTtl};
use serde::Serialize;

use crate::{block::Block, request::Body};

/// The API takes no more markers than this in one request.
const MOST_MARKERS: usize = 4;

const HOUR: &str = "1h";

/// Ends a cached prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Marker {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl Marker {
    /// With this life; the API's default where `None`.
    fn new(ttl: Option<CacheTtl>) -> Self {
        Self {
            kind: "ephemeral",
            ttl: ttl.map(|ttl| match ttl {
                CacheTtl::FiveMinutes => "5m",
                CacheTtl::OneHour => HOUR,
            }),
        }
    }

    fn is_short(self) -> bool {
        self.ttl != Some(HOUR)
    }
}

impl From<&CacheControl> for Marker {
    fn from(control: &CacheControl) -> Self {
        Self::new(control.ttl)
    }
}

/// Marks the last tool, the last system block and the last block of the two newest user messages.
///
/// The older of those two ends where the request before this one ended, so what that one wrote to the cache
/// is found however many calls came in between: the API looks back 20 blocks from a marker and no further.
///
/// Where tools or system have markers, they stand and only user messages get more: those come after, as the
/// order of lives demands. Where the conversation or the request's top level has one, nothing is added.
pub(crate) fn place(body: &mut Body<'_>, ttl: Option<CacheTtl>) {
    let blocks = body.messages.iter().flat_map(|message| &message.content);
    if body.extra_has("cache_control") || blocks.into_iter().any(Block::has_own_marker) {
        return;
    }
    let own: Vec<Marker> = body
        .tools
        .iter()
        .filter_map(|tool| tool.cache_control)
        .chain(body.system.iter().filter_map(|part| part.cache_control))
        .collect();
    let mut left = MOST_MARKERS.saturating_sub(own.len());
    // A longer life must not come after a shorter one.
    let ttl = ttl.filter(|_| !own.iter().any(|marker| marker.is_short()));
    let marker = Marker::new(ttl);
    if own.is_empty() {
        if let Some(tool) = body.tools.last_mut() {
            tool.cache_control = Some(marker);
            left -= 1;
        }
        if let Some(part) = body.system.last_mut() {
            part.cache_control = Some(marker);
            left -= 1;
        }
    }
    let newest = body.messages.iter_mut().rev();
    let newest = newest.filter(|message| message.role == "user");
    for message in newest.take(left.min(2)) {
        let mut last_first = message.content.iter_mut().rev();
        let _marked = last_first.any(|block| block.mark(marker));
    }
}
