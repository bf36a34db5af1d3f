use std::time::Duration;

use neuron_testing::{door::execute_tools, effects::text_of};
use neuron_types::{BlockedKind, DurableContext, DurableError, FailureKind, StepFailure};
use tokio::time::Instant;

use super::{World, plain_output};
use crate::room::{Act, call, check_retries, eventually, model_options, options, request, since};

const SECOND: Duration = Duration::from_secs(1); // The clock is paused, or nothing waits.
const MINUTE: Duration = Duration::from_secs(60); // The clock is paused.
const HOUR: Duration = Duration::from_secs(3600); // The clock is paused.

/// How long a run sleeps by the real clock.
const A_MOMENT: Duration = Duration::from_millis(20); // It may take longer.

/// Checks until it is true, on a paused clock.
async fn until(is_so: impl Fn() -> bool) {
    const BETWEEN_LOOKS: Duration = Duration::from_millis(100); // The clock is paused.
    while !is_so() {
        tokio::time::sleep(BETWEEN_LOOKS).await; // The clock is paused.
    }
}

pub(super) fn failure<T: std::fmt::Debug>(result: Result<T, DurableError>) -> StepFailure {
    match result {
        Err(DurableError::Step(failure)) => failure,
        other => panic!("{other:?} is no failed step"),
    }
}

#[tokio::test]
async fn of_every_kind_are_performed_once_and_replayed_with_the_same_results() {
    let world = World::acting([Act::Answer, Act::fail(FailureKind::ToolInput)]).await;
    let mut seen = Vec::new();
    for _ in 0..2 {
        let door = world.door().await;
        let mut results = vec![format!("{:?}", door.now())];
        let answer = door.execute_llm_call(&request(1), &model_options(1)).await;
        results.push(format!("{:?} at {:?}", answer.unwrap(), door.now()));
        let refused = door
            .execute_tool(&call("write"), &options("write", 1, 1))
            .await;
        results.push(format!("{:?} at {:?}", failure(refused), door.now()));
        let each = [options("read", 2, 1), options("put", 2, 2)];
        let batch = execute_tools(&door, &[call("read"), call("put")], &each).await;
        results.push(format!("{batch:?} at {:?}", door.now()));
        door.sleep(A_MOMENT).await.unwrap(); // It may take longer.
        results.push(format!(
            "{:?} {:?} {:?}",
            door.now(),
            door.uuid(),
            door.uuid()
        ));
        seen.push(results);
    }
    assert_eq!(seen[0], seen[1]);
    let mut calls = world.room.calls();
    calls[2..].sort();
    assert_eq!(calls, ["model 1", "write r:1:1", "put r:2:2", "read r:2:1"]);
}

#[tokio::test]
async fn move_the_clock_to_when_their_result_was_journaled() {
    let world = World::new().await;
    let door = world.door().await;
    let start = door.now();
    let poll = door
        .wait_for_signal::<u32>("go", Some(Duration::ZERO))
        .await;
    assert_eq!((poll.unwrap(), door.now()), (None, start));
    door.execute_llm_call(&request(1), &model_options(1))
        .await
        .unwrap();
    let after = door.now();
    assert!(after > start);
    door.sleep(A_MOMENT).await.unwrap(); // It may take longer.
    assert!(since(after, door.now()) >= A_MOMENT);
}

/// Starts a tool that hangs, and dies.
pub(super) async fn die_in(world: &World, name: &str) {
    let door = world.door().await;
    let before = world.room.calls().len();
    let (call, options) = (call(name), options(name, 1, 1));
    tokio::select! {
        _ = door.execute_tool(&call, &options) => panic!("the tool hangs"),
        () = eventually(|| world.room.calls().len() > before) => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn that_only_read_or_are_idempotent_are_called_again_with_the_same_key() {
    for name in ["read", "put"] {
        let world = World::acting([Act::Hang, Act::Hang]).await;
        die_in(&world, name).await;
        die_in(&world, name).await;
        let door = world.door().await;
        let output = door.execute_tool(&call(name), &options(name, 1, 1)).await;
        assert!(!output.unwrap().is_error);
        let key = format!("{name} r:1:1");
        assert_eq!(world.room.calls(), vec![key; 3]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn that_were_lost_ten_times_in_a_row_are_not_called_again() {
    let hangs = std::iter::repeat_with(|| Act::Hang).take(10);
    let world = World::acting(hangs).await;
    for _ in 0..10 {
        die_in(&world, "read").await;
    }
    for _ in 0..2 {
        let door = world.door().await;
        let result = door
            .execute_tool(&call("read"), &options("read", 1, 1))
            .await;
        let failure = failure(result);
        assert_eq!(failure.kind, FailureKind::WorkerLost);
        assert!(failure.message.contains("10 times"), "{failure:?}");
        // What follows was not in flight when the processes were lost.
        let next = door.execute_tool(&call("put"), &options("put", 2, 1)).await;
        assert!(!next.unwrap().is_error);
    }
    assert_eq!(world.room.calls().len(), 11);
}

#[tokio::test]
async fn that_write_are_never_called_again() {
    let world = World::acting([Act::Hang]).await;
    die_in(&world, "write").await;
    for _ in 0..3 {
        let door = world.door().await;
        let result = door
            .execute_tool(&call("write"), &options("write", 1, 1))
            .await;
        assert_eq!(failure(result).kind, FailureKind::OutcomeUnknown);
    }
    assert_eq!(world.room.calls(), ["write r:1:1"]);
}

#[tokio::test]
async fn that_write_are_announced_before_they_are_made() {
    let world = World::acting([Act::Hang]).await;
    die_in(&world, "write").await;
    let started = "SELECT count(*) FROM attempts WHERE failure IS NULL";
    assert_eq!(world.count(started), 1);
    assert_eq!(world.count("SELECT count(*) FROM entries"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_batch_that_were_done_are_not_repeated_with_the_others() {
    let world = World::acting([Act::Answer, Act::Hang, Act::Hang]).await;
    let calls = [call("read"), call("put"), call("write")];
    let each = [
        options("read", 1, 1),
        options("put", 1, 2),
        options("write", 1, 3),
    ];
    let door = world.door().await;
    let done = "SELECT count(*) FROM entries WHERE result IS NOT NULL";
    tokio::select! {
        _ = execute_tools(&door, &calls, &each) => panic!("two tools hang"),
        () = eventually(|| world.room.calls().len() == 3 && world.count(done) == 1) => {}
    }
    drop(door);

    let door = world.door().await;
    let results = execute_tools(&door, &calls, &each).await;
    assert_eq!(
        text_of(results[0].as_ref().unwrap()),
        r#"read of {"n":1.1}"#
    );
    assert_eq!(text_of(results[1].as_ref().unwrap()), r#"put of {"n":1.1}"#);
    assert!(
        matches!(&results[2], Err(DurableError::Step(failure)) if failure.kind == FailureKind::OutcomeUnknown)
    );
    let calls = world.room.calls();
    assert_eq!(calls[3..], ["put r:1:2"]);
}

#[tokio::test]
async fn of_a_batch_answer_in_the_order_of_the_calls() {
    let world = World::acting([Act::fail(FailureKind::ToolFailed)]).await;
    let calls = [call("read"), call("put"), call("read")];
    let each = [
        options("read", 1, 1),
        options("put", 1, 2),
        options("read", 1, 3),
    ];
    let door = world.door().await;
    let live = execute_tools(&door, &calls, &each).await;
    assert!(live[0].as_ref().unwrap().is_error);
    assert_eq!(text_of(live[1].as_ref().unwrap()), r#"put of {"n":1.1}"#);
    drop(door);
    let door = world.door().await;
    let replayed = execute_tools(&door, &calls, &each).await;
    for (live, replayed) in live.iter().zip(&replayed) {
        assert_eq!(live.as_ref().unwrap(), replayed.as_ref().unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn are_retried_as_the_policy_says() {
    let world = World::acting([
        Act::fail(FailureKind::Overloaded),
        Act::Fail(FailureKind::RateLimited, Some(7 * SECOND)),
    ])
    .await;
    let door = world.door().await;
    let start = Instant::now();
    door.execute_llm_call(&request(1), &model_options(1))
        .await
        .unwrap();
    let waited = start.elapsed();
    assert_eq!(
        world.count("SELECT count(*) FROM attempts WHERE failure IS NOT NULL"),
        2
    );
    let notices = world.room.sink.retries.lock().unwrap();
    check_retries(&notices, waited);
}

#[tokio::test(start_paused = true)]
async fn that_go_on_failing_are_shown_and_leave_a_bounded_number_of_rows() {
    const FAILURES: usize = 60;
    let world = World::acting([Act::fail(FailureKind::Network); FAILURES]).await;
    let mut options = model_options(1);
    options.retry_policy.maximum_attempts = 0;
    let (request, door) = (request(1), world.door().await);
    let attempts = || world.room.sink.retries.lock().unwrap().len();
    let shown = async {
        until(|| attempts() >= 12).await;
        let status = world.journal().await.status(&world.run_id).await.unwrap();
        status.blocked.unwrap()
    };
    let (answer, shown) = tokio::join!(door.execute_llm_call(&request, &options), shown);
    answer.unwrap();
    assert_eq!(shown.kind, BlockedKind::StepFailing);
    assert!(shown.attempt >= Some(11), "{shown:?}");
    assert!(
        shown.next_at.is_some_and(|next| next > shown.since),
        "{shown:?}"
    );
    assert_eq!(world.room.calls().len(), FAILURES + 1);
    assert_eq!(world.count("SELECT count(*) FROM attempts"), 6);
}

#[tokio::test(start_paused = true)]
async fn are_given_up_with_their_last_failure_when_they_failed_for_too_long() {
    let world = World::acting([Act::fail(FailureKind::Network); 60]).await;
    let mut options = model_options(1);
    options.retry_policy.maximum_attempts = 0;
    options.retry_policy.give_up_after = Some(5 * MINUTE);
    let start = Instant::now();
    for _ in 0..2 {
        let door = world.door().await;
        let result = door.execute_llm_call(&request(1), &options).await;
        assert_eq!(failure(result).kind, FailureKind::Network);
    }
    let calls = world.room.calls().len();
    assert!((6..60).contains(&calls), "{calls}");
    let waited = start.elapsed();
    assert!(waited > 200 * SECOND, "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn fail_for_good_after_the_last_attempt_in_every_replay() {
    let world = World::acting([Act::fail(FailureKind::Unavailable); 5]).await;
    for _ in 0..2 {
        let door = world.door().await;
        let result = door.execute_tool(&call("put"), &options("put", 1, 1)).await;
        assert_eq!(failure(result).kind, FailureKind::Unavailable);
    }
    assert_eq!(world.room.calls().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn go_on_with_the_attempt_and_the_delay_at_which_the_process_died() {
    let world = World::acting([
        Act::fail(FailureKind::Overloaded),
        Act::Fail(FailureKind::RateLimited, Some(500 * SECOND)),
        Act::fail(FailureKind::Overloaded),
        Act::fail(FailureKind::Overloaded),
        Act::fail(FailureKind::Overloaded),
    ])
    .await;
    let (request, options) = (request(1), model_options(1));
    // The wall clock decides how much of the delay is left, and it continues beside the paused one.
    let really = std::time::Instant::now();
    let door = world.door().await;
    let attempts = || world.room.sink.retries.lock().unwrap().len();
    tokio::select! {
        _ = door.execute_llm_call(&request, &options) => panic!("it waits for its third attempt"),
        () = until(|| attempts() >= 2) => {}
    }
    drop(door);

    let door = world.door().await;
    let start = Instant::now();
    let result = door.execute_llm_call(&request, &options).await;
    assert_eq!(failure(result).kind, FailureKind::Overloaded);
    assert_eq!(world.room.calls().len(), 5, "two before, three after");
    let waited = start.elapsed();
    assert!(waited + really.elapsed() >= 499 * SECOND, "{waited:?}");
    assert!(waited < (500 + 50 + 4 + 8 + 1) * SECOND, "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn that_sleep_wait_for_what_is_left_when_they_are_resumed() {
    // The wall clock decides how much is left, and it continues beside the paused one.
    let really = std::time::Instant::now();
    let world = World::new().await;
    let door = world.door().await;
    tokio::select! {
        biased;
        _ = door.sleep(HOUR) => panic!("it sleeps for an hour"), // The clock is paused.
        () = tokio::time::sleep(SECOND) => {} // The clock is paused.
    }
    drop(door);
    // Half an hour passes: the run is older than it was.
    world
        .database()
        .execute("UPDATE runs SET created_at = created_at - 1800000000", [])
        .unwrap();
    let door = world.door().await;
    let start = Instant::now();
    door.sleep(HOUR).await.unwrap(); // The clock is paused.
    let waited = start.elapsed();
    assert!(waited + really.elapsed() >= 1_799 * SECOND, "{waited:?}");
    assert!(waited < 1_801 * SECOND, "{waited:?}");
}

#[tokio::test]
async fn that_differ_from_the_journal_are_refused_and_leave_it_as_it_is() {
    let world = World::new().await;
    let door = world.door().await;
    door.execute_llm_call(&request(1), &model_options(1))
        .await
        .unwrap();
    let each = [options("read", 1, 1), options("put", 1, 2)];
    execute_tools(&door, &[call("read"), call("put")], &each).await;
    drop(door);
    let rows = || world.count("SELECT count(*) FROM entries");
    assert_eq!(rows(), 3);

    let door = world.door().await;
    let result = door.execute_llm_call(&request(2), &model_options(1)).await;
    let Err(DurableError::NonDeterminism {
        step,
        recorded,
        requested,
    }) = result
    else {
        panic!("{result:?} is no misfit");
    };
    assert_eq!(step, "turn 1, model call (operation 1)");
    assert!(recorded.contains("with 1 messages"), "{recorded}");
    assert!(requested.contains("with 2 messages"), "{requested}");
    drop(door);

    let door = world.door().await;
    door.execute_llm_call(&request(1), &model_options(1))
        .await
        .unwrap();
    let other = neuron_types::ToolCall {
        input: serde_json::json!({ "n": 2 }),
        ..call("put")
    };
    let results = execute_tools(&door, &[call("read"), other], &each).await;
    for result in results {
        assert!(matches!(result, Err(DurableError::NonDeterminism { .. })));
    }
    drop(door);

    let door = world.door().await;
    door.execute_llm_call(&request(1), &model_options(1))
        .await
        .unwrap();
    let result = door.sleep(SECOND).await; // It is rejected at once.
    assert!(matches!(result, Err(DurableError::NonDeterminism { .. })));
    assert_eq!((rows(), world.room.calls().len()), (3, 3));
}

#[tokio::test]
async fn that_are_left_out_are_missed() {
    let world = World::new().await;
    let door = world.door().await;
    door.execute_llm_call(&request(1), &model_options(1))
        .await
        .unwrap();
    door.execute_llm_call(&request(3), &model_options(2))
        .await
        .unwrap();
    drop(door);
    let door = world.door().await;
    door.execute_llm_call(&request(1), &model_options(1))
        .await
        .unwrap();
    let end = door.finish(&plain_output(&world.run_id)).await;
    assert!(matches!(end, Err(DurableError::NonDeterminism { .. })));
    drop(door);
    world
        .database()
        .execute("DELETE FROM entries WHERE op = 1", [])
        .unwrap();
    let door = world.door().await;
    let result = door.execute_llm_call(&request(1), &model_options(1)).await;
    assert!(matches!(result, Err(DurableError::NonDeterminism { .. })));
    assert_eq!(world.room.calls().len(), 2);
}

#[test]
fn have_futures_that_can_be_spawned() {
    fn is_send<T: Send>(_: impl FnOnce() -> T) {}
    fn door() -> neuron_local::JournaledContext {
        unreachable!("only its types matter")
    }
    is_send(|| async {
        let door = door();
        let calls = [call("read")];
        let each = [options("read", 1, 1)];
        drop(door.execute_llm_call(&request(1), &model_options(1)).await);
        drop(execute_tools(&door, &calls, &each).await);
        drop(door.wait_for_signal::<u32>("go", None).await);
        drop(door.sleep(Duration::ZERO).await); // It is never polled.
        drop(door.finish(&plain_output(&super::run_id("r"))).await);
    });
}
