//! Tools made of closures, which note their calls.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use futures::future::BoxFuture;
use neuron_types::{
    ToolAnnotations, ToolContext, ToolDefinition, ToolDyn, ToolEffects, ToolError, ToolOutput,
    WasmBoxedFuture,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::lags;
use crate::Turnstile;

type Body = dyn Fn(Value) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync;

/// A tool made of a closure, for executors of this process. Clones note their calls together.
#[derive(Clone)]
pub struct NotedTool {
    name: &'static str,
    effects: ToolEffects,
    body: Arc<Body>,
    keys: Arc<Mutex<Vec<String>>>,
    turnstile: Turnstile,
}

impl NotedTool {
    /// Returns a tool whose answer the closure computes from the arguments. It accepts any arguments.
    pub fn new<F, Fut>(name: &'static str, effects: ToolEffects, body: F) -> Self
    where
        F: Fn(Value) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        Self {
            name,
            effects,
            body: Arc::new(move |input| Box::pin(body(input))),
            keys: Arc::default(),
            turnstile: Turnstile::default(),
        }
    }

    /// Returns the same tool, whose calls pass this turnstile right after they are noted.
    #[must_use]
    pub fn behind(mut self, turnstile: &Turnstile) -> Self {
        self.turnstile = turnstile.clone();
        self
    }

    /// Returns a tool that answers with its `text`.
    #[must_use]
    pub fn echo(effects: ToolEffects) -> Self {
        Self::new("echo", effects, |input| async move {
            Ok(ToolOutput::text(input["text"].as_str().unwrap_or_default()))
        })
    }

    /// Returns a read-only tool `gate`. Each of its calls takes a permit and answers when it has one. At first no
    /// permits are available.
    #[must_use]
    pub fn gate() -> (Self, Arc<Semaphore>) {
        let permits = Arc::new(Semaphore::new(0));
        let taken = Arc::clone(&permits);
        let tool = Self::new("gate", ToolEffects::ReadOnly, move |_| {
            let permits = Arc::clone(&taken);
            async move {
                // The semaphore is never closed.
                permits.acquire().await.unwrap().forget();
                Ok(ToolOutput::text("open"))
            }
        });
        (tool, permits)
    }

    /// Returns the steps that it was called for, as `run:turn:position`, sorted.
    ///
    /// # Panics
    ///
    /// If a call panicked while it was noted.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let mut keys = self.keys.lock().unwrap().clone();
        keys.sort();
        keys
    }

    /// Checks that none of its calls was made again.
    ///
    /// # Panics
    ///
    /// If one was.
    pub fn assert_no_call_again(&self) {
        let keys = self.keys();
        let is_again = |two: &[String]| two[0] == two[1];
        assert!(!keys.windows(2).any(is_again), "a call again: {keys:?}");
    }
}

impl fmt::Debug for NotedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NotedTool")
            .field("name", &self.name)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

impl ToolDyn for NotedTool {
    fn name(&self) -> &str {
        self.name
    }

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: self.name.into(),
            input_schema: json!({ "type": "object" }),
            annotations: Some(ToolAnnotations {
                read_only_hint: Some(self.effects == ToolEffects::ReadOnly),
                idempotent_hint: Some(self.effects == ToolEffects::Idempotent),
                ..ToolAnnotations::default()
            }),
            ..ToolDefinition::default()
        }
    }

    fn call_dyn<'a>(
        &'a self,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        let place = format!("{}:{}", ctx.run_id, ctx.step);
        self.keys.lock().unwrap().push(place);
        Box::pin(async move {
            let _passed = self.turnstile.pass().await;
            lags().await;
            (self.body)(input).await
        })
    }
}
