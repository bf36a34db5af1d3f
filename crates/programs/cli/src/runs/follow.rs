//! Watching a run that others execute.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use neuron_engine::{RunClientError, RunHandle};
use neuron_executor::EventSink;
use neuron_types::RunStatus;

use crate::{CliError, advice::EngineError, terminal::blocked, terminal::progress::Progress};

/// How often in a row nobody may be found to execute the run before that is believed: between two executors,
/// and between a run's first entry and its executor, there is a gap.
const LOOKS: u32 = 5;

/// How long an engine may be away before nobody waits for it any longer.
const ABSENCE: Duration = Duration::from_secs(120);

/// How long to wait until something is tried again that failed.
const AGAIN: Duration = Duration::from_millis(500);

/// Why a run is not followed any longer.
#[derive(Debug)]
pub(crate) enum Followed {
    /// It is over.
    Over,
    /// Nobody executes it, and it is not over.
    Left(Box<RunStatus>),
}

/// Whether somebody sees to it that the run goes on. An engine always does.
///
/// # Errors
///
/// Why it cannot be said.
pub(crate) async fn is_executing(run: &RunHandle) -> Result<bool, RunClientError> {
    Ok(run.is_executing().await?.unwrap_or(true))
}

/// Tells the run's events to the sink as they are recorded, those after number `seen`, until the run is over
/// or nobody executes it.
///
/// # Errors
///
/// What keeps the engine from being asked.
pub(crate) async fn follow(
    run: &RunHandle,
    mut seen: u64,
    sink: &dyn EventSink,
    progress: &Progress,
) -> Result<Followed, CliError> {
    let mut ended = pin!(run.wait_for_end());
    let mut told_end = false;
    let mut last = None;
    let mut left = 0;
    let mut quiet = 0;
    loop {
        // In this order: what is found to be over, or left, has told everything before.
        let executing = is_executing(run).await?;
        let status = patiently(progress, async || run.status().await).await?;
        let over = status.state.is_final();
        if last.as_ref() == Some(&status) && !over {
            quiet += 1;
        } else {
            quiet = 0;
            tell_blocked(last.as_ref(), &status, progress);
            let events = match run.events_after(seen).await {
                // They come with the next look. After the end they are not waited for: the output is there.
                Err(error) if error.is_transient() && over => Vec::new(),
                Err(error) if error.is_transient() => continue,
                events => events?,
            };
            for event in events {
                sink.event(&event);
                seen = event.seq;
            }
        }
        if over {
            return Ok(Followed::Over);
        }
        left = if executing { 0 } else { left + 1 };
        if left == LOOKS {
            return Ok(Followed::Left(Box::new(status)));
        }
        last = Some(status);
        tokio::select! {
            // What keeps its end from being said, the next look will see.
            _ = &mut ended, if !told_end => told_end = true,
            () = tokio::time::sleep(run.client().poll_interval(quiet)) => {}
        }
    }
}

/// Says what holds the run up, if it is something new.
fn tell_blocked(last: Option<&RunStatus>, status: &RunStatus, progress: &Progress) {
    let known = last.and_then(|last| last.blocked.as_ref());
    if let Some(new) = status
        .blocked
        .as_ref()
        .filter(|new| Some(*new) != known && !new.kind.is_ticket())
    {
        progress.note(&blocked::note(new));
    }
}

/// Asks an engine until it answers. That nobody answers is told once; a worker is waited for as long as it
/// takes, the engine itself for two minutes.
///
/// # Errors
///
/// What does not pass by itself.
pub(crate) async fn patiently<T>(
    progress: &Progress,
    mut ask: impl AsyncFnMut() -> Result<T, RunClientError>,
) -> Result<T, CliError> {
    let mut away_since = None;
    let mut told = None;
    loop {
        let error = match ask().await {
            Err(error) if error.is_transient() => error,
            answer => return Ok(answer?),
        };
        if error.is_no_worker() {
            away_since = None;
        } else if *away_since.get_or_insert_with(Instant::now) + ABSENCE < Instant::now() {
            return Err(error.into());
        }
        let text = EngineError(error).to_string();
        if told.as_ref() != Some(&text) {
            progress.note(&text);
            told = Some(text);
        }
        tokio::time::sleep(AGAIN).await;
    }
}
