//! An executor room whose calls behave as their callers ask.

use std::{
    collections::BTreeSet,
    sync::{Arc, Condvar, Mutex, PoisonError},
};

use neuron_executor::Executor;
use neuron_patience::patience;
use neuron_tool::ToolRegistry;
use neuron_types::{
    CompletionRequest, CompletionResponse, Message, Provider, ProviderError, ToolContext,
    ToolDefinition, ToolDyn, ToolError, ToolOutput, WasmBoxedFuture,
};
use serde_json::Value;
use tokio::sync::watch;

use super::asking::Asked;
use crate::effects::definition_of;

/// A model, and the tools `read`, `put` and `write`, for the executor of a worker of this process. Calls carry their
/// own behaviour, so that one room is enough for the runs of all cases. Clones are one room.
#[derive(Debug, Clone)]
pub struct DoorRoom(Arc<State>);

#[derive(Debug)]
pub(super) struct State {
    calls: watch::Sender<Calls>,
    /// Calls that block their thread, and may continue.
    unblocked: Mutex<BTreeSet<Call>>,
    is_unblocked: Condvar,
}

/// A call by its run and its name there.
pub(super) type Call = (String, String);

/// What the room has seen, and what it releases.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The calls in the order in which they began.
    pub(super) begun: Vec<Call>,
    /// The calls that answered.
    pub(super) ended: Vec<Call>,
    /// The calls that are not held any longer.
    let_go: BTreeSet<Call>,
}

impl Default for DoorRoom {
    fn default() -> Self {
        Self(Arc::new(State {
            calls: watch::Sender::default(),
            unblocked: Mutex::default(),
            is_unblocked: Condvar::new(),
        }))
    }
}

impl DoorRoom {
    /// Returns the executor of the calls.
    ///
    /// # Panics
    ///
    /// Never: its tools have different names.
    #[must_use]
    pub fn executor(&self) -> Executor {
        let mut tools = ToolRegistry::new();
        for name in ["read", "put", "write"] {
            let room = self.clone();
            tools.register_dyn(Arc::new(RoomTool { name, room }));
        }
        Executor::builder()
            .provider("room", self.clone())
            .tools(tools)
            .build()
    }

    pub(super) fn calls(&self) -> watch::Receiver<Calls> {
        self.0.calls.subscribe()
    }

    /// Releases a call that is held or blocks, or will.
    pub(super) fn let_go(&self, call: Call) {
        let mut unblocked = self
            .0
            .unblocked
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        unblocked.insert(call.clone());
        drop(unblocked);
        self.0.is_unblocked.notify_all();
        self.0.calls.send_modify(|calls| {
            calls.let_go.insert(call);
        });
    }

    async fn called(&self, run: &str, asked: &Asked) {
        let call = (run.to_owned(), asked.name.clone());
        self.0
            .calls
            .send_modify(|calls| calls.begun.push(call.clone()));
        match asked.act.as_str() {
            "hold" => {
                let mut calls = self.calls();
                // The sender is part of this value, so there is always another state.
                calls
                    .wait_for(|calls| calls.let_go.contains(&call))
                    .await
                    .ok();
            }
            "block" => self.block(&call),
            _ => {}
        }
        self.0.calls.send_modify(|calls| calls.ended.push(call));
    }

    /// Blocks the thread: nothing else continues there, the run itself included.
    fn block(&self, call: &Call) {
        let unblocked = self
            .0
            .unblocked
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .0
            .is_unblocked
            .wait_timeout_while(unblocked, patience(), |calls| !calls.contains(call));
        let waited = waited.unwrap_or_else(PoisonError::into_inner).1;
        assert!(!waited.timed_out(), "nobody lets {call:?} go on");
    }
}

impl Provider for DoorRoom {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let text = request.messages.last().map(Message::text);
        let text = text.unwrap_or_default();
        let (run, asked) = text.split_once('\n').expect("a run, and what is asked");
        self.called(run, &serde_json::from_str(asked).unwrap())
            .await;
        Ok(CompletionResponse {
            id: "answer".into(),
            model: request.model.clone(),
            message: Message::assistant("answer"),
            ..CompletionResponse::default()
        })
    }
}

struct RoomTool {
    name: &'static str,
    room: DoorRoom,
}

impl ToolDyn for RoomTool {
    fn name(&self) -> &str {
        self.name
    }

    fn definition(&self) -> ToolDefinition {
        definition_of(self.name)
    }

    fn call_dyn<'a>(
        &'a self,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let asked: Asked = serde_json::from_value(input).unwrap();
            self.room.called(ctx.run_id.as_str(), &asked).await;
            Ok(ToolOutput::text(asked.name))
        })
    }
}
