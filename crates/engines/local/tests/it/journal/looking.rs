//! The status of runs as readers see it.

use chrono::{TimeDelta, Utc};
use neuron_engine::{PageRequest, RunClient, RunFilter};
use neuron_local::{Journal, JournalError, LocalClient};
use neuron_types::{
    BlockedKind, Decision, DurableContext, RunEvent, RunId, RunPhase, RunStatus, Ticket,
    UserMessage, Verdict,
};

use super::{World, asked, input, run_id, ticket};

/// Returns the run as it was when its process was killed, with these tickets open.
async fn left(tickets: &[Ticket], state: RunPhase) -> (World, LocalClient) {
    let world = World::new().await;
    let door = world.door().await;
    door.emit(RunEvent::TurnStarted { turn: 1 });
    for ticket in tickets {
        door.emit(asked(ticket.clone()));
    }
    if state != RunPhase::Running {
        door.emit(RunEvent::Waiting { state });
    }
    door.flush().await.unwrap();
    let client = LocalClient::new(world.home.path());
    // While a process has the run, its status is shown unchanged.
    assert_eq!(status(&world, &client).await.state, state);
    drop(door);
    (world, client)
}

/// Returns the status, which is the same alone and in the list.
async fn status(world: &World, client: &LocalClient) -> RunStatus {
    let status = client.status(&world.run_id).await.unwrap();
    let (all, first) = (RunFilter::all(), PageRequest::first(10));
    let listed = client.list(&all, first).await.unwrap().runs;
    assert_eq!(listed, std::slice::from_ref(&status));
    status
}

async fn open_tickets(client: &LocalClient, run: Option<&RunId>) -> Vec<String> {
    let page = client.tickets(run, PageRequest::default()).await.unwrap();
    let tickets = page.tickets.into_iter();
    tickets.map(|open| open.ticket.ticket).collect()
}

fn approval(ticket: &Ticket) -> Decision {
    Decision {
        ticket: ticket.ticket.clone(),
        digest: ticket.digest.clone(),
        verdict: Verdict::Approve,
        ..Decision::default()
    }
}

#[tokio::test]
async fn a_run_that_no_process_has_is_interrupted_and_its_journal_does_not_say_so() {
    let (world, client) = left(&[], RunPhase::Running).await;
    let shown = status(&world, &client).await;
    assert_eq!(shown.state, RunPhase::Interrupted);
    let blocked = shown.blocked.unwrap();
    assert_eq!(
        (blocked.kind, blocked.since),
        (BlockedKind::NoProcess, shown.updated_at)
    );
    let kept = world.journal().await.status(&world.run_id).await.unwrap();
    assert_eq!((kept.state, kept.blocked), (RunPhase::Running, None));
}

#[tokio::test]
async fn a_parked_run_waits_until_all_its_tickets_are_decided() {
    let tickets = [ticket("t1-1"), ticket("t1-2")];
    let (world, client) = left(&tickets, RunPhase::WaitingForApproval).await;
    for (decided, open) in [(0, vec!["t1-1", "t1-2"]), (1, vec!["t1-2"]), (2, vec![])] {
        if let Some(before) = usize::checked_sub(decided, 1) {
            let approval = approval(&tickets[before]);
            client.decide(&world.run_id, &approval).await.unwrap();
        }
        assert_eq!(open_tickets(&client, None).await, open);
        assert_eq!(open_tickets(&client, Some(&world.run_id)).await, open);
        let state = match open.is_empty() {
            true => RunPhase::Interrupted,
            false => RunPhase::WaitingForApproval,
        };
        assert_eq!(status(&world, &client).await.state, state);
    }
}

#[tokio::test]
async fn a_ticket_that_has_lapsed_is_nobodys_unless_it_goes_to_others() {
    let lapsed = Ticket {
        expires_at: Some(Utc::now() - TimeDelta::seconds(1)), // Only compared, never waited for.
        ..ticket("t1-1")
    };
    let escalates = Ticket {
        then: Some("leads".into()),
        ..lapsed.clone()
    };
    for (ticket, open) in [(lapsed, vec![]), (escalates, vec!["t1-1"])] {
        let (_world, client) = left(&[ticket], RunPhase::WaitingForApproval).await;
        assert_eq!(open_tickets(&client, None).await, open);
    }
}

#[tokio::test]
async fn a_chat_waits_until_there_is_a_message() {
    let (world, client) = left(&[], RunPhase::WaitingForInput).await;
    let state = async || status(&world, &client).await.state;
    assert_eq!(state().await, RunPhase::WaitingForInput);
    let message = UserMessage::new("go on");
    client.send(&world.run_id, message).await.unwrap();
    assert_eq!(state().await, RunPhase::Interrupted);
}

#[tokio::test]
async fn a_status_that_cannot_be_read_hides_no_other() {
    let world = World::new().await;
    let journal = world.journal().await;
    for id in ["newer", "newest"] {
        let run = run_id(id);
        journal.create_run(&run, input(), "local").await.unwrap();
    }
    let client = LocalClient::from(journal);
    for unreadable in ["json_set(status, '$.state', 'paused')", "'{'"] {
        let change = format!("UPDATE statuses SET status = {unreadable} WHERE run = 2");
        world.database().execute(&change, []).unwrap();
        for filter in [RunFilter::all(), RunFilter::open().agent("default")] {
            let page = client.list(&filter, PageRequest::first(10)).await.unwrap();
            let ids = page.runs.iter().map(|run| run.run_id.as_str());
            assert_eq!(ids.collect::<Vec<_>>(), ["newest", "r"]);
            let why = page.incomplete.unwrap();
            assert!(why.contains("newer"), "{why}");
        }
    }
    let page = client.tickets(None, PageRequest::default()).await.unwrap();
    assert!(page.incomplete.is_some());
}

#[tokio::test]
async fn a_home_that_may_only_be_looked_into_is() {
    let world = World::new().await;
    drop(world.journal().await);
    let journal = Journal::open_read_only(world.home.path()).await.unwrap();
    let client = LocalClient::from(journal);
    assert_eq!(status(&world, &client).await.state, RunPhase::Interrupted);
    let written = client.send(&world.run_id, UserMessage::new("go on")).await;
    assert!(written.is_err());

    let before = "PRAGMA user_version = 5";
    world.database().execute_batch(before).unwrap();
    let older = Journal::open_read_only(world.home.path()).await;
    assert!(matches!(older, Err(JournalError::Older { found: 5, .. })));
}
