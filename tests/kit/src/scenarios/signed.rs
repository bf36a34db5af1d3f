//! Decisions that approvers sign.

use std::time::Duration;

use neuron_types::{
    AgentSpec, BlockedKind, DecidedAt, Decision, Place, RecordedEvent, RunEvent, RunPhase,
    RunStatus, TicketKind, Verdict,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{Host, HostError, Person, Record, Session, Stage, World, agent, expect};

fn ada() -> Person {
    Person::new("ada", 1)
}

fn bob() -> Person {
    Person::new("bob", 2)
}

fn eve() -> Person {
    Person::new("eve", 3)
}

/// Returns a script with one write that a person is asked about.
fn script() -> Value {
    json!({"turns": [
        {"tool_calls": [{"name": "write", "input": {"text": "one"}}]},
        {"text": "Done."},
    ]})
}

/// Returns an agent that asks by this rule before it writes.
fn asking(rule: &Value) -> AgentSpec {
    let mut agent = agent();
    agent.approvals = serde_json::from_value(json!({"approve": [rule], "deny": []})).unwrap();
    agent
}

fn rejections(events: &[RecordedEvent]) -> Vec<String> {
    let events = events.iter();
    let reasons = events.filter_map(|recorded| match &recorded.event {
        RunEvent::ApprovalRefused { reason, .. } => Some(reason.clone()),
        _ => None,
    });
    reasons.collect()
}

/// A decision that no approver signed for exactly this call is rejected, and the run reports why and keeps waiting.
pub async fn a_decision_counts_only_as_an_approver_signed_it<H: Host>(host: &H) {
    let stage = Stage::open(host, "signed").await;
    let people = [ada().in_groups(&["ops"]), bob().in_groups(&[])];
    stage.world.set_approvers(people);
    let run = stage
        .submit("run", &script(), asking(&json!("write")))
        .await;
    let ticket = run.waits_for(1).await.remove(0);
    let (status, place) = (run.status_now().await, run.place());
    let approval = Decision::approve(&ticket);

    let unsigned = Decision {
        approver: Some("ada".to_owned()),
        ..approval.clone()
    };
    let reason = run.rejects(&unsigned).await;
    assert_eq!(reason, "the decision is not signed");
    let stranger = eve().signs(&place, &status, approval.clone());
    let reason = run.rejects(&stranger).await;
    let expected = format!("no approver has the key {}", eve().fingerprint());
    assert_eq!(reason, expected);

    let signed = ada().signs(&place, &status, approval.clone());
    let of_other_digest = Decision {
        digest: "0".repeat(64),
        ..approval.clone()
    };
    let an_earlier_run = RunStatus {
        nonce: Some(Uuid::from_u128(1)),
        ..status.clone()
    };
    let elsewhere = Place::Local {
        home: "/elsewhere".to_owned(),
    };
    let changed = [
        Decision {
            args: Some(json!({"text": "two"})),
            ..signed.clone()
        },
        Decision {
            verdict: Verdict::Deny,
            ..signed.clone()
        },
        Decision {
            at: DecidedAt::parse("2026-11-23T16:27:58.124Z").ok(),
            ..signed.clone()
        },
        Decision {
            digest: ticket.digest.clone(),
            ..ada().signs(&place, &status, of_other_digest)
        },
        ada().signs(&place, &an_earlier_run, approval.clone()),
        ada().signs(&elsewhere, &status, approval),
    ];
    let expected = format!(
        "the signature with the key {} of ada is not over this decision",
        ada().fingerprint()
    );
    for decision in &changed {
        assert_eq!(run.rejects(decision).await, expected, "{decision:?}");
    }
    assert_eq!(stage.world.attempts_at("run", 1, 1).len(), 0);

    // The key identifies the approver, not the name.
    let taken = Decision {
        approver: Some("the boss".to_owned()),
        ..signed
    };
    run.decide(&taken).await;
    let record = run.ends().await;
    assert_eq!(record.attempts_at(1, 1).len(), 1);
    expect("signed", &[record.without_refusals()]);
}

/// However many unsigned decisions are sent, those of the approvers count.
pub async fn a_flood_of_unsigned_decisions_closes_no_ticket<H: Host>(host: &H) {
    let stage = Stage::open(host, "flooded").await;
    stage.world.set_approvers([ada().in_groups(&[])]);
    let run = stage
        .submit("run", &script(), asking(&json!("write")))
        .await;
    let ticket = run.waits_for(1).await.remove(0);
    let (status, place) = (run.status_now().await, run.place());
    let approval = Decision::approve(&ticket);
    for number in 0..30 {
        let unsigned = Decision {
            approver: Some(format!("mallory{number}")),
            ..approval.clone()
        };
        run.decide_wrongly(&unsigned).await;
    }
    run.decide(&ada().signs(&place, &status, approval)).await;
    let record = run.ends().await.without_refusals();
    assert_eq!(record.attempts_at(1, 1).len(), 1);
    expect("flooded", &[record]);
}

/// A worker without approvers accepts no decision about a run that began with some, and reports that: another worker
/// has to.
pub async fn a_worker_without_approvers_leaves_the_decisions_of_signed_runs<H: Host>(host: &H) {
    let stage = Stage::open(host, "keyless").await;
    stage.world.set_approvers([ada().in_groups(&[])]);
    let run = stage
        .submit("run", &script(), asking(&json!("write")))
        .await;
    let ticket = run.waits_for(1).await.remove(0);
    let (status, place) = (run.status_now().await, run.place());
    assert!(status.signed);
    let approval = Decision::approve(&ticket);
    stage.kill().await;
    stage.world.set_approvers([]);
    stage.execute().await;
    let unsigned = Decision {
        approver: Some("mallory".to_owned()),
        ..approval.clone()
    };
    // No key is needed to find that out.
    let reason = run.rejects(&unsigned).await;
    assert_eq!(reason, "the decision is not signed");
    let by_a_stranger = eve().signs(&place, &status, approval.clone());
    run.decide(&by_a_stranger).await;
    let blocked = run.reaches(RunPhase::WaitingForApproval, |status| {
        let blocked = status.blocked.as_ref();
        blocked.is_some_and(|blocked| blocked.kind == BlockedKind::NoWorker)
    });
    let detail = blocked.await.blocked.unwrap().detail;
    assert!(detail.contains("knows no approvers"), "{detail}");
    assert_eq!(stage.world.attempts_at("run", 1, 1).len(), 0);

    stage.kill().await;
    stage.world.set_approvers([ada().in_groups(&[])]);
    stage.execute().await;
    run.decide_in_the_end(&ada().signs(&place, &status, approval))
        .await;
    let record = run.ends().await.without_refusals();
    assert_eq!(record.attempts_at(1, 1).len(), 1);
    expect("keyless", &[record]);
}

/// A key is replaced while a run waits: the new one counts, and decisions that were signed with the old one do not
/// count any more.
pub async fn a_key_is_replaced_while_a_run_waits<H: Host>(host: &H) {
    let stage = Stage::open(host, "rotated").await;
    stage.world.set_approvers([ada().in_groups(&[])]);
    let run = stage
        .submit("run", &script(), asking(&json!("write")))
        .await;
    let ticket = run.waits_for(1).await.remove(0);
    let (status, place) = (run.status_now().await, run.place());
    let approval = Decision::approve(&ticket);
    let old = ada().signs(&place, &status, approval.clone());
    if H::SURVIVES {
        stage.kill().await;
    }
    let ada_now = Person::new("ada", 9);
    stage.world.set_approvers([ada_now.in_groups(&[])]);
    if H::SURVIVES {
        stage.execute().await;
        run.waits_for(1).await;
    }
    let reason = run.rejects(&old).await;
    let expected = format!("no approver has the key {}", ada().fingerprint());
    assert_eq!(reason, expected);
    run.decide(&ada_now.signs(&place, &status, approval)).await;
    let record = run.ends().await;
    expect("rotated", &[record.without_refusals()]);
}

/// A decision that was signed in time and arrives when its ticket has expired.
pub async fn a_signed_decision_that_is_late_changes_nothing<H: Host>(host: &H) {
    let stage = Stage::open(host, "signed_late").await;
    stage.world.set_approvers([ada().in_groups(&[])]);
    let lapsing = AgentSpec {
        approval_timeout: Some(Duration::from_secs(1)), // No one decides it, so it expires at any speed.
        ..asking(&json!("write"))
    };
    let mut last_call = stage.world.hold("run", 2, 0);
    let run = stage.submit("run", &script(), lapsing).await;
    last_call.reached().await;
    let ticket = run.has_asked(1).await.remove(0);
    let status = run.status_now().await;
    let late = ada().signs(&run.place(), &status, Decision::approve(&ticket));
    run.decide_wrongly(&late).await;
    last_call.release();
    let record = run.ends().await.without_refusals();
    assert_eq!(record.attempts_at(1, 1).len(), 0);
    expect("signed_late", &[record]);
}

/// The result of a deferred tool: with approvers the result has the token, or is signed.
pub async fn a_deferred_result_is_signed_or_has_the_token<H: Host>(host: &H) {
    let stage = Stage::open(host, "deferred_signed").await;
    stage.world.set_approvers([ada().in_groups(&[])]);
    let script = json!({"turns": [
        {"tool_calls": [{"name": "deploy", "input": {"text": "it runs"}}]},
        {"text": "Done."},
    ]});
    let mut records = Vec::new();
    for name in ["signed", "token"] {
        let mut agent = agent();
        agent.head_mut().tools.push(World::deferred_tool());
        let run = stage.submit(name, &script, agent).await;
        let ticket = run.waits_for(1).await.remove(0);
        assert_eq!(ticket.kind, TicketKind::External);
        let (status, place) = (run.status_now().await, run.place());
        let result = Decision::complete(&ticket, json!({"id": 7}));
        let reason = run.rejects(&result).await;
        assert_eq!(reason, "the decision is not signed");
        if name == "signed" {
            let signed = ada().signs(&place, &status, result);
            let other = Decision {
                output: Some(json!({"id": 8})),
                ..signed.clone()
            };
            let reason = run.rejects(&other).await;
            assert!(reason.ends_with("is not over this decision"), "{reason}");
            run.decide(&signed).await;
        } else {
            let attempts = stage.world.attempts_at(name, 1, 1);
            let token = attempts.last().unwrap().token.clone();
            run.decide(&Decision { token, ..result }).await;
        }
        records.push(run.ends().await.without_refusals());
    }
    expect("deferred_signed", &records);
}

/// A call that takes two people of a group: others may not decide, and one person with two keys counts once.
pub async fn two_people_of_a_group_approve<H: Host>(host: &H) {
    let stage = Stage::open(host, "two_people").await;
    let other_key = Person::new("ada", 9);
    let mut ada_twice = ada().in_groups(&["ops"]);
    ada_twice.keys.extend(other_key.in_groups(&[]).keys);
    stage.world.set_approvers([
        ada_twice,
        bob().in_groups(&["ops"]),
        eve().in_groups(&["leads"]),
    ]);
    let rule = json!({"call": "write", "from": "ops", "needed": 2});
    let run = stage.submit("run", &script(), asking(&rule)).await;
    let ticket = run.has_asked(1).await.remove(0);
    let (status, place) = (run.status_now().await, run.place());
    let approval = Decision::approve(&ticket);
    let by = |person: &Person| person.signs(&place, &status, approval.clone());

    let reason = run.rejects(&by(&eve())).await;
    assert_eq!(reason, "eve may not decide it: it is put to ops");
    run.decide(&by(&ada())).await;
    let given = |recorded: &RecordedEvent| matches!(recorded.event, RunEvent::ApprovalGiven { .. });
    run.shows("an approval", |events| events.iter().any(given))
        .await;
    let reason = run.rejects(&by(&other_key)).await;
    assert_eq!(reason, "ada approved it already");
    assert_eq!(stage.world.attempts_at("run", 1, 1).len(), 0);
    run.decide(&by(&bob())).await;
    let record = run.ends().await;
    expect("two_people", &[record.without_refusals()]);
}

/// A ticket that is put to others when its time is over: the first ones may not decide any more. The others have as
/// much time: if a machine is too slow for that, they have more.
pub async fn a_ticket_is_put_to_another_group<H: Host>(host: &H) {
    for within_ms in [2_000, 20_000, 200_000] {
        if let Some(record) = escalated(host, within_ms).await {
            return expect("escalated", &[record]);
        }
    }
    panic!("nobody could decide in three minutes");
}

/// Returns the record of such a run, unless its ticket expired before everything was decided.
async fn escalated<H: Host>(host: &H, within_ms: u64) -> Option<Record> {
    let stage = Stage::open(host, "escalated").await;
    let people = [ada().in_groups(&["ops"]), eve().in_groups(&["leads"])];
    stage.world.set_approvers(people);
    let rule = json!({"call": "write", "from": "ops", "within_ms": within_ms, "then": "leads"});
    let run = stage.submit("run", &script(), asking(&rule)).await;
    let ticket = run.has_asked(1).await.remove(0);
    let (status, place) = (run.status_now().await, run.place());
    let approval = Decision::approve(&ticket);
    let is_escalated =
        |recorded: &RecordedEvent| matches!(recorded.event, RunEvent::ApprovalEscalated { .. });
    run.shows("that others are asked", |events| {
        events.iter().any(is_escalated)
    })
    .await;
    let late = ada().signs(&place, &status, approval.clone());
    let refused = match run.session().decide(&run.id, &late).await {
        Ok(()) => {
            let is_told =
                |events: &[RecordedEvent]| !rejections(events).is_empty() || has_lapsed(events);
            run.shows("a rejection", is_told).await;
            rejections(&run.events().await).pop()
        }
        Err(HostError::Refused(refused)) => Some(refused),
        Err(error) => panic!("a decision: {error}"),
    };
    let by_eve = eve().signs(&place, &status, approval);
    // A door may not have noticed yet that the previous decision is not in progress any more.
    while let Err(error) = stage.session.decide(&run.id, &by_eve).await {
        assert!(matches!(error, HostError::Refused(_)), "{error}");
        if has_lapsed(&run.events().await) {
            break;
        }
        tokio::task::yield_now().await;
    }
    let record = run.ends().await;
    let events = run.events().await;
    if has_lapsed(&events) {
        return None;
    }
    let refused = refused.unwrap_or_default();
    let expected = "ada may not decide it: it is put to leads";
    assert!(refused.ends_with(expected), "{refused}");
    Some(record.without_refusals())
}

fn has_lapsed(events: &[RecordedEvent]) -> bool {
    let is_end =
        |recorded: &RecordedEvent| matches!(recorded.event, RunEvent::ApprovalExpired { .. });
    events.iter().any(is_end)
}
