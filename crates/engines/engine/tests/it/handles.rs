use std::sync::Arc;

use neuron_engine::{RunClient, RunHandle};
use neuron_types::{Message, RunPhase, RunRequest};

use crate::fake::{Fake, run_id};

#[tokio::test]
async fn a_handle_reads_all_events_and_speaks_for_its_run() {
    let fake = Arc::new(Fake {
        events: 5,
        ..Fake::new([Ok(RunPhase::WaitingForApproval)])
    });
    let client: Arc<dyn RunClient> = fake.clone();
    let run = RunHandle::new(client, run_id());
    let numbers = async |after| {
        let events = run.events_after(after).await.unwrap();
        events
            .into_iter()
            .map(|event| event.seq)
            .collect::<Vec<_>>()
    };
    assert_eq!(numbers(0).await, [1, 2, 3, 4, 5]);
    assert_eq!(numbers(3).await, [4, 5]);
    assert_eq!(numbers(9).await, [0_u64; 0]);
    let tickets = run.tickets().await.unwrap();
    assert_eq!(tickets.len(), 1);
    assert_eq!(
        (&tickets[0].run_id, &*tickets[0].ticket.ticket),
        (run.id(), "t1-1")
    );
    run.clone().send("hello").await.unwrap();
    assert_eq!(*fake.texts.lock().unwrap(), ["hello"]);
}

#[tokio::test]
async fn where_the_request_is_gone_the_agent_and_the_tags_say_whose_start_it_is() {
    let client: Arc<dyn RunClient> = Arc::new(Fake::new([Ok(RunPhase::Completed)]));
    let run = RunHandle::new(client, run_id());
    assert_eq!(run.request().await.unwrap(), None);
    let agent = run.status().await.unwrap().agent;
    let request = |agent: &str| RunRequest::new(agent, Message::user("Go."));
    for (request, is_same) in [
        (request(&agent), true),
        (request("another"), false),
        (request(&agent).tenant("acme"), false),
        (request(&agent).owner("ada"), false),
        (request(&agent).label("report", "q3"), false),
    ] {
        assert_eq!(run.was_started_with(&request).await.unwrap(), is_same);
    }
}
