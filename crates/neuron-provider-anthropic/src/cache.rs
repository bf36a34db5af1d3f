use neuron_types::{CacheControl, CacheTtl};
use serde::Serialize;

use crate::request::Body;

/// The API takes no more markers than this in one request.
const MOST_MARKERS: usize = 4;

/// Ends a cached prefix.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Marker {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl Marker {
    /// With the API's default life.
    const AUTOMATIC: Self = Self {
        kind: "ephemeral",
        ttl: None,
    };
}

impl From<&CacheControl> for Marker {
    fn from(control: &CacheControl) -> Self {
        let ttl = control.ttl.map(|ttl| match ttl {
            CacheTtl::FiveMinutes => "5m",
            CacheTtl::OneHour => "1h",
        });
        Self {
            ttl,
            ..Self::AUTOMATIC
        }
    }
}

/// Marks the last tool, the last system block and the last block of the newest user message.
///
/// A request that has markers keeps them and gets only the last of the three: it always comes after
/// theirs, as the order of lives demands, and the others might not.
pub(crate) fn place(body: &mut Body<'_>) {
    let own = body.tools.iter().filter_map(|tool| tool.cache_control);
    let own = own.chain(body.system.iter().filter_map(|part| part.cache_control));
    let own = own.count();
    if own == 0 {
        if let Some(tool) = body.tools.last_mut() {
            tool.cache_control = Some(Marker::AUTOMATIC);
        }
        if let Some(part) = body.system.last_mut() {
            part.cache_control = Some(Marker::AUTOMATIC);
        }
    }
    if own < MOST_MARKERS {
        let mut newest_first = body.messages.iter_mut().rev();
        if let Some(message) = newest_first.find(|message| message.role == "user") {
            let mut last_first = message.content.iter_mut().rev();
            let _marked = last_first.any(|block| block.mark(Marker::AUTOMATIC));
        }
    }
}
