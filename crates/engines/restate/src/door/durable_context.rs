//! The door on Restate.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use futures::lock::Mutex as AsyncMutex;
use neuron_engine::{Pace, SegmentSize};
use neuron_flow::{Adapter, Asked, BEHIND_ALL, Flow, Left, still_in_flight};
use neuron_types::{
    DurableContext, DurableError, FailureKind, Handle, Observed, Outcome, RunEvent, RunId,
    RunNotice, RunOutput, RunScope, RunState, RunStatus, RunTags, Signal, Started, Step,
    StepFailure, StepId,
};
use restate_sdk::{context::RequestTarget, endpoint::ContextInternal};
use uuid::Uuid;

use crate::{
    attempts::worker_context::WorkerContext,
    door::{
        attachment::Attachment, cancellation::Cancellation, carried::Carried,
        child_ends::ChildEnds, ledger_writer::LedgerWriter, mailbox::Mailbox, record::Record,
        segment::Segment, sink_replay_filter::SinkReplayFilter, steps::Steps, waits::Waits,
    },
    wire::{
        end_address::EndAddress,
        entries::{AttemptEnd, Observation},
        messages::CANCELLED,
        meter::{ASK, CALL, Meter},
        service_names::{ENGINE, ServiceNames},
    },
};

const MIB: usize = 1024 * 1024;

/// The largest state of a run that continues as new: somewhat less than the server's limit for a message.
const MOST_CARRIED: usize = 24 * MIB;

/// The largest journal. From four fifths of it on, a replay takes the worker and the server too much time and memory.
const LIMIT: SegmentSize = SegmentSize::new(62_500, 80 * MIB as u64);

/// What is written when a run continues as new or ends.
const CLOSING: SegmentSize = SegmentSize::new(12, 0);

/// A run's door when it is a Restate workflow.
///
/// # What is journaled when
///
/// Model calls and tool calls are made beside the run, in its worker. A journaled wait records which attempts ended,
/// and with which results: the journal contains results and the worker's time, and nothing of the requests. A failed
/// attempt is a value in the journal like any other; the delay after it is kept by the wait, or is a durable sleep if
/// it is long. A write's start is journaled before the write is made.
///
/// What the run emits is written as one value: before a model call, and before anything else that takes longer than a
/// moment.
///
/// # What a replay does
///
/// The workflow starts anew and gets its answers from the journal. Attempts in flight are joined if this worker
/// still has them. Elsewhere a model call, a read and an idempotent call are repeated under the same idempotency
/// key; a write fails with [`OutcomeUnknown`](FailureKind::OutcomeUnknown) and is not called.
///
/// # The clock
///
/// [`now`](DurableContext::now) is the time in the newest journaled value, which the worker or the receiver of a signal
/// put there; before the first value it is the run's start.
///
/// Operations are made one after another: a second one waits until the first is done. A wait that is dropped
/// before its end leaves a step in the journal that a replay would have to drop at the same place.
///
/// # Segments
///
/// A run whose journal is large continues as new in another invocation, a segment with its own journal, from
/// the state that [`continue_as_new`](DurableContext::continue_as_new) got. The workflow's `run` waits for it.
pub struct RestateDurableContext<'a> {
    pub(crate) segment: Segment<'a>,
    names: &'a ServiceNames,
    pub(crate) waits: AsyncMutex<Waits<'a>>,
    pace: Mutex<Pace>,
    /// Whether the worker that began the segment has hooks.
    has_hooks: bool,
    /// Whether it is not the run's first segment.
    has_continued: bool,
    /// The result of the run's first step, until the run asks for it.
    begun: Mutex<Option<Result<Outcome, StepFailure>>>,
    /// The patches that the segment began with.
    patches: Vec<String>,
    /// The deployment that continues the run, in its first segment.
    pub(crate) deployment: Option<String>,
}

/// The parts of a segment's door.
pub(crate) struct Opening<'a> {
    pub(crate) ctx: &'a ContextInternal,
    pub(crate) worker: &'a WorkerContext,
    pub(crate) names: &'a ServiceNames,
    /// The invocation that the context belongs to.
    pub(crate) invocation: &'a str,
    pub(crate) run_id: &'a RunId,
    /// The agent's name.
    pub(crate) agent: Arc<str>,
    /// The step by which a new run begins.
    pub(crate) first: Option<Step>,
    /// The tags of a new run.
    pub(crate) tags: RunTags,
    /// The longest duration of one journaled wait, in a journal that begins here.
    pub(crate) pulse: Duration,
    /// The largest size of a journal.
    pub(crate) most: SegmentSize,
    /// Whether the invocation is retried.
    pub(crate) is_again: bool,
    /// The patches that this build declares for the run's workflow.
    pub(crate) patches: Vec<String>,
    /// The name of this deployment.
    pub(crate) deployment: Option<String>,
    /// Where the run's end is sent, if another run started it and awaits it there.
    pub(crate) end_address: Option<EndAddress>,
}

impl<'a> RestateDurableContext<'a> {
    /// Opens the door for the invocation that this context belongs to: that of a new run, or of one that continues from
    /// the state that an earlier segment handed over. Its first entries in the journal are a request for the state,
    /// then the segment's start, with the result of the first step of a new run.
    pub(crate) async fn open(
        opening: Opening<'a>,
        carried: Option<(LedgerWriter, Mailbox)>,
    ) -> Result<Self, DurableError> {
        let Opening {
            ctx, names, agent, ..
        } = opening;
        let steps = Steps {
            ctx,
            worker: opening.worker,
            names,
            run_id: opening.run_id,
            agent: Arc::clone(&agent),
            meter: Meter::default(),
            sink: SinkReplayFilter::new(Arc::clone(&opening.worker.sink)),
        };
        let cancellation = Cancellation::new(Box::pin(ctx.signal(CANCELLED)));
        let (ledger, mailbox) = carried.unzip();
        let mut waits = Waits::new(&steps, cancellation, mailbox.unwrap_or_default());
        let cancellation = &mut waits.cancellation;
        let (most, pulse, first) = (opening.most, opening.pulse, opening.first);
        let (patches, deployment) = (opening.patches, opening.deployment);
        let deployment = deployment.filter(|_| first.is_some());
        let started = steps.start(cancellation, most, pulse, first, patches, deployment);
        let started = started.await?;
        let pulse = started.pulse();
        waits.settle(&steps).await?;
        let mut has_continued = false;
        let ledger = match ledger {
            Some(mut ledger) => {
                has_continued = true;
                ledger.clock.advance(started.at);
                ledger.on(Record::new(names, opening.run_id.as_str()))
            }
            None => {
                let (run_id, agent) = (opening.run_id.clone(), &steps.agent);
                let status = RunStatus::new(run_id, ENGINE, agent, started.at);
                LedgerWriter::new(status.with_tags(&opening.tags), started.seed)
            }
        };
        let has_end_addresses = started.has_end_addresses;
        if has_end_addresses && !has_continued {
            let ends = ChildEnds::new(opening.run_id, opening.invocation, started.nonce);
            waits.ends = Some(ends);
        }
        let segment = Segment::new(
            opening.worker.registry.join(started.nonce),
            steps,
            pulse,
            ledger,
            opening.is_again,
            Attachment::new(opening.invocation, has_continued),
            opening.end_address.filter(|_| has_end_addresses),
        );
        waits.tell_cancelled(&segment);
        Ok(Self {
            segment,
            names,
            waits: AsyncMutex::new(waits),
            pace: Mutex::new(Pace::new(started.most, LIMIT)),
            has_hooks: started.has_hooks,
            has_continued,
            begun: Mutex::new(started.begun),
            patches: started.patches,
            deployment: started.deployment,
        })
    }

    /// Notifies the hooks and the readers of what they have not seen yet: the run's end above all.
    pub(crate) async fn finish(&self, output: &RunOutput) {
        self.segment.attempts.give_up();
        self.segment.ledger().end(output);
        let notices = self.segment.ledger().take_unobserved();
        let run = RunScope::from(self.segment.ledger().status());
        let (steps, mut waits) = (&self.segment.steps, self.waits.lock().await);
        // The run is over: a hook can no longer end it, and neither can a cancellation.
        let cancellation = &mut waits.cancellation;
        steps
            .notify(cancellation, &run, &notices, self.has_hooks)
            .await;
        let record = self.segment.ledger().take_record(&steps.meter);
        match record {
            // Every client that learns that the run is over can read its end. A run that Restate cancels meanwhile is
            // over all the same.
            Some((record, page)) => drop(record.append_all(steps.ctx, page).await),
            None => self.segment.flush(),
        }
        // An inbox that got nothing has nothing to forget, and a call would be a separate invocation.
        let is_known = waits.mailbox.count() > 0 || waits.cancellation.error().is_some();
        if is_known || self.segment.attachment.is_made() {
            let run_id = steps.run_id.as_str();
            let close = RequestTarget::object(self.names.inbox(), run_id, "close");
            drop(steps.ctx.request::<_, ()>(close, ()).send());
        }
    }

    /// Records that the run's first step ended: the segment began with its result.
    fn first_has_ended(&self, handle: Handle) {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = begun.take() {
            let end = AttemptEnd::first(handle, result);
            let at = self.now();
            self.segment
                .observed(0, Observation::of_ends(at, vec![end]));
        }
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a run whose state is too large to be carried over: returns `false`, or an error if its journal is full.
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

impl Adapter for RestateDurableContext<'_> {
    fn flow(&self) -> &Mutex<Flow> {
        &self.segment.flow
    }

    fn notify(&self, step: &Step) -> Vec<RunNotice> {
        // No worker makes what the server delivers: hooks are notified of what came before together with what follows.
        match step.effect.is_of_door() {
            true => Vec::new(),
            false => self.segment.ledger().take_unobserved(),
        }
    }

    fn left(&self, left: Left) {
        if let Some(step) = left.failing {
            self.segment.ledger().step_over(step);
        }
        let Some(key) = left.attempt else {
            return;
        };
        let key = (key.handle.number(), key.number);
        if left.is_owed {
            self.segment.attempts.cancel(key);
        } else {
            self.segment.attempts.remove(key);
        }
    }

    async fn settle(&self, asked: &Asked<'_>) -> Result<(), DurableError> {
        let mut waits = self.waits.lock().await;
        let looked = if asked.parks {
            Ok(())
        } else {
            waits.look_for_signal(&self.segment, asked.signals).await
        };
        waits.tell_cancelled(&self.segment);
        or_cancelled(looked)
    }

    async fn wait(&self, _: &Asked<'_>) -> Result<(), DurableError> {
        let mut waits = self.waits.lock().await;
        let observed = waits.observe(&self.segment).await;
        waits.tell_cancelled(&self.segment);
        or_cancelled(observed)
    }

    fn signal_at(&self, names: &[&str]) -> Option<u64> {
        let waits = self.waits.try_lock()?;
        waits.mailbox.has(names).then_some(BEHIND_ALL)
    }

    fn take_signal(&self, names: &[&str]) -> Option<Signal> {
        self.waits.try_lock()?.mailbox.take(names)
    }
}

/// Ignores that the run is cancelled: the flow knows it, and decides what it means for each waiter.
fn or_cancelled(result: Result<(), DurableError>) -> Result<(), DurableError> {
    match result {
        Err(DurableError::Cancelled { .. }) => Ok(()),
        other => other,
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
        let is_first = matches!(&what, Started::Step(step) if step.options.step == StepId::BEGIN);
        let handle = neuron_flow::start(self, what);
        if is_first {
            self.first_has_ended(handle);
        }
        handle
    }

    fn leave(&self, handle: Handle) -> bool {
        neuron_flow::leave(self, handle)
    }

    async fn next(&self, handles: &[Handle], signals: &[&str]) -> Result<Observed, DurableError> {
        neuron_flow::next(self, handles, signals).await
    }

    async fn poll(&self, signals: &[&str]) -> Result<Option<Signal>, DurableError> {
        neuron_flow::poll(self, signals).await
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
        if !self.segment.flow().is_idle() {
            return Err(still_in_flight());
        }
        self.segment.flush();
        let carried = serde_json::to_vec(&Carried {
            state,
            ledger: &*self.segment.ledger(),
            mailbox: &waits.mailbox,
            end_address: self.segment.end_address.clone(),
        });
        let carried = carried.map_err(DurableError::engine)?;
        if carried.len() > MOST_CARRIED {
            return self.too_large(carried.len());
        }
        let record = Record::new(self.names, self.segment.steps.run_id.as_str());
        if !self.has_continued {
            let started_at = self.segment.ledger().status().started_at;
            self.segment.steps.meter.count(ASK);
            record.begin(self.segment.steps.ctx, started_at);
        }
        self.segment.steps.meter.count(CALL);
        match record.carry(self.segment.steps.ctx, carried).await {
            Ok(()) => Err(DurableError::ContinuedAsNew),
            Err(error) => Err(waits.cancellation.engine_error(&error)),
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
