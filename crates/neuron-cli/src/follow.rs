//! Watching a run that others execute.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use neuron_runtime::EventSink;
use neuron_types::{RunId, RunStatus};

use crate::{CliError, engine::Engine, progress::Progress};

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

/// Tells the run's events to the sink as they are recorded, those after number `seen`, until the run is over
/// or nobody executes it.
///
/// # Errors
///
/// What keeps the engine from being asked.
pub(crate) async fn follow(
    engine: &Engine,
    run_id: &RunId,
    mut seen: u64,
    sink: &dyn EventSink,
    progress: &Progress,
) -> Result<Followed, CliError> {
    let mut ended = pin!(engine.ended(run_id));
    let mut told_end = false;
    let mut last = None;
    let mut left = 0;
    let mut quiet = 0;
    loop {
        // In this order: what is found to be over, or left, has told everything before.
        let executing = engine.is_executing(run_id)?;
        let status = patiently(progress, async || engine.status(run_id).await).await?;
        let over = status.state.is_final();
        if last.as_ref() == Some(&status) && !over {
            quiet += 1;
        } else {
            quiet = 0;
            let events = match engine.events(run_id, seen).await {
                // They come with the next look. After the end they are not waited for: the output is there.
                Err(error) if error.may_pass() && over => Vec::new(),
                Err(error) if error.may_pass() => continue,
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
            () = &mut ended, if !told_end => told_end = true,
            () = tokio::time::sleep(engine.poll(quiet)) => {}
        }
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
    mut ask: impl AsyncFnMut() -> Result<T, CliError>,
) -> Result<T, CliError> {
    let mut away_since = None;
    let mut told = None;
    loop {
        let error = match ask().await {
            Err(error) if error.may_pass() => error,
            answer => return answer,
        };
        if error.is_worker_away() {
            away_since = None;
        } else if *away_since.get_or_insert_with(Instant::now) + ABSENCE < Instant::now() {
            return Err(error);
        }
        let text = error.to_string();
        if told.as_ref() != Some(&text) {
            progress.note(&text);
            told = Some(text);
        }
        tokio::time::sleep(AGAIN).await;
    }
}
