//! The door, call by call, in memory and journaled.

mod memory {
    use neuron_local::LocalDurableContext;
    use neuron_testing::door::{DoorRoom, Outside, holds_at};
    use neuron_types::RunId;

    neuron_testing::door_cases!(trial);

    async fn trial(case: &str) {
        let (room, run) = (DoorRoom::default(), RunId::new(case).unwrap());
        let door = LocalDurableContext::new(room.executor(), run.clone());
        let outside = Outside::of(&room, &run, door.handle());
        holds_at(&door, case, outside).await;
    }
}

mod journal {
    use neuron_local::{Journal, JournaledContext};
    use neuron_testing::door::{DoorCase, DoorRoom, Outside, holds_at};
    use neuron_types::RunId;
    use tempfile::TempDir;

    neuron_testing::door_cases!(trial);

    async fn trial(case: &str) {
        let (home, room) = (TempDir::new().unwrap(), DoorRoom::default());
        let run = RunId::new(case).unwrap();
        let journal = Journal::open(home.path()).await.unwrap();
        let input = DoorCase::input(case);
        journal.create_run(&run, input, "local").await.unwrap();
        let door = JournaledContext::open(&journal, &run, room.executor());
        let door = door.await.unwrap();
        // As another process would open it.
        let elsewhere = Journal::open(home.path()).await.unwrap();
        let outside = Outside::of(&room, &run, (elsewhere, run.clone()));
        holds_at(&door, case, outside).await;
    }
}
