//! The plain local door: everything in memory, nothing survives the process.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use futures::future::join_all;
use neuron_types::{
    ActivityOptions, CompletionRequest, CompletionResponse, DurableContext, DurableError,
    FailureKind, RecordedEvent, RunEvent, RunId, RunState, StepFailure, ToolCall, ToolOutput,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    EventSink, Executor, NoSink,
    attempts::{Attempts, Effect},
};

mod handle;

use handle::Shared;

pub use handle::LocalHandle;
pub(crate) use handle::{cancel_reason, user_message_payload};

/// A door without a journal: the run lives in this process, at no cost worth mentioning.
///
/// Signals and cancellation come through its [`LocalHandle`]. When the loop is done, call
/// [`finish`](Self::finish), so that hooks learn of the end.
///
/// Waits and delays use tokio's clock, so a runtime with time must be entered.
pub struct LocalDurableContext {
    executor: Executor,
    run_id: RunId,
    sink: Arc<dyn EventSink>,
    shared: Arc<Shared>,
    state: Mutex<State>,
}

struct State {
    now: DateTime<Utc>,
    uuids: u64,
    events: u64,
    /// Events that the hooks have not been told yet.
    unobserved: Vec<RunEvent>,
}

impl LocalDurableContext {
    /// A door for one run, which starts now.
    #[must_use]
    pub fn new(executor: Executor, run_id: RunId) -> Self {
        Self {
            executor,
            run_id,
            sink: Arc::new(NoSink),
            shared: Arc::default(),
            state: Mutex::new(State {
                now: Utc::now(),
                uuids: 0,
                events: 0,
                unobserved: Vec::new(),
            }),
        }
    }

    /// Sets who watches the run. Default is nobody.
    #[must_use]
    pub fn with_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.executor = self.executor.with_sink(Arc::clone(&sink));
        self.sink = sink;
        self
    }

    /// What reaches into the run from outside.
    #[must_use]
    pub fn handle(&self) -> LocalHandle {
        LocalHandle {
            shared: Arc::clone(&self.shared),
        }
    }

    /// Tells the hooks what they have not been told yet, the run's end above all.
    pub async fn finish(&self) {
        // The run is over: a hook can no longer end it.
        drop(self.observe().await);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn observe(&self) -> Result<(), StepFailure> {
        let events = std::mem::take(&mut self.state().unobserved);
        if events.is_empty() {
            return Ok(());
        }
        self.executor.observe(&self.run_id, &events).await
    }

    async fn step<E: Effect>(
        &self,
        effect: &E,
        options: &ActivityOptions,
    ) -> Result<E::Output, DurableError> {
        self.shared.stop.check()?;
        self.observe().await?;
        self.attempts(effect, options).await
    }

    async fn attempts<E: Effect>(
        &self,
        effect: &E,
        options: &ActivityOptions,
    ) -> Result<E::Output, DurableError> {
        let attempts = Attempts {
            executor: &self.executor,
            run_id: &self.run_id,
            options,
            cancellation: self.shared.stop.token(),
            sink: self.sink.as_ref(),
            log: (),
        };
        let result = attempts.make(effect, 1, Duration::ZERO).await?;
        if let (Err(_), Some(stopped)) = (&result, self.shared.stop.error()) {
            return Err(stopped);
        }
        self.advance(Utc::now());
        Ok(result?)
    }

    fn advance(&self, to: DateTime<Utc>) {
        let mut state = self.state();
        state.now = state.now.max(to);
    }

    /// Moves the clock to the end of a wait, even if the wall clock has not come so far: whoever waited for
    /// a time must find that it is over.
    fn advance_by(&self, since: DateTime<Utc>, duration: Duration) {
        let end = chrono::Duration::from_std(duration)
            .ok()
            .and_then(|duration| since.checked_add_signed(duration));
        self.advance(end.map_or_else(Utc::now, |end| end.max(Utc::now())));
    }
}

impl DurableContext for LocalDurableContext {
    fn run_id(&self) -> &RunId {
        &self.run_id
    }

    fn engine(&self) -> &str {
        "local"
    }

    fn now(&self) -> DateTime<Utc> {
        self.state().now
    }

    fn uuid(&self) -> Uuid {
        let mut state = self.state();
        state.uuids += 1;
        run_uuid(&self.run_id, state.uuids)
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
        self.step(call, options).await
    }

    async fn execute_tools(
        &self,
        calls: &[ToolCall],
        options: &[ActivityOptions],
    ) -> Vec<Result<ToolOutput, DurableError>> {
        let verdict = match self.shared.stop.error() {
            Some(_) => Ok(()),
            None => self.observe().await,
        };
        let steps = calls.iter().enumerate().map(|(index, call)| {
            let (verdict, options) = (&verdict, options.get(index));
            async move {
                self.shared.stop.check()?;
                verdict.clone()?;
                self.attempts(call, options.ok_or_else(no_options)?).await
            }
        });
        join_all(steps).await
    }

    async fn sleep(&self, duration: Duration) -> Result<(), DurableError> {
        let stop = &self.shared.stop;
        let since = self.now();
        stop.check()?;
        if tokio::time::timeout(duration, stop.token().cancelled())
            .await
            .is_ok()
        {
            return stop.check();
        }
        self.advance_by(since, duration);
        Ok(())
    }

    async fn wait_for_signal<T: DeserializeOwned + 'static>(
        &self,
        name: &str,
        timeout: Option<Duration>,
    ) -> Result<Option<T>, DurableError> {
        let since = self.now();
        let Some(payload) = self.shared.next(name, timeout).await? else {
            if let Some(timeout) = timeout.filter(|timeout| !timeout.is_zero()) {
                self.advance_by(since, timeout);
            }
            return Ok(None);
        };
        self.advance(Utc::now());
        read_signal(name, payload).map(Some)
    }

    /// Never: nothing is kept of the past.
    fn should_continue_as_new(&self) -> bool {
        false
    }

    async fn continue_as_new(&self, _state: &RunState) -> Result<(), DurableError> {
        Ok(())
    }

    fn emit(&self, event: RunEvent) {
        let seq = {
            let mut state = self.state();
            state.events += 1;
            state.events
        };
        let at = Utc::now();
        let recorded = RecordedEvent { seq, at, event };
        self.sink.event(&recorded);
        self.state().unobserved.push(recorded.event);
    }
}

impl fmt::Debug for LocalDurableContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalDurableContext")
            .field("run_id", &self.run_id)
            .field("executor", &self.executor)
            .finish_non_exhaustive()
    }
}

/// The n-th id of a run: the same in every replay.
pub(crate) fn run_uuid(run_id: &RunId, n: u64) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{run_id}/{n}").as_bytes())
}

pub(crate) fn no_options() -> StepFailure {
    StepFailure::new(
        FailureKind::Internal,
        "the call came to the door without options",
    )
}

pub(crate) fn read_signal<T: DeserializeOwned>(
    name: &str,
    payload: Value,
) -> Result<T, DurableError> {
    serde_json::from_value(payload).map_err(|source| DurableError::BadSignal {
        name: name.to_owned(),
        source,
    })
}
