use std::{sync::atomic::Ordering, time::Duration};

use neuron_engine::{RunClient as _, RunClientError};
use neuron_types::RunPhase;
use tokio::time::{Instant, timeout};

use crate::fake::{Fake, run_id};

const MINUTE: Duration = Duration::from_secs(60); // The clock is paused.

const RUNNING: RunPhase = RunPhase::Running;

fn no_worker() -> RunClientError {
    RunClientError::NoWorker {
        engine: "fake",
        run_id: run_id(),
        is_kept: false,
    }
}

fn unknown() -> RunClientError {
    RunClientError::UnknownRun { run_id: run_id() }
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_where_the_run_needs_a_person() {
    let client = Fake::new([Ok(RUNNING), Ok(RunPhase::WaitingForApproval)]);
    let output = client.wait(&run_id()).await.unwrap();
    assert_eq!(output.state, RunPhase::WaitingForApproval);
    assert_eq!((output.exit_reason, output.approvals.len()), (None, 1));
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_with_the_run_and_a_worker_that_is_missing_is_waited_for() {
    let client = Fake::new([
        Ok(RUNNING),
        Err(no_worker as fn() -> RunClientError),
        Ok(RunPhase::Completed),
    ]);
    let output = client.wait(&run_id()).await.unwrap();
    assert_eq!(output.state, RunPhase::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_an_unknown_run_fails() {
    let client = Fake::new([Err(unknown as fn() -> RunClientError)]);
    let error = client.wait(&run_id()).await.unwrap_err();
    assert!(error.is_unknown_run(), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_the_end_goes_on_while_a_person_thinks() {
    let client = Fake::new([Ok(RunPhase::WaitingForApproval)]);
    let waiting = timeout(60 * MINUTE, client.wait_for_end(&run_id())).await;
    waiting.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_run_that_does_not_move_is_looked_at_less_and_less_often() {
    let client = Fake::new([Ok(RUNNING)]);
    let since = Instant::now();
    timeout(MINUTE, client.wait(&run_id())).await.unwrap_err();
    assert_eq!(since.elapsed(), MINUTE);
    let looks = client.asked.load(Ordering::Relaxed);
    assert!((60..70).contains(&looks), "{looks}");
    let intervals = [0, 1, 2, 3, 4, 100].map(|quiet| client.poll_interval(quiet).as_millis());
    assert_eq!(intervals, [100, 200, 400, 800, 1_000, 1_000]);
}
