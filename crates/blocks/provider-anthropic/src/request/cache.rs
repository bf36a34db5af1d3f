use neuron_types::CacheTtl;

use crate::request::{
    block::Block, marker::Marker, message::WireMessage, system::SystemPart, tool::Tool,
};

/// The API takes no more markers than this in one request.
const MOST_MARKERS: usize = 4;

/// Marks the last tool, the last system block and the last block of the two newest user messages.
///
/// The older of those two ends where the request before this one ended, so what that one wrote to the cache
/// is found however many calls came in between: the API looks back 20 blocks from a marker and no further.
///
/// Where tools or system have markers, they stand and only user messages get more: those come after, as the
/// order of lives demands. Where the conversation has one, nothing is added.
pub(crate) fn place(
    system: &mut [SystemPart<'_>],
    tools: &mut [Tool<'_>],
    messages: &mut [WireMessage<'_>],
    ttl: Option<CacheTtl>,
) {
    let mut blocks = messages.iter().flat_map(|message| &message.content);
    if blocks.any(Block::has_own_marker) {
        return;
    }
    let own: Vec<Marker> = tools
        .iter()
        .filter_map(Tool::marker)
        .chain(system.iter().filter_map(|part| part.cache_control))
        .collect();
    let mut left = MOST_MARKERS.saturating_sub(own.len());
    // A longer life must not come after a shorter one.
    let ttl = ttl.filter(|_| !own.iter().any(|marker| marker.is_short()));
    let marker = Marker::new(ttl);
    if own.is_empty() {
        let mut last_first = tools.iter_mut().rev();
        if last_first.any(|tool| tool.mark(marker)) {
            left -= 1;
        }
        if let Some(part) = system.last_mut() {
            part.cache_control = Some(marker);
            left -= 1;
        }
    }
    let newest = messages.iter_mut().rev();
    let newest = newest.filter(|message| message.role == "user");
    for message in newest.take(left.min(2)) {
        let mut last_first = message.content.iter_mut().rev();
        let _marked = last_first.any(|block| block.mark(marker));
    }
}
