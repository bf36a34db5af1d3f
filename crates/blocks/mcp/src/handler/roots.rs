//! The folders to work in, as a server gets them.

#![allow(
    deprecated,
    reason = "the protocol is about to replace roots, and servers use them still"
)]

use rmcp::model::{ListRootsResult, Root};

use crate::McpClientHandler;

pub(crate) fn answer(handler: &dyn McpClientHandler) -> ListRootsResult {
    let roots = handler.roots().into_iter().map(|root| {
        let wire = Root::new(root.uri);
        match root.name {
            Some(name) => wire.with_name(name),
            None => wire,
        }
    });
    ListRootsResult::new(roots.collect())
}
