//! The one wait, at both doors: what is in flight, what was left, and what comes first.

use std::time::Duration;

use futures::future::BoxFuture;
use neuron_local::{Journal, JournaledContext, LocalDurableContext, LocalHandle};
use neuron_testing::effects::text_of;
use neuron_types::{
    DurableContext, DurableError, End, FailureKind, Handle, Observed, RunId, Started, signal,
};
use serde_json::{Value, json};

use crate::{
    journal::World,
    room::{Act, Room, call, eventually, model_options, options, request, since},
};

const MINUTE: Duration = Duration::from_secs(60); // The clock is paused.

/// Reaches into a run from outside.
trait Reach: Sync {
    fn signal<'a>(&'a self, name: &'a str, payload: Value) -> BoxFuture<'a, ()>;
}

impl Reach for LocalHandle {
    fn signal<'a>(&'a self, name: &'a str, payload: Value) -> BoxFuture<'a, ()> {
        Box::pin(async move { Self::signal(self, name, payload) })
    }
}

impl Reach for (Journal, RunId) {
    fn signal<'a>(&'a self, name: &'a str, payload: Value) -> BoxFuture<'a, ()> {
        Box::pin(async move { self.0.signal(&self.1, name, payload).await.unwrap() })
    }
}

fn in_memory(room: &Room) -> LocalDurableContext {
    LocalDurableContext::new(room.executor(), RunId::new("r").unwrap())
}

async fn journaled(room: &Room) -> (World, JournaledContext, (Journal, RunId)) {
    let world = World::with(room.clone()).await;
    let door = world.door().await;
    let reach = (world.journal().await, world.run_id.clone());
    (world, door, reach)
}

/// The same for both doors.
macro_rules! at_both_doors {
    ($($name:ident($acts:expr);)*) => {$(
        mod $name {
            use super::*;

            #[tokio::test(start_paused = true)]
            async fn in_memory() {
                let room = Room::acting($acts);
                let door = super::in_memory(&room);
                super::$name(&door, &room, &door.handle()).await;
            }

            #[tokio::test(start_paused = true)]
            async fn journaled() {
                let room = Room::acting($acts);
                let (_world, door, reach) = super::journaled(&room).await;
                super::$name(&door, &room, &reach).await;
            }
        }
    )*};
}

at_both_doors! {
    an_approved_call_starts_while_its_neighbour_runs([Act::Hang]);
    a_message_is_taken_while_the_model_answers([Act::Hang]);
    a_cancelled_run_waits_for_writes_and_leaves_the_rest([Act::Hang, Act::Hang]);
    what_is_left_never_comes([Act::Hang, Act::Answer]);
    what_ends_unasked_is_kept([Act::Answer]);
    a_deadline_is_kept_across_waits([Act::Hang]);
    what_is_started_in_a_cancelled_run_is_not_made([]);
}

fn start(door: &impl DurableContext, name: &str, position: u32) -> Handle {
    let (call, options) = (&call(name), &options(name, 1, position));
    door.start(Started::Tool { call, options })
}

fn start_model(door: &impl DurableContext) -> Handle {
    let (request, options) = (&request(1), &model_options(1));
    door.start(Started::Model { request, options })
}

/// The handle and the text of a tool call's end.
fn text(observed: Result<Observed, DurableError>) -> (Handle, String) {
    match observed {
        Ok(Observed::Ended(handle, End::Tool(Ok(output)))) => (handle, text_of(&output)),
        other => panic!("{other:?} is no tool's result"),
    }
}

fn is_signal(observed: &Result<Observed, DurableError>, wanted: &str) -> bool {
    matches!(observed, Ok(Observed::Signal(signal)) if signal.name == wanted)
}

fn is_cancelled<T>(result: &Result<T, DurableError>) -> bool {
    matches!(result, Err(DurableError::Cancelled { reason }) if reason.as_deref() == Some("enough"))
}

async fn cancel(reach: &dyn Reach) {
    let reason = json!({ "reason": "enough" });
    reach.signal(signal::CANCEL, reason).await;
}

async fn an_approved_call_starts_while_its_neighbour_runs(
    door: &impl DurableContext,
    room: &Room,
    reach: &dyn Reach,
) {
    let held = start(door, "read", 1);
    let person = async {
        eventually(|| room.calls().len() == 1).await;
        reach.signal("approved", json!("yes")).await;
    };
    let handles = [held];
    let (decided, ()) = tokio::join!(door.next(&handles, &["approved"]), person);
    assert!(is_signal(&decided, "approved"), "{decided:?}");
    let approved = start(door, "write", 2);
    let ended = door.next(&[held, approved], &["approved"]).await;
    assert_eq!(text(ended), (approved, r#"write of {"n":1.1}"#.to_owned()));
    assert_eq!(room.calls(), ["read r:1:1", "write r:1:2"]);
    assert!(!door.leave(held));
}

async fn a_message_is_taken_while_the_model_answers(
    door: &impl DurableContext,
    room: &Room,
    reach: &dyn Reach,
) {
    let asked = start_model(door);
    let person = async {
        eventually(|| room.calls().len() == 1).await;
        reach
            .signal(signal::USER_MESSAGE, json!({ "text": "hi" }))
            .await;
    };
    let handles = [asked];
    let (arrived, ()) = tokio::join!(door.next(&handles, &[signal::USER_MESSAGE]), person);
    assert!(is_signal(&arrived, signal::USER_MESSAGE), "{arrived:?}");
    let poll = door.poll(&[signal::USER_MESSAGE]).await.unwrap();
    assert_eq!(poll, None, "it was taken");
    assert!(!door.leave(asked));
}

async fn a_cancelled_run_waits_for_writes_and_leaves_the_rest(
    door: &impl DurableContext,
    room: &Room,
    reach: &dyn Reach,
) {
    let (read, write, put) = (
        start(door, "read", 1),
        start(door, "write", 2),
        start(door, "put", 3),
    );
    let person = async {
        eventually(|| room.calls().len() == 3).await;
        cancel(reach).await;
    };
    let both = [read, write];
    let (cancelled, ()) = tokio::join!(door.next(&both, &[]), person);
    assert!(is_cancelled(&cancelled), "{cancelled:?}");
    // What had ended before is still there; what goes on is not waited for until it is left.
    assert_eq!(text(door.next(&[put], &[]).await).0, put);
    assert!(is_cancelled(&door.next(&[read, write], &[]).await));
    assert!(is_cancelled(&door.poll(&["go"]).await));
    assert_eq!((door.leave(read), door.leave(write)), (false, true));
    assert!(door.leave(write), "its end is still to come");
    let ended = door.next(&[write], &[]).await;
    let Ok(Observed::Ended(handle, End::Tool(Err(failure)))) = ended else {
        panic!("{ended:?}");
    };
    assert_eq!((handle, failure.kind), (write, FailureKind::Cancelled));
    assert!(!door.leave(write));
    assert!(is_cancelled(&door.sleep(Duration::ZERO).await)); // It ends at once.
    assert_eq!(room.calls().len(), 3);
}

async fn what_is_left_never_comes(door: &impl DurableContext, room: &Room, reach: &dyn Reach) {
    let (hanging, quick) = (start(door, "read", 1), start(door, "put", 2));
    reach.signal("go", json!(1)).await;
    let ended = door.next(&[quick], &["go"]).await;
    assert_eq!(
        text(ended).0,
        quick,
        "what has ended comes before what arrives"
    );
    assert!(is_signal(&door.next(&[hanging], &["go"]).await, "go"));
    assert_eq!((door.leave(hanging), door.leave(quick)), (false, false));
    let nothing = door.next(&[hanging, quick], &[]).await;
    assert!(matches!(nothing, Err(DurableError::Engine { .. })));
    let nothing = door.next(&[], &[]).await;
    assert!(matches!(nothing, Err(DurableError::Engine { .. })));

    // A read that has ended, and whose end nobody has observed, is left all the same.
    let ended = start(door, "read", 3);
    let other = start(door, "put", 4);
    assert_eq!(text(door.next(&[other], &[]).await).0, other);
    assert_eq!(room.calls().len(), 4);
    assert!(!door.leave(ended));
    let nothing = door.next(&[ended], &[]).await;
    assert!(matches!(nothing, Err(DurableError::Engine { .. })));
}

async fn what_ends_unasked_is_kept(door: &impl DurableContext, room: &Room, reach: &dyn Reach) {
    let (first, second) = (start(door, "read", 1), start(door, "write", 2));
    let third = start(door, "put", 3);
    assert_eq!(text(door.next(&[third], &[]).await).0, third);
    assert_eq!(room.calls().len(), 3);
    reach.signal("go", json!(1)).await;
    assert!(is_signal(&door.next(&[], &["go"]).await, "go"));
    let both = [second, first];
    assert_eq!(text(door.next(&both, &["go"]).await).0, first);
    assert_eq!(text(door.next(&both, &["go"]).await).0, second);
}

async fn a_deadline_is_kept_across_waits(door: &impl DurableContext, _: &Room, reach: &dyn Reach) {
    let before = tokio::time::Instant::now();
    let start_of_run = door.now();
    let minutes = 5 * MINUTE;
    let deadline = door.start(Started::Deadline(minutes));
    let withdrawn = door.start(Started::Deadline(minutes / 2));
    assert!(!door.leave(withdrawn));
    let held = start(door, "read", 1);
    reach.signal("go", json!(1)).await;
    assert!(is_signal(
        &door.next(&[held, deadline], &["go"]).await,
        "go"
    ));
    let over = door.next(&[held, deadline], &["go"]).await;
    assert!(matches!(over, Ok(Observed::Ended(handle, End::Deadline)) if handle == deadline));
    // The wall clock goes on beside the paused one.
    let really = since(start_of_run, chrono::Utc::now());
    assert!(before.elapsed() + really >= minutes);
    assert!(before.elapsed() <= minutes + MINUTE);
    assert!(door.now() >= start_of_run + minutes);
    assert!(!door.leave(held));
}

async fn what_is_started_in_a_cancelled_run_is_not_made(
    door: &impl DurableContext,
    room: &Room,
    reach: &dyn Reach,
) {
    cancel(reach).await;
    assert!(is_cancelled(&door.poll(&["go"]).await));
    let (read, write) = (start(door, "read", 1), start(door, "write", 2));
    assert!(is_cancelled(&door.next(&[read, write], &[]).await));
    assert_eq!((door.leave(read), door.leave(write)), (false, true));
    let ended = door.next(&[write], &[]).await;
    assert!(
        matches!(&ended, Ok(Observed::Ended(_, End::Tool(Err(failure)))) if failure.kind == FailureKind::Cancelled),
        "{ended:?}"
    );
    assert!(room.calls().is_empty());
}
