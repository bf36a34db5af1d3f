//! Watching a run that other processes execute.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use neuron_engine::{RunClientError, RunHandle};
use neuron_executor::EventSink;
use neuron_types::RunStatus;

use crate::{
    CliError, advice::EngineError, runs::hold_ups::HoldUps, session::Session,
    terminal::progress::Progress,
};

/// The number of looks in a row without an executor after which a run counts as left: between two executors, and
/// between a run's first entry and its executor, there is a gap.
const LOOKS: u32 = 5;

/// The number of such looks after which it is mentioned that a worker exists and has not taken the run up.
const MANY_LOOKS: u32 = 50;

/// How long an engine may be away until the command gives up.
const ABSENCE: Duration = Duration::from_secs(120);

/// How long to wait before a failed request is tried again.
const AGAIN: Duration = Duration::from_millis(500);

/// Why a run is not followed any longer.
#[derive(Debug)]
pub(crate) enum Followed {
    /// The run is over.
    Over,
    /// The run is not over, and no process executes it.
    Left(Box<RunStatus>),
}

/// Returns whether some process executes the run. On an engine, one always does.
///
/// # Errors
///
/// The engine cannot be asked.
pub(crate) async fn is_executing(run: &RunHandle) -> Result<bool, RunClientError> {
    Ok(run.is_executing().await?.unwrap_or(true))
}

/// Returns whether a run is left, after this number of looks in a row that found no executor. A worker counts as one,
/// unless the run waits for a person.
pub(crate) async fn is_left(session: &Session, status: &RunStatus, looks: u32) -> bool {
    let is_time = looks > 0 && looks.is_multiple_of(LOOKS);
    is_time && (status.state.waits_for_person() || !session.has_worker().await)
}

/// Passes the run's events to the sink as they are recorded, those after number `seen`, until the run is over or left.
///
/// # Errors
///
/// The engine cannot be asked.
pub(crate) async fn follow(
    session: &Session,
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
    let mut is_behind = false;
    let mut hold_ups = HoldUps::default();
    loop {
        // The order matters: when a run is found to be over, or left, everything before has been reported.
        let executing = is_executing(run).await?;
        let status = patiently(progress, async || run.status().await).await?;
        let over = status.state.is_final();
        if let Some(why) = hold_ups.new_one(&status) {
            progress.note(&why);
        }
        if last.as_ref() == Some(&status) && !over && !is_behind {
            quiet += 1;
        } else {
            let events = match run.events_after(seen).await {
                // A later look finds these events. After the end they are not awaited: the output can be read.
                Err(error) if error.is_transient() => {
                    is_behind = !over;
                    quiet += 1;
                    Vec::new()
                }
                events => {
                    is_behind = false;
                    quiet = 0;
                    events?
                }
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
        if is_left(session, &status, left).await {
            return Ok(Followed::Left(Box::new(status)));
        }
        if left == MANY_LOOKS {
            progress.note("a worker runs here and does not execute the run: its output shows why");
        }
        last = Some(status);
        tokio::select! {
            // An error in asking for the end will show in the next look.
            _ = &mut ended, if !told_end => told_end = true,
            () = tokio::time::sleep(run.client().poll_interval(quiet)) => {}
        }
    }
}

/// Asks an engine until it answers. A missing answer is reported once; a worker is awaited for as long as it takes, the
/// engine itself for two minutes.
///
/// # Errors
///
/// Errors that are not transient.
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
