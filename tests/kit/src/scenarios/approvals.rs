//! Tickets.

use std::time::Duration;

use futures::future::join_all;
use neuron_types::{AgentSpec, AskRule, Decision, ExitReason, OnExpiry, RunEvent, Ticket, Verdict};
use serde_json::{Value, json};

use crate::{Ending, Host, Stage, agent, decision, expect};

fn asking() -> AgentSpec {
    let mut agent = agent();
    agent.approvals.approve = vec!["write".into()];
    agent
}

/// Returns an agent that asks about two writes, `one` and `two`: the second question expires, whatever else happens.
pub(crate) fn second_lapses() -> AgentSpec {
    let lapses = AskRule {
        within: Some(Duration::from_secs(1)), // No one decides it, so it expires at any speed.
        ..AskRule::new("write(text=two)")
    };
    let mut agent = agent();
    agent.approvals.approve = vec!["write(text=one)".into(), lapses];
    agent
}

fn digests(tickets: &[Ticket]) -> Vec<&str> {
    tickets.iter().map(|open| open.digest.as_str()).collect()
}

fn writes(texts: &[&str]) -> Vec<Value> {
    texts
        .iter()
        .map(|text| json!({"name": "write", "input": {"text": text}}))
        .collect()
}

/// Two tickets and a call that needs none: the call is made at once, one ticket is denied, one approved with
/// other arguments.
pub async fn tickets_of_one_turn_are_decided_one_by_one<H: Host>(host: &H) {
    let stage = Stage::open(host, "approvals").await;
    let mut calls = writes(&["one", "two"]);
    calls.insert(1, json!({"name": "look", "input": {"text": "unasked"}}));
    let script = json!({"turns": [{"text": "May I?", "tool_calls": calls}, {"text": "Done."}]});
    let run = stage.submit("run", &script, asking()).await;

    let tickets = run.waits_for(2).await;
    let attempts = stage.world.attempts();
    assert_eq!(attempts.len(), 2, "the model and the look: {attempts:#?}");

    let denial = Decision {
        comment: Some("not this one".to_owned()),
        ..decision(&tickets[1], Verdict::Deny)
    };
    run.decide(&denial).await;
    let left = run.waits_for(1).await;
    assert_eq!(left, tickets[..1]);

    let approval = Decision {
        args: Some(json!({"text": "edited"})),
        comment: Some("but like this".to_owned()),
        ..decision(&tickets[0], Verdict::Approve)
    };
    run.decide(&approval).await;
    let record = run.ends().await;
    let written = record.attempts_at(1, 1);
    assert_eq!(written.len(), 1);
    assert_eq!(written[0].input, json!({"text": "edited"}));
    assert_eq!(record.attempts_at(1, 3).len(), 0, "it was denied");
    expect("approvals", &[record]);
}

/// Arguments that the tool does not accept, and arguments that the agent denies: each decision is rejected, and another
/// one is accepted.
pub async fn edits_that_are_denied_or_do_not_fit_leave_the_ticket_open<H: Host>(host: &H) {
    let stage = Stage::open(host, "wrong_edits").await;
    let script = json!({"turns": [{"tool_calls": writes(&["one"])}, {"text": "Done."}]});
    let mut agent = asking();
    agent.approvals.deny = vec!["write(text=secret*)".into()];
    let run = stage.submit("run", &script, agent).await;
    let tickets = run.waits_for(1).await;
    let edited = |args: Value| Decision {
        args: Some(args),
        ..decision(&tickets[0], Verdict::Approve)
    };
    run.decide_wrongly(&edited(json!({"text": 3}))).await;
    for args in [
        json!({"text": "secret"}),
        json!({"txet": "open"}),
        json!({"text": "open"}),
    ] {
        run.decide_in_the_end(&edited(args)).await;
    }
    let record = run.ends().await;
    let written = record.attempts_at(1, 1);
    assert_eq!(written.len(), 1);
    assert_eq!(written[0].input, json!({"text": "open"}));
}

/// A wrong digest, an unknown ticket, and a ticket that was decided already.
pub async fn decisions_that_fit_no_open_ticket_change_nothing<H: Host>(host: &H) {
    let stage = Stage::open(host, "wrong_decisions").await;
    let script = json!({"turns": [
        {"tool_calls": writes(&["one"])},
        {"tool_calls": writes(&["two"])},
        {"text": "Done."},
    ]});
    let run = stage.submit("run", &script, asking()).await;
    let first = run.waits_for(1).await.remove(0);
    let right = decision(&first, Verdict::Approve);
    let wrong_digest = Decision {
        digest: "0".repeat(64),
        ..right.clone()
    };
    let unknown = Decision {
        ticket: "t9-9".to_owned(),
        ..right.clone()
    };
    for wrong in [&wrong_digest, &unknown] {
        run.decide_wrongly(wrong).await;
        assert_eq!(digests(&run.waits_for(1).await), [first.digest.as_str()]);
    }
    assert_eq!(stage.world.attempts_at("run", 1, 1).len(), 0);
    run.decide(&right).await;

    let is_next = |status: &neuron_types::RunStatus| status.turn == 2;
    let waiting = neuron_types::RunPhase::WaitingForApproval;
    let second = run.reaches(waiting, is_next).await.approvals.remove(0);
    run.decide_wrongly(&right).await;
    assert_eq!(digests(&run.waits_for(1).await), [second.digest.as_str()]);
    run.decide(&decision(&second, Verdict::Approve)).await;
    let record = run.ends().await.without_refusals();
    assert_eq!(record.attempts_at(1, 1).len(), 1);
    expect("wrong_decisions", &[record]);
}

/// Many people decide about one ticket at the same moment: one decision counts, its sender learns that, and the others
/// learn that the ticket was decided, also while the run has not received the decision that counts. In memory the
/// senders learn nothing.
pub async fn of_decisions_that_come_at_once_one_counts<H: Host>(host: &H) {
    let stage = Stage::open(host, "at_once").await;
    let script = json!({"turns": [{"tool_calls": writes(&["one"])}, {"text": "Done."}]});
    for round in 0..3 {
        let run = stage
            .submit(&format!("run-{round}"), &script, asking())
            .await;
        let ticket = run.waits_for(1).await.remove(0);
        let decisions: Vec<Decision> = (0..6)
            .map(|person| Decision {
                approver: Some(format!("person-{person}")),
                ..Decision::of(&ticket, [Verdict::Approve, Verdict::Deny][person % 2])
            })
            .collect();
        let taken = join_all(decisions.iter().map(|it| run.is_taken(it))).await;
        let record = run.ends().await;
        let counted: Vec<&str> = record
            .events
            .iter()
            .filter_map(|event| match event {
                RunEvent::ApprovalDecided { approver, .. } => approver.as_deref(),
                _ => None,
            })
            .collect();
        let [counted] = counted.as_slice() else {
            panic!("{counted:?} decided: {record:?}");
        };
        let of = decisions.iter().zip(taken);
        let taken = of.filter(|(_, is_taken)| *is_taken);
        let taken: Vec<_> = taken.filter_map(|(it, _)| it.approver.as_deref()).collect();
        match H::SURVIVES {
            true => assert_eq!(taken, [*counted]),
            false => assert!(taken.contains(counted)),
        }
        let approved = ["person-0", "person-2", "person-4"].contains(counted);
        assert_eq!(record.attempts_at(1, 1).len(), usize::from(approved));
    }
}

/// Hosts that check decisions reject them for the same reasons, in the same words.
pub async fn decisions_are_refused_in_the_same_words<H: Host>(host: &H) {
    let stage = Stage::open(host, "refusals").await;
    let calls = writes(&["one", "two"]);
    let script = json!({"turns": [{"tool_calls": calls}, {"text": "Done."}]});
    let mut last_call = stage.world.hold("run", 2, 0);
    let run = stage.submit("run", &script, second_lapses()).await;
    let tickets = run.has_asked(2).await;
    let id = &run.id;

    let denial = decision(&tickets[0], Verdict::Deny);
    let unknown = Decision {
        ticket: "t9-9".to_owned(),
        ..denial.clone()
    };
    let wrong_digest = Decision {
        digest: "0".repeat(64),
        ..denial.clone()
    };
    let with_args = Decision {
        args: Some(json!({})),
        ..denial.clone()
    };
    for (wrong, reason) in [
        (unknown, format!("run {id} has no ticket t9-9")),
        (
            wrong_digest,
            "the digest is not that of ticket t1-1".to_owned(),
        ),
        (
            with_args,
            "a denial of ticket t1-1 has no use for arguments: leave them out, or approve"
                .to_owned(),
        ),
    ] {
        assert_eq!(run.refuses(&wrong).await, reason);
    }

    run.decide(&denial).await;
    let approval = decision(&tickets[0], Verdict::Approve);
    assert_eq!(
        run.refuses(&approval).await,
        format!("ticket t1-1 of run {id} is decided already")
    );
    last_call.reached().await;
    assert_eq!(
        run.refuses(&decision(&tickets[1], Verdict::Approve)).await,
        format!("ticket t1-2 of run {id} has expired, its call is not made")
    );
    last_call.release();
    run.ends().await;
    assert_eq!(
        run.refuses(&approval).await,
        format!("run {id} is over (completed)")
    );
}

/// Tickets that expire undecided: the call is denied, or the run fails.
pub async fn tickets_lapse<H: Host>(host: &H) {
    let stage = Stage::open(host, "lapsing").await;
    let script = json!({"turns": [
        {"tool_calls": writes(&["one", "two"])},
        {"text": "Done without."},
    ]});
    let lapsing = |on_expiry| AgentSpec {
        approval_timeout: Some(Duration::from_secs(1)), // No one decides it, so it expires at any speed.
        on_expiry,
        ..asking()
    };
    let denied = stage
        .submit("denied", &script, lapsing(OnExpiry::Deny))
        .await;
    let failed = stage
        .submit("failed", &script, lapsing(OnExpiry::Fail))
        .await;
    let records = [denied.ends().await, failed.ends().await];
    assert_eq!(records[0].output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(records[1].output.exit_reason, Some(ExitReason::Failed));
    for record in &records {
        let model = |attempt: &&crate::Attempt| attempt.step.position == 0;
        assert!(record.attempts.iter().all(|attempt| model(&attempt)));
        assert!(
            record
                .attempts
                .iter()
                .all(|attempt| attempt.was(Ending::Answered))
        );
    }
    expect("lapsing", &records);
}

/// An approver may decide about one call and not about another: with the other call's arguments the decision is
/// rejected, and the reason names who decides about those.
pub async fn edits_that_others_decide_about_are_rejected<H: Host>(host: &H) {
    let stage = Stage::open(host, "edits_for_others").await;
    let script = json!({"turns": [{"tool_calls": writes(&["list"])}, {"text": "Done."}]});
    let deploys = AskRule {
        from: Some("ops".to_owned()),
        needed: 2,
        ..AskRule::new("write(text=deploy*)")
    };
    let mut agent = agent();
    agent.approvals.approve = vec![deploys, "write".into()];
    let run = stage.submit("run", &script, agent).await;
    let ticket = run.waits_for(1).await.remove(0);
    let edited = |text: &str| Decision {
        args: Some(json!({ "text": text })),
        ..decision(&ticket, Verdict::Approve)
    };
    run.decide_in_the_end(&edited("deploy prod")).await;
    run.shows("who decides", |events| {
        events.iter().any(|recorded| match &recorded.event {
            RunEvent::ApprovalRefused { reason, .. } => {
                reason.starts_with("2 of ops decide about these arguments: ")
            }
            _ => false,
        })
    })
    .await;
    assert_eq!(run.waits_for(1).await.len(), 1);
    run.decide(&edited("list all")).await;
    let record = run.ends().await;
    let written: Vec<&Value> = record
        .attempts_at(1, 1)
        .iter()
        .map(|made| &made.input)
        .collect();
    assert_eq!(written, [&json!({"text": "list all"})]);
}

/// The worker has a rule to ask about calls that the run's own definition does not ask about: the call is not made, and
/// waits for a person, whose decision is passed on with the call.
pub async fn a_call_that_the_worker_asks_about_waits_for_a_person<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "worker_asks").await;
    let named = |agent: AgentSpec| AgentSpec {
        name: "clerk".to_owned(),
        ..agent
    };
    let mut free = named(agent());
    "run".clone_into(&mut free.head_mut().model);
    let mut asking = free.clone();
    asking.approvals.approve = vec!["write".into()];
    stage.world.define(free);
    stage.execute().await;
    let script = json!({"turns": [
        {"tool_calls": [{"name": "look", "input": {"text": "first"}}]},
        {"tool_calls": writes(&["one"])},
        {"text": "Done."},
    ]});
    let mut look = stage.world.hold("run", 1, 1);
    let run = stage.submit_to("run", &script, "clerk").await;
    look.reached().await;
    stage.kill().await;
    stage.world.define(asking);
    look.release();
    stage.execute().await;

    let ticket = run.waits_for(1).await.remove(0);
    assert_eq!(ticket.args, Some(json!({"text": "one"})));
    assert_eq!(ticket.reason, "the agent asks before it calls write");
    assert!(stage.world.attempts_at("run", 2, 1).is_empty());
    run.decide(&decision(&ticket, Verdict::Approve)).await;
    let record = run.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(record.attempts_at(2, 1).len(), 1);
}
