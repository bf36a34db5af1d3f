use std::{collections::BTreeSet, sync::Arc, time::Duration};

use neuron_local::{LocalDurableContext, LocalHandle};
use neuron_testing::{
    door::execute_tools,
    effects::{self, TestHook},
};
use neuron_types::{
    DurableContext, DurableError, FailureKind, HookAction, HookEvent, RunEvent, RunId, ToolOutput,
    UserMessage, signal,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::room::{Act, Room, call, check_retries, eventually, model_options, options, request};

/// How long the runs wait by the clock.
const SECOND: Duration = Duration::from_secs(1); // The clock is paused.
const HOUR: Duration = Duration::from_secs(3600); // The clock is paused, or the run is cancelled.

fn door(room: &Room) -> LocalDurableContext {
    LocalDurableContext::new(room.executor(), RunId::new("r").unwrap()).with_sink(room.sink.clone())
}

fn text(output: &ToolOutput) -> String {
    effects::text_of(output)
}

#[tokio::test]
async fn makes_effects_at_their_step() {
    let room = Room::default();
    let door = door(&room);
    let answer = door
        .execute_llm_call(&request(1), &model_options(1))
        .await
        .unwrap();
    assert_eq!(answer.message.text(), "answer to 1");
    let output = door
        .execute_tool(&call("read"), &options("read", 1, 2))
        .await
        .unwrap();
    assert_eq!(text(&output), r#"read of {"n":1.1}"#);
    assert_eq!(room.calls(), ["model 1", "read r:1:2"]);
}

#[tokio::test]
async fn starts_every_call_of_a_batch_before_it_waits_and_answers_in_order() {
    let room = Room::acting([Act::Hang]);
    let door = door(&room);
    let handle = door.handle();
    let calls = [call("read"), call("put")];
    let each = [options("read", 1, 1), options("put", 1, 2)];
    let batch = execute_tools(&door, &calls, &each);
    let world = async {
        eventually(|| room.calls().len() == 2).await;
        handle.cancel(Some("enough".into()));
    };
    let (results, ()) = tokio::join!(batch, world);
    assert!(
        matches!(&results[0], Err(DurableError::Cancelled { reason }) if reason.as_deref() == Some("enough"))
    );
    assert_eq!(text(results[1].as_ref().unwrap()), r#"put of {"n":1.1}"#);
}

#[tokio::test(start_paused = true)]
async fn retries_as_the_policy_says_and_tells_the_sink() {
    let room = Room::acting([
        Act::fail(FailureKind::Overloaded),
        Act::Fail(FailureKind::RateLimited, Some(7 * SECOND)),
    ]);
    let start = Instant::now();
    let answer = door(&room)
        .execute_llm_call(&request(1), &model_options(1))
        .await;
    assert!(answer.is_ok());
    let notices = room.sink.retries.lock().unwrap();
    check_retries(&notices, start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn gives_up_with_the_last_failure() {
    let room = Room::acting([Act::fail(FailureKind::Unavailable); 9]);
    let start = Instant::now();
    let result = door(&room)
        .execute_tool(&call("put"), &options("put", 1, 1))
        .await;
    assert!(
        matches!(result, Err(DurableError::Step(failure)) if failure.kind == FailureKind::Unavailable)
    );
    assert_eq!(room.calls().len(), 5);
    let notices = room.sink.retries.lock().unwrap();
    let delays: Vec<Duration> = notices.iter().map(|notice| notice.delay).collect();
    for (delay, longest) in delays.iter().zip([1, 2, 4, 8]) {
        assert!(*delay <= longest * SECOND, "{delays:?}");
    }
    let (waited, all) = (start.elapsed(), delays.iter().sum::<Duration>());
    assert!(
        waited >= all && waited < all + SECOND,
        "{waited:?} {delays:?}"
    );
}

#[tokio::test]
async fn calls_a_write_once_whatever_comes_of_it() {
    for (told, comes_to) in [
        (FailureKind::Unavailable, FailureKind::Unavailable),
        (FailureKind::Timeout, FailureKind::OutcomeUnknown),
        (FailureKind::ToolInput, FailureKind::ToolInput),
    ] {
        let room = Room::acting([Act::fail(told)]);
        let result = door(&room)
            .execute_tool(&call("write"), &options("write", 1, 1))
            .await;
        assert!(matches!(result, Err(DurableError::Step(failure)) if failure.kind == comes_to));
        assert_eq!(room.calls().len(), 1);
    }
}

#[tokio::test]
async fn does_not_repeat_a_tool_that_failed() {
    let room = Room::acting([Act::fail(FailureKind::ToolFailed)]);
    let output = door(&room)
        .execute_tool(&call("read"), &options("read", 1, 1))
        .await
        .unwrap();
    assert!(output.is_error);
    assert_eq!(room.calls().len(), 1);
}

#[tokio::test]
async fn moves_the_clock_only_when_something_came() {
    let room = Room::default();
    let door = door(&room);
    let start = door.now();
    eventually(|| chrono::Utc::now() > start).await;
    door.emit(RunEvent::TurnStarted { turn: 1 });
    let nothing = door
        .wait_for_signal::<Value>("go", Some(Duration::ZERO))
        .await
        .unwrap();
    assert_eq!((nothing, door.now()), (None, start));
    door.execute_llm_call(&request(1), &model_options(1))
        .await
        .unwrap();
    assert!(door.now() > start);
}

#[tokio::test]
async fn makes_ids_that_no_other_run_has_though_it_has_the_name() {
    let room = Room::default();
    let (one, other) = (door(&room), door(&room));
    let ids = [one.uuid(), one.uuid(), other.uuid(), other.uuid()];
    assert_eq!(BTreeSet::from(ids).len(), 4, "{ids:?}");
}

#[tokio::test]
async fn takes_signals_in_order_each_once_and_keeps_those_that_came_early() {
    let room = Room::default();
    let door = door(&room);
    let handle = door.handle();
    handle.signal("go", json!(1));
    handle.send(&UserMessage { text: "hi".into() });
    handle.signal("go", json!(2));
    let poll = Some(Duration::ZERO);
    for wanted in [Some(1), Some(2), None] {
        let got = door.wait_for_signal::<u32>("go", poll).await.unwrap();
        assert_eq!(got, wanted);
    }
    let message = door
        .wait_for_signal::<UserMessage>(signal::USER_MESSAGE, None)
        .await
        .unwrap();
    assert_eq!(message.unwrap().text, "hi");
}

#[tokio::test]
async fn wakes_up_for_a_signal() {
    let room = Room::default();
    let door = door(&room);
    let handle = door.handle();
    let world = async {
        tokio::task::yield_now().await;
        handle.signal("other", json!(1));
        tokio::task::yield_now().await;
        handle.signal("go", json!(2));
    };
    let (got, ()) = tokio::join!(door.wait_for_signal::<u32>("go", None), world);
    assert_eq!(got.unwrap(), Some(2));
}

#[tokio::test]
async fn consumes_a_signal_that_it_cannot_read() {
    let room = Room::default();
    let door = door(&room);
    door.handle().signal("go", json!("no number"));
    door.handle().signal("go", json!(2));
    let bad = door.wait_for_signal::<u32>("go", None).await;
    assert!(matches!(bad, Err(DurableError::BadSignal { name, .. }) if name == "go"));
    let good = door.wait_for_signal::<u32>("go", None).await;
    assert_eq!(good.unwrap(), Some(2));
}

#[tokio::test(start_paused = true)]
async fn lets_a_wait_end_when_its_time_is_over_and_moves_the_clock_there() {
    let room = Room::default();
    let door = door(&room);
    let (start, before) = (Instant::now(), door.now());
    let got = door.wait_for_signal::<Value>("go", Some(HOUR)).await;
    assert_eq!(got.unwrap(), None);
    assert_eq!(start.elapsed().as_secs(), 3600);
    assert!(door.now() >= before + HOUR);
    door.sleep(HOUR).await.unwrap(); // The clock is paused.
    assert_eq!(start.elapsed().as_secs(), 7200);
    assert!(door.now() >= before + 2 * HOUR);
}

async fn cancelled<T: std::fmt::Debug>(
    handle: LocalHandle,
    pending: impl Future<Output = Result<T, DurableError>>,
) {
    let world = async {
        tokio::task::yield_now().await;
        handle.signal(signal::CANCEL, json!({ "reason": "enough" }));
    };
    let (result, ()) = tokio::join!(pending, world);
    assert!(
        matches!(&result, Err(DurableError::Cancelled { reason: Some(reason) }) if reason == "enough"),
        "{result:?}"
    );
}

#[tokio::test]
async fn ends_whatever_is_pending_and_everything_later_when_it_is_cancelled() {
    let room = Room::acting([Act::Hang]);
    let first = door(&room);
    cancelled(
        first.handle(),
        first.execute_llm_call(&request(1), &model_options(1)),
    )
    .await;
    let asleep = door(&room);
    cancelled(asleep.handle(), asleep.sleep(HOUR)).await; // It is cancelled at once.
    let waiting = door(&room);
    cancelled(
        waiting.handle(),
        waiting.wait_for_signal::<Value>("go", None),
    )
    .await;

    let later = first
        .execute_tool(&call("read"), &options("read", 1, 1))
        .await;
    assert!(matches!(later, Err(DurableError::Cancelled { .. })));
    let later = first
        .wait_for_signal::<Value>("go", Some(Duration::ZERO))
        .await;
    assert!(matches!(later, Err(DurableError::Cancelled { .. })));
    assert_eq!(room.calls(), ["model 1"]);
}

#[tokio::test]
async fn cancels_between_two_attempts() {
    let room = Room::acting([Act::Fail(FailureKind::RateLimited, Some(HOUR))]);
    let door = door(&room);
    let handle = door.handle();
    let request = request(1);
    let options = model_options(1);
    let world = async {
        eventually(|| !room.sink.retries.lock().unwrap().is_empty()).await;
        handle.cancel(None);
    };
    let (result, ()) = tokio::join!(door.execute_llm_call(&request, &options), world);
    assert!(matches!(result, Err(DurableError::Cancelled { .. })));
}

#[tokio::test]
async fn tells_the_sink_events_at_once_and_numbers_them() {
    let room = Room::default();
    let door = door(&room);
    door.emit(RunEvent::TurnStarted { turn: 1 });
    door.emit(RunEvent::TurnEnded { turn: 1 });
    assert_eq!(room.sink.told(), ["1 turn_started", "2 turn_ended"]);
}

#[tokio::test]
async fn tells_hooks_the_runs_events_before_the_next_effect_and_at_the_end() {
    let room = Room::default();
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let hook = TestHook(move |event: &HookEvent<'_>| {
        log.lock().unwrap().push(match event {
            HookEvent::LoopIteration { turn } => format!("turn {turn}"),
            HookEvent::PreLlmCall { .. } => "before the call".into(),
            HookEvent::ExitCheck { turn } => format!("end of {turn}"),
            _ => "other".into(),
        });
        Ok(HookAction::Continue)
    });
    let executor = room.builder().hook(hook).build();
    let door = LocalDurableContext::new(executor, RunId::new("r").unwrap());
    door.emit(RunEvent::TurnStarted { turn: 1 });
    assert!(seen.lock().unwrap().is_empty());
    door.execute_llm_call(&request(1), &model_options(1))
        .await
        .unwrap();
    door.emit(RunEvent::TurnEnded { turn: 1 });
    door.finish().await;
    let seen = seen.lock().unwrap();
    assert_eq!(*seen, ["turn 1", "before the call", "other", "end of 1"]);
}

#[tokio::test]
async fn lets_a_hook_end_the_run_instead_of_the_next_effect() {
    let room = Room::default();
    let hook = TestHook(|event: &HookEvent<'_>| match event {
        HookEvent::LoopIteration { .. } => Ok(HookAction::Terminate {
            reason: "seen enough".into(),
        }),
        _ => Ok(HookAction::Continue),
    });
    let executor = room.builder().hook(hook).build();
    let door = LocalDurableContext::new(executor, RunId::new("r").unwrap());
    door.emit(RunEvent::TurnStarted { turn: 1 });
    let calls = [call("read"), call("put")];
    let options = [options("read", 1, 1), options("put", 1, 2)];
    let results = execute_tools(&door, &calls, &options).await;
    // The verdict is about the first effect behind what happened, as on every engine.
    assert!(
        matches!(&results[0], Err(DurableError::Step(failure)) if failure.kind == FailureKind::Terminated)
    );
    assert!(results[1].is_ok());
    assert_eq!(room.calls(), ["put r:1:2"]);
}

#[test]
fn has_futures_that_can_be_spawned() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let room = Room::default();
    let door = door(&room);
    let (request, call) = (request(1), call("read"));
    let options = model_options(1);
    drop(is_send(door.execute_llm_call(&request, &options)));
    drop(is_send(door.execute_tool(&call, &options)));
    drop(is_send(door.wait_for_signal::<Value>("go", None)));
    drop(is_send(door.sleep(Duration::ZERO))); // It is never polled.
}
