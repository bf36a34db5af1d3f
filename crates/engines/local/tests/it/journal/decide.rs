use chrono::{TimeDelta, Utc};
use neuron_local::{Journal, JournalError, JournaledContext};
use neuron_types::{
    Decision, DurableContext, Refusal, RunEvent, RunTags, Ticket, TicketKind, UserMessage, Verdict,
    signal,
};
use serde_json::json;

use super::{World, asked, ended, plain_output, run_id, ticket};

fn decision(ticket: &Ticket) -> Decision {
    Decision {
        ticket: ticket.ticket.clone(),
        digest: ticket.digest.clone(),
        verdict: Verdict::Approve,
        approver: Some("ada".into()),
        ..Decision::default()
    }
}

/// The same, with a signature that is not checked here.
fn signed_by(name: &str, ticket: &Ticket) -> Decision {
    Decision {
        signature: Some(name.into()),
        ..decision(ticket)
    }
}

fn decided(ticket: &Ticket) -> RunEvent {
    RunEvent::ApprovalDecided {
        ticket: ticket.ticket.clone(),
        kind: TicketKind::Call,
        verdict: Verdict::Approve,
        digest: ticket.digest.clone(),
        approver: None,
        verified: false,
        key: None,
        decided_at: None,
        comment: None,
        args: None,
        text: None,
        choice: None,
        output: None,
        decision: None,
    }
}

/// Returns a run that asks about these tickets.
async fn asking(tickets: &[&Ticket]) -> (World, Journal, JournaledContext) {
    let world = World::new().await;
    let journal = world.journal().await;
    let door = world.door().await;
    for ticket in tickets {
        door.emit(asked((*ticket).clone()));
    }
    door.flush().await.unwrap();
    (world, journal, door)
}

/// As [`asking`], with a run whose decisions have to be signed.
async fn signed(tickets: &[&Ticket]) -> (World, Journal, JournaledContext) {
    let asking = asking(&[]).await;
    let started = RunEvent::RunStarted {
        agent: "default".into(),
        model: "demo/demo".into(),
        prompt: "Go.".into(),
        definition: String::new(),
        tags: RunTags::default(),
        nonce: None,
        trace: None,
        directory: None,
        signed: true,
    };
    asking.2.emit(started);
    for ticket in tickets {
        asking.2.emit(asked((*ticket).clone()));
    }
    asking.2.flush().await.unwrap();
    asking
}

fn waiting_decisions(world: &World) -> i64 {
    world.count("SELECT count(*) FROM signals WHERE name = 'decision' AND consumed_op IS NULL")
}

#[tokio::test]
async fn hands_a_decision_to_the_run() {
    let ticket = ticket("t1-1");
    let (world, journal, door) = asking(&[&ticket]).await;
    let given = Decision {
        args: Some(json!({ "path": "b" })),
        ..decision(&ticket)
    };
    journal.decide(&world.run_id, &given).await.unwrap();
    let taken = door
        .wait_for_signal::<Decision>(signal::DECISION, None)
        .await;
    assert_eq!(taken.unwrap(), Some(given));
}

#[tokio::test]
async fn refuses_what_names_no_open_ticket() {
    let (open, used, lapsed) = (ticket("open"), ticket("used"), ticket("lapsed"));
    let (world, journal, door) = asking(&[&open, &used, &lapsed]).await;
    door.emit(decided(&used));
    door.emit(RunEvent::ApprovalExpired {
        ticket: lapsed.ticket.clone(),
    });
    door.flush().await.unwrap();

    let unknown = journal
        .decide(&world.run_id, &decision(&ticket("t9-9")))
        .await;
    let error = unknown.unwrap_err();
    assert!(matches!(
        error,
        JournalError::Refused(Refusal::UnknownTicket { .. })
    ));
    assert_eq!(error.to_string(), "run r has no ticket t9-9");
    let used = journal.decide(&world.run_id, &decision(&used)).await;
    assert!(matches!(
        used,
        Err(JournalError::Refused(Refusal::AlreadyDecided { .. }))
    ));
    let lapsed = journal.decide(&world.run_id, &decision(&lapsed)).await;
    assert!(matches!(
        lapsed,
        Err(JournalError::Refused(Refusal::TicketExpired { .. }))
    ));
    assert_eq!(waiting_decisions(&world), 0);
    journal
        .decide(&world.run_id, &decision(&open))
        .await
        .unwrap();
}

#[tokio::test]
async fn refuses_a_decision_about_something_else_than_what_is_asked() {
    let ticket = ticket("t1-1");
    let (world, journal, _door) = asking(&[&ticket]).await;
    let stale = Decision {
        digest: "digest-of".into(),
        ..decision(&ticket)
    };
    let error = journal.decide(&world.run_id, &stale).await.unwrap_err();
    assert!(matches!(
        error,
        JournalError::Refused(Refusal::WrongDigest { .. })
    ));
    assert_eq!(error.to_string(), "the digest is not that of ticket t1-1");
    let denial = Decision {
        verdict: Verdict::Deny,
        args: Some(json!({})),
        ..decision(&ticket)
    };
    let error = journal.decide(&world.run_id, &denial).await.unwrap_err();
    assert!(matches!(
        error,
        JournalError::Refused(Refusal::ArgsWithDenial { .. })
    ));
    assert_eq!(waiting_decisions(&world), 0);
    journal
        .decide(&world.run_id, &decision(&ticket))
        .await
        .unwrap();
}

#[tokio::test]
async fn refuses_a_decision_that_comes_too_late() {
    let late = Ticket {
        expires_at: Some(Utc::now() - TimeDelta::seconds(1)), // Only compared, never waited for.
        ..ticket("t1-1")
    };
    let (world, journal, _door) = asking(&[&late]).await;
    let error = journal.decide(&world.run_id, &decision(&late)).await;
    assert!(matches!(
        error,
        Err(JournalError::Refused(Refusal::TicketExpired { .. }))
    ));
    assert_eq!(waiting_decisions(&world), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn takes_one_decision_for_a_ticket_however_far_the_run_has_got_with_it() {
    let (one, other) = (ticket("t1-1"), ticket("t1-2"));
    let (world, journal, door) = asking(&[&one, &other]).await;
    journal
        .decide(&world.run_id, &decision(&one))
        .await
        .unwrap();
    let queued = journal.decide(&world.run_id, &decision(&one)).await;
    assert!(matches!(
        queued,
        Err(JournalError::Refused(Refusal::AlreadyDecided { .. }))
    ));

    let taken = door
        .wait_for_signal::<Decision>(signal::DECISION, None)
        .await;
    assert!(taken.unwrap().is_some());
    let taken = journal.decide(&world.run_id, &decision(&one)).await;
    assert!(matches!(
        taken,
        Err(JournalError::Refused(Refusal::AlreadyDecided { .. }))
    ));

    door.emit(decided(&one));
    door.flush().await.unwrap();
    let used = journal.decide(&world.run_id, &decision(&one)).await;
    assert!(matches!(
        used,
        Err(JournalError::Refused(Refusal::AlreadyDecided { .. }))
    ));
    journal
        .decide(&world.run_id, &decision(&other))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn where_decisions_are_signed_none_that_is_not_answered_keeps_another_out() {
    let (one, other) = (ticket("t1-1"), ticket("t1-2"));
    let (world, journal, door) = signed(&[&one, &other]).await;
    let by = |name: &str| Decision {
        approver: Some(name.to_owned()),
        ..signed_by(name, &one)
    };
    for count in 0..30 {
        let by_nobody_known = by(&format!("mallory{count}"));
        journal
            .decide(&world.run_id, &by_nobody_known)
            .await
            .unwrap();
    }
    let taken = door
        .wait_for_signal::<Decision>(signal::DECISION, None)
        .await;
    assert_eq!(taken.unwrap(), Some(by("mallory0")));
    journal.decide(&world.run_id, &by("ada")).await.unwrap();
    assert_eq!(waiting_decisions(&world), 30);

    door.emit(decided(&one));
    door.flush().await.unwrap();
    let used = journal.decide(&world.run_id, &by("ada")).await;
    assert!(matches!(
        used,
        Err(JournalError::Refused(Refusal::AlreadyDecided { .. }))
    ));
    journal
        .decide(&world.run_id, &signed_by("ada", &other))
        .await
        .unwrap();
}

#[tokio::test]
async fn where_decisions_are_signed_one_that_is_not_is_refused_at_once() {
    let ticket = ticket("t1-1");
    let (world, journal, _door) = signed(&[&ticket]).await;
    let error = journal.decide(&world.run_id, &decision(&ticket)).await;
    let Err(JournalError::Refused(Refusal::NotTaken { reason, .. })) = error else {
        panic!("{error:?}");
    };
    assert_eq!(reason, "the decision is not signed");
    let raw = serde_json::to_value(decision(&ticket)).unwrap();
    let error = journal.signal(&world.run_id, signal::DECISION, raw).await;
    assert!(matches!(
        error,
        Err(JournalError::Refused(Refusal::NotTaken { .. }))
    ));
    assert_eq!(waiting_decisions(&world), 0);
}

#[tokio::test]
async fn takes_another_decision_after_the_run_refused_one() {
    let ticket = ticket("t1-1");
    let (world, journal, door) = asking(&[&ticket]).await;
    journal
        .decide(&world.run_id, &decision(&ticket))
        .await
        .unwrap();
    let taken = door
        .wait_for_signal::<Decision>(signal::DECISION, None)
        .await;
    assert!(taken.unwrap().is_some());
    door.emit(RunEvent::ApprovalRefused {
        ticket: ticket.ticket.clone(),
        reason: "as the run sees it".into(),
        decision: None,
    });
    door.flush().await.unwrap();
    journal
        .decide(&world.run_id, &decision(&ticket))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn lets_one_of_many_deciders_win() {
    let ticket = ticket("t1-1");
    let (world, journal, _door) = asking(&[&ticket]).await;
    let other = world.journal().await;
    let decision = decision(&ticket);
    let attempts = (0..8).map(|n| {
        let journal = if n % 2 == 0 { &journal } else { &other };
        journal.decide(&world.run_id, &decision)
    });
    let results = futures::future::join_all(attempts).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert_eq!(waiting_decisions(&world), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_decisions_are_signed_one_that_is_made_again_reaches_the_run_once() {
    let ticket = ticket("t1-1");
    let (world, journal, _door) = signed(&[&ticket]).await;
    let other = world.journal().await;
    let decision = signed_by("ada", &ticket);
    let attempts = (0..8).map(|n| {
        let journal = if n % 2 == 0 { &journal } else { &other };
        journal.decide(&world.run_id, &decision)
    });
    let results = futures::future::join_all(attempts).await;
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(waiting_decisions(&world), 1);
}

#[tokio::test]
async fn refuses_everything_for_a_run_that_is_over_or_unknown() {
    let ticket = ticket("t1-1");
    let (world, journal, door) = asking(&[&ticket]).await;
    door.emit(ended());
    door.finish(&plain_output(&world.run_id)).await.unwrap();
    let message = UserMessage { text: "hi".into() };
    let over = [
        journal.decide(&world.run_id, &decision(&ticket)).await,
        journal.send(&world.run_id, &message).await,
        journal.signal(&world.run_id, "go", json!(1)).await,
        journal.cancel(&world.run_id, None).await.map(drop),
    ];
    for result in over {
        let error = result.unwrap_err();
        assert!(matches!(
            error,
            JournalError::Refused(Refusal::RunOver { .. })
        ));
        assert!(error.to_string().contains("over (completed)"));
    }
    let nobody = run_id("nobody");
    let error = journal.decide(&nobody, &decision(&ticket)).await;
    assert!(matches!(error, Err(JournalError::UnknownRun { .. })));
    assert_eq!(world.count("SELECT count(*) FROM signals"), 0);
}

#[tokio::test]
async fn holds_a_decision_that_comes_as_a_plain_signal_to_the_same_rules() {
    let ticket = ticket("t1-1");
    let (world, journal, _door) = asking(&[&ticket]).await;
    let wrong = json!({ "ticket": "t1-1", "digest": "no", "verdict": "approve" });
    let error = journal.signal(&world.run_id, signal::DECISION, wrong).await;
    assert!(matches!(
        error,
        Err(JournalError::Refused(Refusal::WrongDigest { .. }))
    ));
    let error = journal
        .signal(&world.run_id, signal::DECISION, json!(1))
        .await;
    assert!(matches!(error, Err(JournalError::BadSignal { .. })));
    let error = journal
        .signal(&world.run_id, signal::USER_MESSAGE, json!(1))
        .await;
    assert!(matches!(error, Err(JournalError::BadSignal { .. })));
    let right = serde_json::to_value(decision(&ticket)).unwrap();
    journal
        .signal(&world.run_id, signal::DECISION, right)
        .await
        .unwrap();
    assert_eq!(waiting_decisions(&world), 1);
}
