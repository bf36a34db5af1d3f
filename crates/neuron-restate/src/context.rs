//! The door on Restate.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use futures::lock::Mutex as AsyncMutex;
use neuron_types::{
    ActivityOptions, AgentSpec, CompletionRequest, CompletionResponse, DurableContext,
    DurableError, FailureKind, RunEvent, RunId, RunStatus, StepFailure, ToolCall, ToolOutput,
};
use restate_sdk::endpoint::ContextInternal;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::{
    ServiceNames,
    cancellation::{Cancellation, Durable},
    executors::Acting,
    log::Log,
    mailbox::Mailbox,
    steps::{Effect, Steps},
    wire::CANCELLED,
};

/// The name of this engine, as it stands in `--json` output.
pub(crate) const ENGINE: &str = "restate";

/// A run's door when it is a Restate workflow.
///
/// # What is journaled when
///
/// A model call, and a tool call that is alone, is a step of the workflow's own: the journal holds its
/// result and the executor's time, and nothing of the request. Tool calls beside each other are calls of the
/// tool service. A failed attempt is a value in the journal like any other result; the delay behind it is a
/// durable sleep. A write's start is journaled before the write is made.
///
/// # What a replay does
///
/// The workflow starts anew and is answered from the journal. Of the steps that were in flight, a model call,
/// a read and an idempotent call are made again under the same idempotency key; a write fails with
/// [`OutcomeUnknown`](FailureKind::OutcomeUnknown) and is not called.
///
/// # The clock
///
/// [`now`](DurableContext::now) is the time that the executor, or whoever took a signal in, put into the
/// newest result; before the first it is the run's start.
///
/// Operations are made one after another: a second one waits until the first is done.
pub struct RestateDurableContext<'a> {
    pub(crate) steps: Steps<'a>,
    pub(crate) names: &'a ServiceNames,
    mailbox: AsyncMutex<Mailbox>,
    log: Mutex<Log>,
}

impl<'a> RestateDurableContext<'a> {
    /// A door for the workflow that this context belongs to. Its first entry in the journal is the promise
    /// that a cancelled run finds resolved, its second the run's start.
    pub(crate) async fn open(
        ctx: &'a ContextInternal,
        acting: &'a Acting,
        names: &'a ServiceNames,
        run_id: &'a RunId,
        agent: &'a AgentSpec,
        watch: Duration,
    ) -> Result<Self, DurableError> {
        let steps = Steps {
            ctx,
            acting,
            run_id,
            agent,
            watch,
            cancellation: AsyncMutex::new(Cancellation::new(Box::pin(ctx.promise(CANCELLED)))),
        };
        let started_at = steps.time("start").await?;
        let log = Log::new(RunStatus::new(
            run_id.clone(),
            ENGINE,
            &agent.name,
            started_at,
        ));
        log.write_status(ctx);
        Ok(Self {
            steps,
            names,
            mailbox: AsyncMutex::default(),
            log: Mutex::new(log),
        })
    }

    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes what was emitted readable.
    pub(crate) fn flush(&self) {
        self.log().write(self.steps.ctx);
    }

    /// A step of the workflow's own.
    pub(crate) async fn step<E: Effect>(
        &self,
        effect: &E,
        options: &ActivityOptions,
    ) -> Result<E::Output, DurableError> {
        self.flush();
        let events = self.log().take_unobserved();
        let (at, result) = self.steps.perform(effect, options, &events).await?;
        self.log().advance(at);
        Ok(result?)
    }

    /// The clock at the end of a wait: whoever waited for a time must find that it is over.
    fn advance_by(&self, duration: Duration) {
        let mut log = self.log();
        let end = chrono::Duration::from_std(duration)
            .ok()
            .and_then(|duration| log.now.checked_add_signed(duration));
        if let Some(end) = end {
            log.advance(end);
        }
    }

    /// Tells the hooks and the readers what they have not been told yet: the run's end above all.
    pub(crate) async fn finish(&self) {
        let events = self.log().take_unobserved();
        // The run is over: a hook can no longer end it, and neither can a cancellation.
        if let Ok(at) = self.steps.tell(&events).await {
            self.log().advance(at);
        }
        self.flush();
    }
}

impl DurableContext for RestateDurableContext<'_> {
    fn run_id(&self) -> &RunId {
        self.steps.run_id
    }

    fn engine(&self) -> &str {
        ENGINE
    }

    fn now(&self) -> DateTime<Utc> {
        self.log().now
    }

    fn uuid(&self) -> Uuid {
        let mut log = self.log();
        log.uuids += 1;
        let name = format!("{}/{}", self.steps.run_id, log.uuids);
        Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes())
    }

    async fn execute_llm_call(
        &self,
        request: &CompletionRequest,
        options: &ActivityOptions,
    ) -> Result<CompletionResponse, DurableError> {
        self.step(request, options).await
    }

    async fn execute_tool(
        &self,
        call: &ToolCall,
        options: &ActivityOptions,
    ) -> Result<ToolOutput, DurableError> {
        let mut results = self
            .execute_tools(std::slice::from_ref(call), std::slice::from_ref(options))
            .await;
        results.pop().unwrap_or_else(|| Err(no_options().into()))
    }

    async fn execute_tools(
        &self,
        calls: &[ToolCall],
        options: &[ActivityOptions],
    ) -> Vec<Result<ToolOutput, DurableError>> {
        if calls.len() != options.len() {
            return calls.iter().map(|_| Err(no_options().into())).collect();
        }
        match (calls, options) {
            ([call], [options]) if options.start_to_close_timeout < self.steps.watch => {
                vec![self.step(call, options).await]
            }
            _ => self.parallel(calls, options).await,
        }
    }

    async fn sleep(&self, duration: Duration) -> Result<(), DurableError> {
        self.flush();
        let mut cancellation = self.steps.cancellation.lock().await;
        cancellation.check()?;
        self.steps.pause(&mut cancellation, duration).await?;
        self.advance_by(duration);
        Ok(())
    }

    async fn wait_for_signal<T: DeserializeOwned + 'static>(
        &self,
        name: &str,
        timeout: Option<Duration>,
    ) -> Result<Option<T>, DurableError> {
        let is_poll = timeout == Some(Duration::ZERO);
        if !is_poll {
            self.flush();
        }
        let mut cancellation = self.steps.cancellation.lock().await;
        cancellation.check()?;
        let mut mailbox = self.mailbox.lock().await;
        let ctx = self.steps.ctx;
        let taken = if is_poll {
            mailbox.poll(ctx, &mut cancellation, name).await?
        } else {
            let timer = timeout.map(|timeout| -> Durable<'_, ()> { Box::pin(ctx.sleep(timeout)) });
            mailbox.wait(ctx, &mut cancellation, name, timer).await?
        };
        let Some((payload, at)) = taken else {
            self.advance_by(timeout.unwrap_or_default());
            return Ok(None);
        };
        self.log().advance(at);
        let value = serde_json::from_value(payload).map_err(|source| DurableError::BadSignal {
            name: name.to_owned(),
            source,
        })?;
        Ok(Some(value))
    }

    fn emit(&self, event: RunEvent) {
        self.log().emit(event);
    }
}

impl fmt::Debug for RestateDurableContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RestateDurableContext")
            .field("run_id", self.steps.run_id)
            .finish_non_exhaustive()
    }
}

fn no_options() -> StepFailure {
    StepFailure::new(
        FailureKind::Internal,
        "the call came to the door without options",
    )
}
