//! The API's own search of tools.

use std::{borrow::Cow, collections::BTreeSet};

use neuron_types::{CompletionRequest, ContentBlock, RequestHead};
use serde_json::Value;

/// What the API calls it.
pub(crate) const KIND: &str = "tool_search_tool_bm25_20251119";
/// What the model calls it.
pub(crate) const NAME: &str = "tool_search_tool_bm25";

/// What the kinds of it and their names begin with.
const KINDS: &str = "tool_search_tool_";
const RESULT: &str = "tool_search_tool_result";
const REFERENCES: &str = "/content/tool_references";

/// Returns whether the search is to be added: there is something to search, or the conversation holds a search, whose blocks the API
/// takes beside the tool alone. A request may bring a search itself.
pub(crate) fn is_added(request: &CompletionRequest, native: &[Value]) -> bool {
    let is_search = |tool: &Value| kind(tool).is_some_and(|kind| kind.starts_with(KINDS));
    if native.iter().any(is_search) {
        return false;
    }
    let mut blocks = request.messages.iter().flat_map(|message| &message.content);
    !request.searched_tools.is_empty()
        || blocks.any(|block| matches!(block, ContentBlock::Other(block) if is_of_search(block)))
}

/// Returns whether a block is a call of the search or a result of it.
fn is_of_search(block: &Value) -> bool {
    match kind(block) {
        Some(RESULT) => true,
        Some("server_tool_use") => called(block).is_some_and(|name| name.starts_with(KINDS)),
        _ => false,
    }
}

/// Returns the names of the tools that the search has found, as far as its results are still in the conversation.
pub(crate) fn found(request: &CompletionRequest) -> BTreeSet<&str> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let results = blocks.filter_map(|block| match block {
        ContentBlock::Other(block) => references(block),
        _ => None,
    });
    results.flatten().filter_map(name).collect()
}

/// Returns a block without what it says of tools that the request does not have: the API rejects that. Where the request brings
/// tools of the API's own without a name, such as those of a server, which of them there are is not known, and the block stays as
/// it is.
pub(crate) fn known<'a>(block: &'a Value, request: &RequestHead) -> Cow<'a, Value> {
    let Some(found) = references(block) else {
        return Cow::Borrowed(block);
    };
    let extra = request.extra.as_ref();
    let native = extra.and_then(|extra| extra.get("tools")?.as_array());
    let native = native.map(Vec::as_slice).unwrap_or_default();
    if native.iter().any(|tool| called(tool).is_none()) {
        return Cow::Borrowed(block);
    }
    let is_known = |reference: &Value| {
        let tools = request.tools.iter().chain(&request.searched_tools);
        let own = tools.map(|tool| tool.name.as_str());
        let mut names = own.chain(native.iter().filter_map(called));
        name(reference).is_none_or(|name| names.any(|known| known == name))
    };
    if found.iter().all(is_known) {
        return Cow::Borrowed(block);
    }
    let mut block = block.clone();
    if let Some(Value::Array(found)) = block.pointer_mut(REFERENCES) {
        found.retain(is_known);
    }
    Cow::Owned(block)
}

/// Returns what a block says that was found, if it is a result of the search.
fn references(block: &Value) -> Option<&Vec<Value>> {
    let is_result = kind(block) == Some(RESULT);
    let found = block.pointer(REFERENCES).filter(|_| is_result);
    found.and_then(Value::as_array)
}

fn name(reference: &Value) -> Option<&str> {
    reference.get("tool_name")?.as_str()
}

/// Returns what one of the API's own tools is called, or what a call of one calls.
fn called(tool: &Value) -> Option<&str> {
    tool.get("name")?.as_str()
}

fn kind(value: &Value) -> Option<&str> {
    value.get("type")?.as_str()
}
