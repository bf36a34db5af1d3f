//! Signals: none lost, each once, in order.

use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_testing::{NotedModel, NotedTool, decision, noted_agent};
use neuron_types::{RunEvent, RunPhase, ToolEffects, UserMessage};
use serde_json::json;

use crate::stage::Stage;

fn received(events: &[RunEvent]) -> Vec<String> {
    let messages = events.iter().filter_map(|event| match event {
        RunEvent::MessageReceived { text } => Some(text.clone()),
        _ => None,
    });
    messages.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_come_before_anyone_waits_are_taken_in_order() {
    let script = json!({"turns": [
        {"tool_calls": [{"name": "gate", "input": {}}]},
        {"text": "First."},
    ]});
    let (tool, gate) = NotedTool::gate();
    let (spec, executor) = noted_agent(&NotedModel::new(&script), std::slice::from_ref(&tool));
    let stage = Stage::set("signals").await;
    let _worker = stage.worker(&executor).await;
    let run = stage.begin("queued", &spec).await;
    let texts: Vec<String> = (1..=12).map(|n| format!("message {n}")).collect();
    for text in &texts {
        stage
            .client
            .send(&run, UserMessage::new(text))
            .await
            .unwrap();
        // Signals that the run does not wait for do not get in the way.
        let weather = stage.client.signal(&run, "weather", json!(text)).await;
        weather.unwrap();
    }
    until(async || (!tool.keys().is_empty()).then_some(())).await;
    gate.add_permits(1);
    let output = stage.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("First."));
    assert_eq!(received(&stage.events(&run).await), texts);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_sent_at_once_all_arrive_across_the_loss_of_a_worker() {
    let script = json!({"turns": [
        {"tool_calls": [{"name": "echo", "input": {}}]},
        {"text": "Done."},
    ]});
    let echo = NotedTool::echo(ToolEffects::Write);
    let (mut spec, executor) = noted_agent(&NotedModel::new(&script), &[echo]);
    spec.approvals.approve = vec!["*".into()];
    let stage = Stage::set("burst").await;
    let worker = stage.worker(&executor).await;
    let run = stage.start("burst", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let texts: Vec<String> = (0..20).map(|n| format!("message {n:02}")).collect();
    let sending = texts
        .iter()
        .map(|text| stage.client.send(&run, UserMessage::new(text)));
    for sent in futures::future::join_all(sending).await {
        sent.unwrap();
    }
    drop(worker);
    let _worker = stage.worker(&executor).await;
    let approval = decision(&status.approvals[0], neuron_types::Verdict::Approve);
    stage.client.decide(&run, &approval).await.unwrap();
    let output = stage.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."));
    let mut seen = received(&stage.events(&run).await);
    seen.sort();
    assert_eq!(seen, texts);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_reach_a_run_whose_id_one_had_that_was_killed() {
    let (spec, executor) = noted_agent(&NotedModel::hanging(), &[]);
    let stage = Stage::set("again").await;
    let _worker = stage.worker(&executor).await;
    let texts = ["one", "two"];
    for _ in 0..2 {
        let run = stage.begin("again", &spec).await;
        for text in texts {
            let sent = stage.client.send(&run, UserMessage::new(text)).await;
            sent.unwrap();
        }
        until(async || (received(&stage.events(&run).await) == texts).then_some(())).await;
        // No part of the run closes its inbox.
        stage.change(&run, "kill").await;
        stage.reaches(&run, RunPhase::Failed).await;
        stage.change(&run, "purge").await;
        until(async || {
            let query = "SELECT id FROM sys_invocation WHERE target = 'again/again/run'";
            stage.query(query).await.is_empty().then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_that_cannot_be_read_is_refused_at_once() {
    let (spec, executor) = noted_agent(&NotedModel::hanging(), &[]);
    let stage = Stage::set("bad-signals").await;
    let _worker = stage.worker(&executor).await;
    let run = stage.begin("bad", &spec).await;
    for (body, wanted) in [
        (
            json!({"name": "user_message", "payload": 7}),
            "user_message",
        ),
        (json!({"name": "decision", "payload": {}}), "decision"),
    ] {
        let (status, answer) = stage.post(&run, "signal", &body).await;
        assert_eq!(status, 400, "{answer}");
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains(wanted), "{message}");
    }
    let cancel = json!({"name": "cancel", "payload": {"reason": "enough"}});
    assert_eq!(stage.post(&run, "signal", &cancel).await.0, 200);
    let output = stage.wait(&run).await;
    assert_eq!(output.error.unwrap().message, "enough");
}
