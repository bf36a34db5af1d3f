//! Answers that this side gives to a waiting request in place of one that cannot be read or never comes.

use rmcp::model::{
    CallToolResult, ContentBlock, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage,
    ServerResult,
};

use crate::wire::{mend::Asked, secrets::Secrets};

/// The server answered, and the answer cannot be read. JSON-RPC reserves no such code.
pub(crate) const UNREADABLE: ErrorCode = ErrorCode(-31_701);
/// The request was sent, and its answer never comes. JSON-RPC reserves no such code.
pub(crate) const LOST: ErrorCode = ErrorCode(-31_702);
/// How much of an answer that cannot be read is shown.
const MAX_EXCERPT_CHARS: usize = 500;

/// Returns what stands in for an answer that cannot be read: for a call, a result that states this, since the call may
/// have taken effect; for a question, an error. Neither has any of the secrets.
pub(crate) fn unreadable(
    asked: Asked,
    id: RequestId,
    why: &str,
    answer: &str,
    secrets: &Secrets,
) -> ServerJsonRpcMessage {
    let excerpt = match answer.trim() {
        "" => String::new(),
        answer => format!(
            " It begins with: {}",
            secrets.shown(answer, MAX_EXCERPT_CHARS)
        ),
    };
    if matches!(asked, Asked::Call) {
        let text = format!("{}{excerpt}", notice(why));
        let result = CallToolResult::success(vec![ContentBlock::text(text)]);
        return ServerJsonRpcMessage::response(ServerResult::CallToolResult(result), id);
    }
    let reason = format!("its answer cannot be read: {why}.{excerpt}");
    ServerJsonRpcMessage::error(ErrorData::new(UNREADABLE, reason, None), Some(id))
}

/// Returns what stands in for an answer that never comes.
pub(crate) fn lost(id: RequestId, why: &str) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::new(LOST, why.to_owned(), None), Some(id))
}

/// Returns what the model reads of a call whose answer cannot be read.
pub(crate) fn notice(why: &str) -> String {
    format!(
        "The call was made and the server answered, but the answer cannot be read: {why}. The call may have taken \
         effect."
    )
}
