//! The door on Restate.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use futures::lock::Mutex as AsyncMutex;
use neuron_types::{
    ActivityOptions, AgentSpec, CompletionRequest, CompletionResponse, DurableContext,
    DurableError, FailureKind, RunEvent, RunId, RunState, RunStatus, StepFailure, ToolCall,
    ToolOutput,
};
use restate_sdk::endpoint::ContextInternal;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::{
    ServiceNames,
    cancellation::{Cancellation, Durable},
    carried::Carried,
    executors::Acting,
    log::Log,
    mailbox::Mailbox,
    meter::{ASK, CALL, Meter, Size},
    pace::Pace,
    record::Record,
    steps::{Effect, Steps},
    telling::Telling,
    wire::CANCELLED,
};

/// The name of this engine, as it stands in `--json` output.
pub(crate) const ENGINE: &str = "restate";

const MIB: usize = 1024 * 1024;

/// How large the state of a run may be that goes on in a fresh journal: some less than the server's limit for
/// a message.
const MOST_CARRIED: usize = 24 * MIB;

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
///
/// # Segments
///
/// A run whose journal is large goes on in another invocation, a segment with a journal of its own, from what
/// [`continue_as_new`](DurableContext::continue_as_new) was handed. The workflow's `run` waits for it.
pub struct RestateDurableContext<'a> {
    pub(crate) steps: Steps<'a>,
    pub(crate) names: &'a ServiceNames,
    mailbox: AsyncMutex<Mailbox>,
    log: Mutex<Log>,
    pace: Mutex<Pace>,
}

/// What a segment's door is made of.
pub(crate) struct Opening<'a> {
    pub(crate) ctx: &'a ContextInternal,
    pub(crate) acting: &'a Acting,
    pub(crate) names: &'a ServiceNames,
    pub(crate) run_id: &'a RunId,
    pub(crate) agent: &'a AgentSpec,
    /// How long a step looks out for its cancellation.
    pub(crate) watch: Duration,
    /// How large a journal may get.
    pub(crate) most: Size,
}

impl<'a> RestateDurableContext<'a> {
    /// A door for the invocation that this context belongs to: that of a new run, or of one that goes on from
    /// what an earlier segment handed over. Its first entry in the journal is the promise that a cancelled
    /// run finds resolved, its second the segment's start.
    pub(crate) async fn open(
        opening: Opening<'a>,
        carried: Option<(Log, Mailbox)>,
    ) -> Result<Self, DurableError> {
        let Opening { ctx, names, .. } = opening;
        let steps = Steps {
            ctx,
            acting: opening.acting,
            run_id: opening.run_id,
            agent: opening.agent,
            watch: opening.watch,
            cancellation: AsyncMutex::new(Cancellation::new(Box::pin(ctx.promise(CANCELLED)))),
            meter: Meter::default(),
            telling: Telling::new(Arc::clone(&opening.acting.sink)),
        };
        steps.meter.count(ASK);
        let started = steps.start(opening.most).await?;
        let (log, mailbox) = match carried {
            Some((mut log, mailbox)) => {
                log.advance(started.at);
                (log.on(Record::new(names, opening.run_id.as_str())), mailbox)
            }
            None => {
                let (run_id, agent) = (opening.run_id.clone(), &opening.agent.name);
                let status = RunStatus::new(run_id, ENGINE, agent, started.at);
                let log = Log::new(status);
                log.write_status(ctx, &steps.meter);
                (log, Mailbox::default())
            }
        };
        Ok(Self {
            steps,
            names,
            mailbox: AsyncMutex::new(mailbox),
            log: Mutex::new(log),
            pace: Mutex::new(Pace::new(started.most)),
        })
    }

    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes what was emitted readable.
    pub(crate) fn flush(&self) {
        self.log().write(self.steps.ctx, &self.steps.meter);
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
        let record = self.log().take_record(&self.steps.meter);
        let Some((record, news)) = record else {
            return self.flush();
        };
        // Whoever learns that the run is over can read its end. A run that Restate cancels meanwhile is over
        // all the same.
        drop(record.append_all(self.steps.ctx, news).await);
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a run stays that is too large to be carried over.
    fn too_large(&self, bytes: usize) -> Result<(), DurableError> {
        let mut pace = self.pace();
        if !pace.is_over() {
            pace.postpone();
            return Ok(());
        }
        let most = MOST_CARRIED / MIB;
        let bytes = bytes / MIB;
        let message = format!(
            "the run's journal is full, and its state of {bytes} MiB is too large for a fresh one ({most} MiB): \
             keep the conversation small with the agent's [context] rules, or its tool results with \
             tool_output_bytes"
        );
        let failure = StepFailure {
            retryable: false,
            ..StepFailure::new(FailureKind::ContextLength, message)
        };
        Err(failure.into())
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
            _ => {
                let parallel = self.parallel(calls, options);
                self.steps.telling.watch(parallel).await
            }
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
        let Steps { meter, telling, .. } = &self.steps;
        let taken = if is_poll {
            // Whether its answer is in the journal or not tells nothing of what came before it.
            mailbox.poll(ctx, meter, &mut cancellation, name).await?
        } else {
            let timer = timeout.map(|timeout| -> Durable<'_, ()> {
                meter.count(ASK);
                Box::pin(ctx.sleep(timeout))
            });
            let cancellation = &mut cancellation;
            let wait = mailbox.wait(ctx, meter, cancellation, name, timer);
            telling.watch(wait).await?
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

    fn should_continue_as_new(&self) -> bool {
        self.pace().is_due(self.steps.meter.size())
    }

    async fn continue_as_new(&self, state: &RunState) -> Result<(), DurableError> {
        self.flush();
        let mut cancellation = self.steps.cancellation.lock().await;
        cancellation.check()?;
        let mailbox = self.mailbox.lock().await;
        let carried = serde_json::to_vec(&Carried {
            state,
            log: &*self.log(),
            mailbox: &*mailbox,
        });
        let carried = carried.map_err(DurableError::engine)?;
        if carried.len() > MOST_CARRIED {
            return self.too_large(carried.len());
        }
        let record = Record::new(self.names, self.steps.run_id.as_str());
        self.steps.meter.count(CALL);
        match record.carry(self.steps.ctx, carried).await {
            Ok(()) => Err(DurableError::ContinuedAsNew),
            Err(error) => Err(cancellation.engine_error(&error)),
        }
    }

    fn emit(&self, event: RunEvent) {
        let recorded = self.log().emit(event);
        self.steps.telling.event(recorded);
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
