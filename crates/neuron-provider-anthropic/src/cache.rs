use neuron_types::{CacheControl, CacheTtl};
use serde::Serialize;
use serde_json::Value;

use crate::{block::Block, request::Body, tool::Tool};

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

    /// The marker that something in the API's own words brought.
    pub(crate) fn of_native(block: &Value) -> Option<Self> {
        let control = block.get("cache_control").filter(|own| !own.is_null())?;
        let hour = control.get("ttl").and_then(Value::as_str) == Some(HOUR);
        Some(Self::new(hour.then_some(CacheTtl::OneHour)))
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
        .filter_map(Tool::marker)
        .chain(body.system.iter().filter_map(|part| part.cache_control))
        .collect();
    let mut left = MOST_MARKERS.saturating_sub(own.len());
    // A longer life must not come after a shorter one.
    let ttl = ttl.filter(|_| !own.iter().any(|marker| marker.is_short()));
    let marker = Marker::new(ttl);
    if own.is_empty() {
        let mut last_first = body.tools.iter_mut().rev();
        if last_first.any(|tool| tool.mark(marker)) {
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
