//! Tickets of other kinds than calls.

use neuron_types::{ASK_PERSON, AskPerson, Decision, RunEvent, TicketKind, Verdict};
use serde_json::{Value, json};

use crate::{Host, Stage, World, agent, decision, expect};

/// A question of the model: an answer that is not among the choices is rejected, and the answer is the result.
pub async fn a_question_is_answered<H: Host>(host: &H) {
    let stage = Stage::open(host, "question").await;
    let question = json!({"question": "Which branch?", "choices": ["main", "next"]});
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": ASK_PERSON, "input": question},
            {"name": "look", "input": {"text": "beside"}},
        ]},
        {"text": "Done."},
    ]});
    let mut agent = agent();
    agent.head_mut().tools.push(AskPerson::definition());
    let run = stage.submit("run", &script, agent).await;
    let ticket = run.waits_for(1).await.remove(0);
    assert_eq!(ticket.kind, TicketKind::Question);
    let choose = |choice: &str| Decision {
        choice: Some(choice.to_owned()),
        ..decision(&ticket, Verdict::Choose)
    };
    run.decide_wrongly(&choose("last")).await;
    run.decide_wrongly(&decision(&ticket, Verdict::Approve))
        .await;
    run.waits_for(1).await;
    run.decide(&choose("next")).await;
    let record = run.ends().await.without_refusals();
    assert_eq!(record.attempts_at(1, 1).len(), 0, "nobody is called");
    expect("question", &[record]);
}

/// The result of a deferred tool: with a wrong token it is rejected, with the right one it is accepted, once.
pub async fn a_deferred_result_is_delivered_once<H: Host>(host: &H) {
    let stage = Stage::open(host, "deferred").await;
    let script = json!({"turns": [
        {"tool_calls": [{"name": "deploy", "input": {"text": "it runs"}}]},
        {"text": "Done."},
    ]});
    let mut agent = agent();
    agent.head_mut().tools.push(World::deferred_tool());
    let run = stage.submit("run", &script, agent).await;
    let ticket = run.waits_for(1).await.remove(0);
    assert_eq!(ticket.kind, TicketKind::External);
    assert_eq!(ticket.text.as_deref(), Some("it runs"));
    let attempts = stage.world.attempts_at("run", 1, 1);
    let token = attempts.last().unwrap().token.clone().unwrap();
    let complete = |token: &str, output: Value| Decision {
        output: Some(output),
        token: Some(token.to_owned()),
        ..decision(&ticket, Verdict::Complete)
    };
    let reason = run.rejects(&complete("wrong", json!({"id": 6}))).await;
    assert_eq!(reason, "the token is not that of the ticket");
    run.decide(&complete(&token, json!({"id": 7}))).await;
    run.decide_wrongly(&complete(&token, json!({"id": 8})))
        .await;
    let record = run.ends().await.without_refusals();
    assert_eq!(record.attempts_at(1, 1).len(), 1);
    let taken = record
        .events
        .iter()
        .filter(|event| matches!(event, RunEvent::ApprovalDecided { .. }));
    assert_eq!(taken.count(), 1);
    let events = serde_json::to_string(&record.events).unwrap();
    assert!(!events.contains(&token), "the token is a secret");
    expect("deferred", &[record]);
}

/// The worker that made a deferred call keeps nothing of it.
pub async fn a_deferred_result_comes_after_two_killed_workers<H: Host>(host: &H) {
    let stage = Stage::open(host, "deferred_killed").await;
    let script = json!({"turns": [
        {"tool_calls": [{"name": "deploy", "input": {"text": "it runs"}}]},
        {"text": "Done."},
    ]});
    let mut agent = agent();
    agent.head_mut().tools.push(World::deferred_tool());
    let run = stage.submit("run", &script, agent).await;
    let ticket = run.waits_for(1).await.remove(0);
    for _ in 0..2 {
        stage.kill().await;
        stage.execute().await;
        assert_eq!(run.waits_for(1).await.remove(0), ticket);
    }
    let attempts = stage.world.attempts_at("run", 1, 1);
    run.decide(&Decision {
        output: Some(json!({"id": 7})),
        token: attempts.last().unwrap().token.clone(),
        ..decision(&ticket, Verdict::Complete)
    })
    .await;
    let record = run.ends().await;
    assert_eq!(record.attempts_at(1, 1).len(), 1);
    expect("deferred_killed", &[record]);
}

/// A tool that asks a person before it continues: its call is made again with the answer.
pub async fn a_form_has_its_call_made_again<H: Host>(host: &H) {
    let stage = Stage::open(host, "form").await;
    let script = json!({"turns": [
        {"tool_calls": [{"name": "write", "input": {"form": "colour"}}]},
        {"text": "Done."},
    ]});
    let run = stage.submit("run", &script, agent()).await;
    let ticket = run.waits_for(1).await.remove(0);
    assert_eq!(ticket.kind, TicketKind::Form);
    let fill = |answers: Value| Decision {
        args: Some(answers),
        ..decision(&ticket, Verdict::Answer)
    };
    run.decide_wrongly(&fill(json!({"colour": 7}))).await;
    run.waits_for(1).await;
    run.decide(&fill(json!({"colour": "red"}))).await;
    let record = run.ends().await.without_refusals();
    assert_eq!(record.attempts_at(1, 1).len(), 2);
    expect("form", &[record]);
}
