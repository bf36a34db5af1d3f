//! Changes of a workflow that do not apply to runs that began before.

use neuron_local::{JournaledContext, LocalDurableContext};
use neuron_types::DurableContext as _;

use super::{
    World, plain_output,
    segments::{state, turn},
};

const PATCH: &str = "ask-twice";

/// Returns the door of a build with the patch, or of one without.
async fn begun(world: &World, is_newer: bool) -> JournaledContext {
    let patches: &[&str] = if is_newer { &[PATCH] } else { &[] };
    let door = world.door().await.with_patches(patches);
    door.run_start().await.unwrap();
    door
}

/// The workflow: two turns if it has the patch, otherwise one.
async fn work(door: &JournaledContext) -> bool {
    turn(door, 1).await;
    let is_patched = door.patched(PATCH);
    if is_patched {
        turn(door, 2).await;
    }
    is_patched
}

#[tokio::test]
async fn a_run_that_began_before_keeps_the_old_way_and_replays() {
    let world = World::new().await;
    let older = begun(&world, false).await;
    turn(&older, 1).await;
    drop(older);
    for _replay in 0..2 {
        assert!(!work(&begun(&world, true).await).await);
    }
    let newer = begun(&world, true).await;
    assert!(!work(&newer).await);
    newer.finish(&plain_output(&world.run_id)).await.unwrap();
    assert_eq!(world.room.calls().len(), 2);
}

#[tokio::test]
async fn a_new_run_takes_the_new_way_and_replays() {
    let world = World::new().await;
    for _replay in 0..2 {
        let newer = begun(&world, true).await;
        assert!(newer.patched(PATCH));
        assert!(!newer.patched("another"));
        assert!(work(&newer).await);
    }
    // A patch that the code does not declare any more is still one of the run.
    let later = begun(&world, false).await;
    assert!(work(&later).await);
    later.finish(&plain_output(&world.run_id)).await.unwrap();
    assert_eq!(world.room.calls().len(), 4);
}

#[tokio::test]
async fn a_run_of_which_nothing_was_journaled_is_new() {
    let world = World::new().await;
    drop(begun(&world, false).await);
    assert!(begun(&world, true).await.patched(PATCH));
    assert!(begun(&world, false).await.patched(PATCH));
}

#[tokio::test]
async fn a_later_segment_has_what_the_code_declares_that_began_it() {
    let world = World::new().await;
    let older = begun(&world, false).await;
    turn(&older, 1).await;
    drop(older);
    let newer = begun(&world, true).await;
    assert!(!work(&newer).await);
    newer.continue_as_new(&state(1)).await.unwrap();
    assert!(newer.patched(PATCH));
    drop(newer);
    let again = begun(&world, true).await;
    assert!(again.patched(PATCH));
    again.continue_as_new(&state(1)).await.unwrap();
    drop(again);
    assert!(begun(&world, false).await.patched(PATCH));
}

#[tokio::test]
async fn a_run_in_memory_has_all_patches() {
    let world = World::new().await;
    let door = LocalDurableContext::new(world.room.executor(), world.run_id);
    assert!(!door.patched(PATCH));
    assert!(door.with_patches(&[PATCH]).patched(PATCH));
}
