use std::{fmt, future::pending, pin::pin, time::Duration};

use neuron_types::{
    Decision, Place, RecordedEvent, RunEvent, RunId, RunOutput, RunPhase, RunRequest, RunStatus,
    Transcript, UpgradeRequest, UserMessage, WasmBoxedFuture, signal,
};
use serde_json::{Value, json};

use super::{EventPage, PageRequest, RunClientError, RunFilter, RunPage, TicketPage};
use crate::KnownSteps;

/// What a [`RunClient`]'s methods return.
pub type RunFuture<'a, T> = WasmBoxedFuture<'a, Result<T, RunClientError>>;

/// The interval between two looks at a run that was seen to progress.
const POLL: Duration = Duration::from_millis(100);

/// The interval between two looks at a run that does not progress: on an engine, each look costs a worker some work.
const IDLE_POLL: Duration = Duration::from_secs(1);

/// Starts, follows and steers the runs of one engine: the same names, arguments, answers and errors on each.
///
/// It is used as `Arc<dyn RunClient>`; a [`RunHandle`](crate::RunHandle) is a client and one run. Its clones and all its
/// futures are independent of each other. A future that is dropped leaves the run as it is; what the future had sent by
/// then may still arrive.
///
/// # Errors
///
/// Every method can fail with [`RunClientError::Unreachable`] if the engine does not answer, and with
/// [`RunClientError::Failed`] if the engine answers with an error: each in bounded time, and each is
/// [transient](RunClientError::is_transient). A method that takes a run id fails with
/// [`RunClientError::UnknownRun`] if the engine has no such run. Each method lists its other errors.
///
/// # Without a worker
///
/// A run has a status (`running`, turn 0) and no events until a worker takes up something of it. A request that a worker
/// has to answer fails with [`RunClientError::NoWorker`] after some seconds if there is no worker. The local engine needs
/// a worker only for the run itself: a run that no process executes, and that waits for no person, is `interrupted`
/// there.
///
/// What blocks a run without the run knowing it, such as a queue that no worker polls, is in [`RunStatus::blocked`] too,
/// as far as the engine reports it.
pub trait RunClient: fmt::Debug + Send + Sync + 'static {
    /// Returns the engine's name, as in [`RunStatus::engine`]: `local`, `temporal`, `restate`.
    fn engine(&self) -> &'static str;

    /// Returns where the runs are, under the name that their workers use: decisions are signed for one place.
    fn place(&self) -> Place;

    /// Starts a run. It is executed when a worker takes it up; on the local engine, by the process that opens it.
    ///
    /// The worker looks an agent up once if the request only names it; the client cannot know whether the agent exists. Until
    /// a worker has the agent, the run's status stays `running`, and its [`RunStatus::blocked`] shows the cause.
    ///
    /// # Errors
    ///
    /// [`RunClientError::RunExists`], also for a run that is over: an id is used once.
    /// [`RunClientError::TooLarge`].
    fn start<'a>(&'a self, run_id: &'a RunId, request: RunRequest) -> RunFuture<'a, ()>;

    /// Returns the request that the run was started with, or `None` if the engine does not have it any more, or this build
    /// cannot read it. The engine keeps it while the run is under way, in all its segments, and after the run's end for as
    /// long as it keeps runs that are over. No worker is needed.
    ///
    /// An agent that was only named may have been replaced by the definition that was found for it, with the run's changes
    /// of that definition in the [origin](RunRequest::origin): [`RunRequest::is_same_start`] treats the two as equal.
    ///
    /// A request contains texts that people wrote. No error of this method shows any of them.
    fn request<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Option<RunRequest>>;

    /// Returns whether the run was started with this request, as [`RunRequest::is_same_start`] compares. If so, a start that
    /// was rejected with [`RunClientError::RunExists`] may attach to the run.
    ///
    /// If the engine does not have the run's [request](Self::request) any more, the agent, the tags and the text of the
    /// prompt are compared, as far as the status and the first event have them.
    ///
    /// # Errors
    ///
    /// As [`request`](Self::request); if that returns `None`, as [`events`](Self::events).
    fn was_started_with<'a>(
        &'a self,
        run_id: &'a RunId,
        request: &'a RunRequest,
    ) -> RunFuture<'a, bool> {
        Box::pin(async move {
            match self.request(run_id).await? {
                Some(started) => Ok(started.is_same_start(request)),
                None => seems_started_with(self, run_id, request).await,
            }
        })
    }

    /// Returns the status of the run.
    ///
    /// # Errors
    ///
    /// [`RunClientError::NoWorker`].
    fn status<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, RunStatus>;

    /// Returns the first of the run's events behind number `after`, in order and without a gap: at most `limit`,
    /// and fewer where they are large; a limit of 0 counts as 1. Number 0 is before the first event.
    ///
    /// # Errors
    ///
    /// [`RunClientError::NoWorker`].
    fn events<'a>(
        &'a self,
        run_id: &'a RunId,
        after: u64,
        limit: usize,
    ) -> RunFuture<'a, EventPage>;

    /// Returns all events of the run behind number `after` that are recorded by now, in order.
    ///
    /// # Errors
    ///
    /// As [`events`](Self::events).
    fn events_after<'a>(
        &'a self,
        run_id: &'a RunId,
        after: u64,
    ) -> RunFuture<'a, Vec<RecordedEvent>> {
        Box::pin(async move {
            let mut events: Vec<RecordedEvent> = Vec::new();
            loop {
                let seen = events.last().map_or(after, |event| event.seq);
                let page = self.events(run_id, seen, usize::MAX).await?;
                events.extend(page.events);
                if !page.more {
                    return Ok(events);
                }
            }
        })
    }

    /// Returns what was said and done in the run so far. This includes what a compaction has removed from the conversation,
    /// and results as the model read them. [`Transcript::incomplete`] names what is lost. The transcript is bounded: the
    /// oldest results are left out first.
    ///
    /// By default it is made of the [events](Self::events) alone.
    ///
    /// # Errors
    ///
    /// As [`events`](Self::events).
    fn transcript<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Transcript> {
        Box::pin(async move {
            let events = self.events_after(run_id, 0).await?;
            Ok(KnownSteps::default().into_transcript(run_id.clone(), &events))
        })
    }

    /// Returns the run's output, or `None` until it is over. No worker is needed.
    fn output<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Option<RunOutput>>;

    /// Waits until the run is over, however long that takes and whatever the run waits for, and returns its output. No
    /// worker is needed.
    ///
    /// The wait fails if the engine becomes unreachable; it can be repeated.
    fn wait_for_end<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, RunOutput> {
        Box::pin(poll_for_end(self, run_id))
    }

    /// Waits until the run is over or needs a person, and returns its output as far as there is one: the output of a run
    /// that waits has no exit reason, and the open tickets. A missing worker is no error: the method waits for one.
    ///
    /// The wait is not bounded; callers put their own timeout around it. It fails if the engine becomes unreachable, and
    /// can be repeated.
    fn wait<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, RunOutput> {
        Box::pin(until_over_or_waiting(self, run_id))
    }

    /// Returns a page of runs, the newest first. All pages together contain each run that existed when the first page was
    /// requested.
    ///
    /// On Temporal a run is sorted by the beginning of its newest segment. On engines whose server cannot evaluate a filter,
    /// a page may have fewer runs than its limit, or no run at all, without being the last.
    ///
    /// # Errors
    ///
    /// [`RunClientError::BadCursor`].
    fn list<'a>(&'a self, filter: &'a RunFilter, page: PageRequest) -> RunFuture<'a, RunPage>;

    /// Returns open tickets, those of one run in the order in which they were opened. With a run id these are the tickets of
    /// that run, all on one page; without, those of all runs, the newest run first, one page of runs at a time. Such a page
    /// can have no ticket without being the last.
    ///
    /// # Errors
    ///
    /// As [`status`](Self::status) and [`list`](Self::list).
    fn tickets<'a>(
        &'a self,
        run_id: Option<&'a RunId>,
        page: PageRequest,
    ) -> RunFuture<'a, TicketPage> {
        Box::pin(async move {
            let runs = match run_id {
                Some(run_id) => RunPage::of(vec![self.status(run_id).await?]),
                None => self.list(&RunFilter::open(), page).await?,
            };
            Ok(runs.into())
        })
    }

    /// Decides about a ticket. Of several decisions about one ticket, one counts.
    ///
    /// If the same decision is made again, for example by a caller that lost the answer, it is accepted again or rejected as
    /// already decided; either way it counts once.
    ///
    /// # Errors
    ///
    /// [`RunClientError::Rejected`] for an unknown, expired or decided ticket, a wrong digest, and a run that is
    /// over: the decision changes nothing. [`RunClientError::NoWorker`], [`RunClientError::TooLarge`].
    fn decide<'a>(&'a self, run_id: &'a RunId, decision: &'a Decision) -> RunFuture<'a, ()>;

    /// Queues a message, which the run takes up between two turns.
    ///
    /// # Errors
    ///
    /// [`RunClientError::Rejected`] for a run that is over. [`RunClientError::NoWorker`],
    /// [`RunClientError::TooLarge`].
    fn send<'a>(&'a self, run_id: &'a RunId, message: UserMessage) -> RunFuture<'a, ()>;

    /// Sends any signal. The signals that an agent run takes are sent as by [`decide`](Self::decide),
    /// [`send`](Self::send) and [`cancel`](Self::cancel).
    ///
    /// # Errors
    ///
    /// As those methods, and [`RunClientError::BadSignal`] if the payload does not fit such a signal.
    fn signal<'a>(&'a self, run_id: &'a RunId, name: &'a str, payload: Value) -> RunFuture<'a, ()>;

    /// Cancels the run, and returns its phase at this moment: a run that a worker executes ends a moment later.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    fn cancel<'a>(&'a self, run_id: &'a RunId, reason: Option<String>) -> RunFuture<'a, RunPhase>;

    /// Asks the run to adopt the current definition of its agent, as the worker has it, before the run's next turn. `by` is
    /// who asks for it, for the record. The run's events show the result: [`RunEvent::Upgraded`], or
    /// [`RunEvent::SignalIgnored`] with the reason why the run keeps its definition.
    ///
    /// [`RunEvent::Upgraded`]: neuron_types::RunEvent::Upgraded
    /// [`RunEvent::SignalIgnored`]: neuron_types::RunEvent::SignalIgnored
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    fn upgrade<'a>(&'a self, run_id: &'a RunId, by: Option<String>) -> RunFuture<'a, ()> {
        Box::pin(async move {
            let payload = json!(UpgradeRequest { by });
            self.signal(run_id, signal::UPGRADE, payload).await
        })
    }

    /// Returns whether a process executes the run just now, or `None` on an engine, which assigns workers itself.
    fn is_executing<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Option<bool>>;

    /// Returns how long to wait before the next look at a run, after this many successive looks that found nothing new.
    fn poll_interval(&self, quiet_looks: u32) -> Duration {
        POLL.saturating_mul(1 << quiet_looks.min(4)).min(IDLE_POLL)
    }
}

/// Returns whether what a run shows fits this request. A run that no worker has begun to execute does not show its prompt.
async fn seems_started_with<C: RunClient + ?Sized>(
    client: &C,
    run_id: &RunId,
    request: &RunRequest,
) -> Result<bool, RunClientError> {
    let status = client.status(run_id).await?;
    if status.first_agent() != request.agent.name() || status.tags() != request.tags {
        return Ok(false);
    }
    let page = client.events(run_id, 0, 1).await?;
    let first = page.events.into_iter().next().map(|first| first.event);
    Ok(match first {
        Some(RunEvent::RunStarted { prompt, .. }) => prompt == request.prompt.text(),
        _ => true,
    })
}

/// Polls the run until it has an output.
async fn poll_for_end<C: RunClient + ?Sized>(
    client: &C,
    run_id: &RunId,
) -> Result<RunOutput, RunClientError> {
    let mut looks = 0;
    loop {
        if let Some(output) = client.output(run_id).await? {
            return Ok(output);
        }
        tokio::time::sleep(client.poll_interval(looks)).await;
        looks = looks.saturating_add(1);
    }
}

/// Waits for the end, and meanwhile polls whether the run needs a person.
async fn until_over_or_waiting<C: RunClient + ?Sized>(
    client: &C,
    run_id: &RunId,
) -> Result<RunOutput, RunClientError> {
    let end = pin!(client.wait_for_end(run_id));
    let person = pin!(until_it_waits(client, run_id));
    tokio::select! {
        biased;
        ended = end => ended,
        waiting = person => waiting,
    }
}

async fn until_it_waits<C: RunClient + ?Sized>(
    client: &C,
    run_id: &RunId,
) -> Result<RunOutput, RunClientError> {
    let mut last = None;
    let mut quiet_looks = 0;
    loop {
        tokio::time::sleep(client.poll_interval(quiet_looks)).await;
        match client.status(run_id).await {
            Ok(status) if status.state.waits_for_person() => return Ok(status.output(None)),
            // The wait for the end returns the output.
            Ok(status) if status.state.is_final() => return pending().await,
            Ok(status) if last.as_ref() != Some(&status) => {
                quiet_looks = 0;
                last = Some(status);
            }
            // A worker may still start, and the wait for the end notices an engine that became unreachable.
            Err(error) if !error.is_transient() => return Err(error),
            Ok(_) | Err(_) => quiet_looks = quiet_looks.saturating_add(1),
        }
    }
}
