//! The sessions of a world.

use std::sync::Arc;

use neuron_executor::{SessionTaker, Sessions};
use neuron_types::{Conversation, FailureKind, Message, StepFailure, WasmBoxedFuture};

/// Sessions with one, `notes`, that has a conversation. A run that is not over has all others.
#[derive(Debug)]
struct WorldSessions;

/// Returns the sessions of a world's executors, for runs that continue one.
pub(super) fn sessions() -> Arc<dyn Sessions> {
    Arc::new(WorldSessions)
}

impl Sessions for WorldSessions {
    fn take<'a>(
        &'a self,
        taker: SessionTaker<'a>,
    ) -> WasmBoxedFuture<'a, Result<Conversation, StepFailure>> {
        Box::pin(async move {
            let SessionTaker {
                session, tenant, ..
            } = taker;
            if session.as_str() != "notes" {
                let message = format!("session {session} is with another run");
                return Err(StepFailure::new(FailureKind::InvalidRequest, message));
            }
            let said = format!("What {} said.", tenant.unwrap_or("nobody"));
            Ok(vec![Message::user(said), Message::assistant("Noted.")].into())
        })
    }
}
