//! The door on Restate.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, Utc};
use futures::lock::Mutex as AsyncMutex;
use neuron_engine::{Pace, SegmentSize};
use neuron_flow::{given_up, nothing_to_wait_for, still_in_flight};
use neuron_types::{
    DurableContext, DurableError, End, FailureKind, Handle, Observed, RunEvent, RunId, RunOutput,
    RunState, RunStatus, RunTags, Signal, Started, Step, StepFailure,
};
use restate_sdk::{context::RequestTarget, endpoint::ContextInternal};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    attempts::{work::Work, worker_context::WorkerContext},
    door::{
        agent_given::{AgentGiven, Sought},
        cancellation::Cancellation,
        carried::Carried,
        ledger_writer::LedgerWriter,
        mailbox::Mailbox,
        record::Record,
        segment::Segment,
        sink_replay_filter::SinkReplayFilter,
        steps::Steps,
        waits::Waits,
    },
    wire::{
        entries::FoundAgent,
        messages::CANCELLED,
        meter::{ASK, CALL, Meter},
        service_names::{ENGINE, ServiceNames},
    },
};

/// A patch of the door itself. Since then a deadline of no time is over at once, a cancel counts before an end that comes
/// with it, and of what has ended and is left only writes are still observed.
pub(crate) const ENDS: &str = "neuron-ends";

const MIB: usize = 1024 * 1024;

/// How large the state of a run may be that continues as new: some less than the server's limit for a message.
const MOST_CARRIED: usize = 24 * MIB;

/// What a journal takes at all. Behind four fifths of it a replay takes the worker and the server too long and too
/// much.
const LIMIT: SegmentSize = SegmentSize::new(62_500, 80 * MIB as u64);

/// What is written when a run continues as new or ends.
const CLOSING: SegmentSize = SegmentSize::new(12, 0);

/// A run's door when it is a Restate workflow.
///
/// # What is journaled when
///
/// Model calls and tool calls are made beside the run, in its worker. A journaled wait says which attempts came
/// to an end, and with what: the journal holds results and the worker's time, and nothing of the requests. A
/// failed attempt is a value in the journal like any other; the delay behind it is kept by the wait, or is a
/// durable sleep where it is long. A write's start is journaled before the write is made.
///
/// What the run emits is written as one value: before a model call, and before anything else that takes longer
/// than a moment.
///
/// # What a replay does
///
/// The workflow starts anew and is answered from the journal. What was in flight is joined where this worker
/// still has it. Elsewhere a model call, a read and an idempotent call are made again under the same idempotency
/// key; a write fails with [`OutcomeUnknown`](FailureKind::OutcomeUnknown) and is not called.
///
/// # The clock
///
/// [`now`](DurableContext::now) is the time that the worker, or whoever took a signal in, put into the newest
/// journaled value; before the first it is the run's start.
///
/// Operations are made one after another: a second one waits until the first is done. A wait that is dropped
/// before its end leaves a step in the journal that a replay would have to drop at the same place.
///
/// # Segments
///
/// A run whose journal is large continues as new in another invocation, a segment with a journal of its own, from
/// what [`continue_as_new`](DurableContext::continue_as_new) was handed. The workflow's `run` waits for it.
pub struct RestateDurableContext<'a> {
    pub(crate) segment: Segment<'a>,
    names: &'a ServiceNames,
    waits: AsyncMutex<Waits<'a>>,
    /// What is asked without waiting for an operation that is under way.
    is_cancelled: AtomicBool,
    pace: Mutex<Pace>,
    /// The worker that began the segment has hooks.
    has_hooks: bool,
    /// What the segment began with.
    patches: Vec<String>,
    /// It began with [`ENDS`].
    has_ends: bool,
}

/// What a segment's door is made of.
pub(crate) struct Opening<'a> {
    pub(crate) ctx: &'a ContextInternal,
    pub(crate) worker: &'a WorkerContext,
    pub(crate) names: &'a ServiceNames,
    pub(crate) run_id: &'a RunId,
    /// The agent's name.
    pub(crate) agent: Arc<str>,
    /// How it is known.
    pub(crate) given: AgentGiven,
    /// Whose a new run is.
    pub(crate) tags: RunTags,
    /// How long one journaled wait takes at most, in a journal that begins here.
    pub(crate) pulse: Duration,
    /// How large a journal may get.
    pub(crate) most: SegmentSize,
    /// The patches that this build declares for the run's workflow.
    pub(crate) patches: Vec<String>,
}

impl<'a> RestateDurableContext<'a> {
    /// A door for the invocation that this context belongs to: that of a new run, or of one that goes on from
    /// what an earlier segment handed over. Its first entries in the journal are the promises of a cancelled
    /// run and of the next signal, with a question of the state between them, then the segment's start, which may
    /// have found the agent's definition.
    pub(crate) async fn open(
        opening: Opening<'a>,
        carried: Option<(LedgerWriter, Mailbox)>,
    ) -> Result<(Self, Sought), DurableError> {
        let Opening {
            ctx, names, agent, ..
        } = opening;
        let steps = Steps {
            ctx,
            worker: opening.worker,
            run_id: opening.run_id,
            agent: Arc::clone(&agent),
            meter: Meter::default(),
            sink: SinkReplayFilter::new(Arc::clone(&opening.worker.sink)),
        };
        steps.meter.count(ASK);
        let cancellation = Cancellation::new(Box::pin(ctx.promise(CANCELLED)));
        let (ledger, mailbox) = carried.unzip();
        let mut waits = Waits::new(&steps, cancellation, mailbox.unwrap_or_default());
        let cancellation = &mut waits.cancellation;
        let (most, pulse, given) = (opening.most, opening.pulse, opening.given);
        let started = steps.start(cancellation, most, pulse, given, opening.patches);
        let started = started.await?;
        let pulse = started.pulse();
        waits.settle(&steps).await?;
        let ledger = match ledger {
            Some(mut ledger) => {
                ledger.clock.advance(started.at);
                ledger.on(Record::new(names, opening.run_id.as_str()))
            }
            None => {
                let (run_id, agent) = (opening.run_id.clone(), &steps.agent);
                let status = RunStatus::new(run_id, ENGINE, agent, started.at);
                LedgerWriter::new(status.with_tags(&opening.tags), started.seed)
            }
        };
        let is_cancelled = waits.cancellation.error().is_some();
        let has_ends = started.patches.iter().any(|patch| patch == ENDS);
        let door = Self {
            segment: Segment::new(
                opening.worker.registry.join(started.nonce),
                steps,
                pulse,
                ledger,
            ),
            names,
            waits: AsyncMutex::new(waits),
            is_cancelled: is_cancelled.into(),
            pace: Mutex::new(Pace::new(started.most, LIMIT)),
            has_hooks: started.has_hooks,
            patches: started.patches,
            has_ends,
        };
        if !has_ends {
            door.segment.in_flight().keep_all();
        }
        let sought = Sought {
            found: started.agent,
            is_rejected: started.is_rejected,
            is_signed: started.is_signed,
        };
        Ok((door, sought))
    }

    /// Looks once more for the definition of an agent.
    pub(crate) async fn find_agent(&self, name: &str) -> Result<FoundAgent, DurableError> {
        let mut waits = self.waits.lock().await;
        let found = self
            .segment
            .steps
            .find_agent(&mut waits.cancellation, name)
            .await;
        let (at, found) = found?;
        self.segment.ledger().clock.advance(at);
        Ok(found)
    }

    /// Finds why a prompt does not fit this schema; `None` if it does.
    pub(crate) async fn check_input(
        &self,
        schema: &Value,
        prompt: &str,
    ) -> Result<Option<String>, DurableError> {
        let mut waits = self.waits.lock().await;
        let checked = self
            .segment
            .steps
            .check_input(&mut waits.cancellation, schema, prompt)
            .await;
        let (at, mismatch) = checked?;
        self.segment.ledger().clock.advance(at);
        Ok(mismatch)
    }

    fn step(&self, step: Step) -> Handle {
        if self.is_cancelled.load(Ordering::Relaxed) {
            let end = End::Effect(Err(given_up()));
            return self.segment.in_flight().start_ended(end, step.is_write());
        }
        let work = Work {
            run_id: self.segment.steps.run_id.clone(),
            agent: Arc::clone(&self.segment.steps.agent),
            step,
            events: self.segment.ledger().take_unobserved(),
        };
        self.segment.in_flight().start_effect(work)
    }

    /// Notifies the hooks and the readers of what they have not seen yet: the run's end above all.
    pub(crate) async fn finish(&self, output: &RunOutput) {
        self.segment.attempts.give_up();
        self.segment.ledger().end(output);
        let events = self.segment.ledger().take_unobserved();
        let (steps, mut waits) = (&self.segment.steps, self.waits.lock().await);
        // The run is over: a hook can no longer end it, and neither can a cancellation.
        let cancellation = &mut waits.cancellation;
        steps.notify(cancellation, &events, self.has_hooks).await;
        let record = self.segment.ledger().take_record(&steps.meter);
        match record {
            // Whoever learns that the run is over can read its end. A run that Restate cancels meanwhile is over
            // all the same.
            Some((record, page)) => drop(record.append_all(steps.ctx, page).await),
            None => self.segment.flush(),
        }
        // An inbox that got nothing has nothing to forget, and a call is an invocation of its own.
        if waits.mailbox.has_taken() {
            let run_id = steps.run_id.as_str();
            let close = RequestTarget::object(self.names.inbox(), run_id, "close");
            drop(steps.ctx.request::<_, ()>(close, ()).send());
        }
    }

    fn note_cancellation(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a run stays that is too large to be carried over.
    fn too_large(&self, bytes: usize) -> Result<bool, DurableError> {
        let mut pace = self.pace();
        if !pace.is_full(self.segment.steps.meter.size()) {
            pace.decline(0);
            return Ok(false);
        }
        let most = MOST_CARRIED / MIB;
        let bytes = bytes / MIB;
        let message = format!(
            "the run's journal is full, and its state of {bytes} MiB is too large for a fresh one ({most} MiB): \
             keep the conversation small with rules for the agent's context, or with shorter tool results"
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
        self.segment.steps.run_id
    }

    fn engine(&self) -> &str {
        ENGINE
    }

    fn now(&self) -> DateTime<Utc> {
        self.segment.ledger().clock.now()
    }

    fn uuid(&self) -> Uuid {
        self.segment.ledger().clock.uuid(self.segment.steps.run_id)
    }

    fn start(&self, what: Started) -> Handle {
        match what {
            Started::Step(step) => self.step(*step),
            Started::Deadline(Duration::ZERO)
                if self.has_ends && !self.is_cancelled.load(Ordering::Relaxed) =>
            {
                self.segment.in_flight().start_ended(End::Deadline, false)
            }
            Started::Deadline(duration) => {
                let now = self.now();
                self.segment.in_flight().start_deadline(now, duration)
            }
        }
    }

    fn leave(&self, handle: Handle) -> bool {
        let step = self.segment.in_flight().step_of(handle);
        let (attempt, is_observed) = self.segment.in_flight().leave(handle);
        self.segment.step_over(step);
        match attempt {
            Some(key) if is_observed => self.segment.attempts.cancel(key),
            Some(key) => self.segment.attempts.remove(key),
            None => {}
        }
        is_observed
    }

    async fn next(&self, handles: &[Handle], signals: &[&str]) -> Result<Observed, DurableError> {
        let mut waits = self.waits.lock().await;
        loop {
            if let Some(error) = waits.cancellation.error()
                && !self.segment.in_flight().are_left(handles)
            {
                return Err(error);
            }
            if let Some((handle, end)) = self.segment.in_flight().take(handles) {
                return Ok(Observed::Ended(handle, end));
            }
            if let Some(signal) = waits.mailbox.take(signals) {
                return Ok(Observed::Signal(signal));
            }
            if signals.is_empty() && !self.segment.in_flight().is_any(handles) {
                return Err(nothing_to_wait_for());
            }
            let may_be_awaited = self.segment.in_flight().are_left(handles);
            match waits.observe(&self.segment).await {
                Err(cancelled @ DurableError::Cancelled { .. }) => {
                    self.note_cancellation();
                    // What ended just now did not end before.
                    if self.has_ends && !may_be_awaited {
                        return Err(cancelled);
                    }
                }
                observed => observed?,
            }
        }
    }

    async fn poll(&self, signals: &[&str]) -> Result<Option<Signal>, DurableError> {
        let polled = self.waits.lock().await.poll(&self.segment, signals).await;
        if let Err(DurableError::Cancelled { .. }) = polled {
            self.note_cancellation();
        }
        polled
    }

    fn should_continue_as_new(&self) -> bool {
        let (mut pace, size) = (self.pace(), self.segment.steps.meter.size());
        pace.look(size);
        pace.is_full(size) || (pace.is_due(CLOSING) && !pace.is_declined(0))
    }

    fn must_continue_as_new(&self) -> bool {
        self.pace().is_full(self.segment.steps.meter.size())
    }

    async fn continue_as_new(&self, state: &RunState) -> Result<bool, DurableError> {
        let mut waits = self.waits.lock().await;
        waits.cancellation.check()?;
        if !self.segment.in_flight().is_idle() {
            return Err(still_in_flight());
        }
        self.segment.flush();
        let carried = serde_json::to_vec(&Carried {
            state,
            ledger: &*self.segment.ledger(),
            mailbox: &waits.mailbox,
        });
        let carried = carried.map_err(DurableError::engine)?;
        if carried.len() > MOST_CARRIED {
            return self.too_large(carried.len());
        }
        let record = Record::new(self.names, self.segment.steps.run_id.as_str());
        self.segment.steps.meter.count(CALL);
        match record.carry(self.segment.steps.ctx, carried).await {
            Ok(()) => Err(DurableError::ContinuedAsNew),
            Err(error) => {
                let error = waits.cancellation.engine_error(&error);
                if let DurableError::Cancelled { .. } = error {
                    self.note_cancellation();
                }
                Err(error)
            }
        }
    }

    fn emit(&self, event: RunEvent) {
        let recorded = self.segment.ledger().emit(event);
        self.segment.steps.sink.event(recorded);
    }

    fn patched(&self, id: &str) -> bool {
        self.patches.iter().any(|patch| patch == id)
    }
}

impl fmt::Debug for RestateDurableContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RestateDurableContext")
            .field("run_id", self.segment.steps.run_id)
            .finish_non_exhaustive()
    }
}
