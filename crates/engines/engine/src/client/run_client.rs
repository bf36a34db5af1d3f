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

/// The interval between two looks at a run that was seen to move.
const POLL: Duration = Duration::from_millis(100);

/// The interval between two looks at a run that does not move: on an engine each look costs a worker something.
const IDLE_POLL: Duration = Duration::from_secs(1);

/// Starts, follows and steers the runs of one engine: the same names, arguments, answers and errors on each.
///
/// It is used as `Arc<dyn RunClient>`; a [`RunHandle`](crate::RunHandle) is a client and one run. Its clones and
/// all its futures are independent of each other, and a future that is dropped leaves the run as it is: what it
/// had sent by then may still arrive.
///
/// # Errors
///
/// Every method can fail with [`RunClientError::Unreachable`] where the engine does not answer and with
/// [`RunClientError::Failed`] where it answers with an error: each in bounded time, and each is
/// [transient](RunClientError::is_transient). A method that takes a run id fails with
/// [`RunClientError::UnknownRun`] where the engine has no such run. Each method says what else there is.
///
/// # Without a worker
///
/// A run of which no worker has taken up anything yet has a status (`running`, turn 0) and no events. What has to
/// be answered by a worker that is not there fails with [`RunClientError::NoWorker`] after some seconds. The local
/// engine needs no worker for anything but the run itself: a run that no process executes, and that waits for nobody, is
/// `interrupted` there.
///
/// What holds a run up that the run cannot know, as that nobody polls its queue, stands in
/// [`RunStatus::blocked`] too, as far as the engine says it.
pub trait RunClient: fmt::Debug + Send + Sync + 'static {
    /// Returns the engine's name, as in [`RunStatus::engine`]: `local`, `temporal`, `restate`.
    fn engine(&self) -> &'static str;

    /// Returns where the runs are, as those who execute them name it: decisions are signed for one place.
    fn place(&self) -> Place;

    /// Starts a run. It is executed when a worker takes it up; on the local engine, by the process that opens it.
    ///
    /// An agent that is only named is looked up by that worker, once: whether there is one, nobody can say here. Until a
    /// worker has it, the run's status says so in [`RunStatus::blocked`], and goes on being `running`.
    ///
    /// # Errors
    ///
    /// [`RunClientError::RunExists`], also for a run that is over: an id is used once.
    /// [`RunClientError::TooLarge`].
    fn start<'a>(&'a self, run_id: &'a RunId, request: RunRequest) -> RunFuture<'a, ()>;

    /// Returns what the run was started with, or `None` where the engine does not have it any more, or this build cannot
    /// read it. It is there while the run is under way, in all its segments, and after its end for as long as the engine
    /// keeps what is over. No worker is needed.
    ///
    /// An agent that was only named may have been replaced by the definition that was found for it, with what the run
    /// changes of it in the [origin](RunRequest::origin): [`RunRequest::is_same_start`] takes the two for the same.
    ///
    /// A request has what people wrote. No error of this method shows any of it.
    fn request<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Option<RunRequest>>;

    /// Returns whether the run was started with this request, as [`RunRequest::is_same_start`] compares: whether a start
    /// that was rejected with [`RunClientError::RunExists`] may attach to the run.
    ///
    /// Where the engine does not have the run's [request](Self::request) any more, the agent, the tags and the text of the
    /// prompt decide, as far as the status and the first event have them.
    ///
    /// # Errors
    ///
    /// As [`request`](Self::request); where that has nothing, as [`events`](Self::events).
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

    /// Returns where the run stands.
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

    /// Returns what was said and done in the run so far: what a compaction has taken out of the conversation too, and
    /// results as the model read them. What is not there any more, [`Transcript::incomplete`] says; it is also bounded,
    /// by the oldest results.
    ///
    /// By default it has what the [events](Self::events) say.
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

    /// Waits until the run is over, however long that takes and whatever it waits for, and returns its output. No
    /// worker is needed.
    ///
    /// The wait fails when the engine goes away; it can be made again.
    fn wait_for_end<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, RunOutput> {
        Box::pin(poll_for_end(self, run_id))
    }

    /// Waits until the run is over or needs a person, and returns its output as far as it has one: that of a run
    /// that waits has no exit reason, and its open tickets. A worker that is missing is waited for.
    ///
    /// The wait is not bounded; callers put their own timeout around it. It fails when the engine goes away, and
    /// can be made again.
    fn wait<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, RunOutput> {
        Box::pin(until_over_or_waiting(self, run_id))
    }

    /// Returns a page of runs, the newest first. All pages together hold each run that was there when the first
    /// was asked for.
    ///
    /// On Temporal a run stands where its newest segment began. On engines whose server does not know what a filter
    /// asks for, a page has fewer runs than it may have: none at all, and still be not the last.
    ///
    /// # Errors
    ///
    /// [`RunClientError::BadCursor`].
    fn list<'a>(&'a self, filter: &'a RunFilter, page: PageRequest) -> RunFuture<'a, RunPage>;

    /// Returns open tickets, those of a run in the order in which they were opened: of this run, all on one page;
    /// or of all runs, the newest run first, a page of runs at a time. Such a page can be without a ticket and not
    /// the last.
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

    /// Decides about a ticket. Of several decisions about one ticket one counts.
    ///
    /// The same decision made again, as by a caller that lost the answer, is accepted again or rejected as decided
    /// already; either way it counts once.
    ///
    /// # Errors
    ///
    /// [`RunClientError::Rejected`] for an unknown, expired or decided ticket, a wrong digest, and a run that is
    /// over: the run goes on waiting. [`RunClientError::NoWorker`], [`RunClientError::TooLarge`].
    fn decide<'a>(&'a self, run_id: &'a RunId, decision: &'a Decision) -> RunFuture<'a, ()>;

    /// Queues a message, which the run takes up between two turns.
    ///
    /// # Errors
    ///
    /// [`RunClientError::Rejected`] for a run that is over. [`RunClientError::NoWorker`],
    /// [`RunClientError::TooLarge`].
    fn send<'a>(&'a self, run_id: &'a RunId, message: UserMessage) -> RunFuture<'a, ()>;

    /// Sends any signal. Those that an agent run takes go the way of [`decide`](Self::decide),
    /// [`send`](Self::send) and [`cancel`](Self::cancel).
    ///
    /// # Errors
    ///
    /// As those, and [`RunClientError::BadSignal`] if the payload does not fit such a signal.
    fn signal<'a>(&'a self, run_id: &'a RunId, name: &'a str, payload: Value) -> RunFuture<'a, ()>;

    /// Cancels the run, and returns its phase at this moment: a run that is executed ends a moment later.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    fn cancel<'a>(&'a self, run_id: &'a RunId, reason: Option<String>) -> RunFuture<'a, RunPhase>;

    /// Has the run adopt the current definition of its agent before its next turn: the one that the worker has then. `by`
    /// is who wishes it, for the record. What came of it the run's events say: [`RunEvent::Upgraded`], or
    /// [`RunEvent::SignalIgnored`] with the reason for which it keeps the definition that it has.
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

    /// Returns whether a process executes the run just now, or `None` on an engine, which sees to that itself.
    fn is_executing<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Option<bool>>;

    /// Returns how long to wait before the next look at a run, after this many looks in a row at which nothing was
    /// new.
    fn poll_interval(&self, quiet_looks: u32) -> Duration {
        POLL.saturating_mul(1 << quiet_looks.min(4)).min(IDLE_POLL)
    }
}

/// Whether what a run shows fits this request. A run that has not begun to be executed does not show its prompt.
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

/// Looks again and again until the run has an output.
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

/// Waits for the end, and looks beside it whether the run needs a person.
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
            // The wait for the end has its output.
            Ok(status) if status.state.is_final() => return pending().await,
            Ok(status) if last.as_ref() != Some(&status) => {
                quiet_looks = 0;
                last = Some(status);
            }
            // A worker may come yet, and the wait for the end notices an engine that went away.
            Err(error) if !error.is_transient() => return Err(error),
            Ok(_) | Err(_) => quiet_looks = quiet_looks.saturating_add(1),
        }
    }
}
