//! Deployments beside each other on one server, each with a name.

use neuron_engine::RunClient as _;
use neuron_restate::{AgentServices, SettingsError};
use neuron_testing::{NotedModel, NotedTool, decision, noted_agent};
use neuron_types::{ExitReason, RunEvent, RunPhase, ToolEffects, ToolOutput, UserMessage, Verdict};
use serde_json::json;
use tokio::net::TcpListener;

use crate::{journals::journals, stage::Stage};

fn write(name: &'static str) -> NotedTool {
    NotedTool::new(name, ToolEffects::Write, |_| async {
        Ok(ToolOutput::text("written"))
    })
}

/// Returns settings of this name, with a journal for every turn.
fn named(name: &str) -> impl FnOnce(AgentServices) -> AgentServices {
    let name = name.to_owned();
    move |services| services.with_deployment(name).continue_as_new_after(1)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_stays_at_the_deployment_that_it_began_at_through_all_its_segments() {
    let script = json!({"turns": [
        {"tool_calls": [{"name": "write", "input": {"text": "one"}}]},
        {"tool_calls": [{"name": "asked", "input": {"text": "two"}}]},
        {"tool_calls": [{"name": "write", "input": {"text": "three"}}]},
        {"text": "Done."},
    ]});
    let (blue, blue_model) = (write("write"), NotedModel::new(&script));
    let (green, green_model) = (write("write"), NotedModel::new(&script));
    let (asked, green_asked) = (write("asked"), write("asked"));
    let (mut spec, executor) = noted_agent(&blue_model, &[blue.clone(), asked.clone()]);
    spec.approvals.approve = vec!["asked".into()];
    let (_, other) = noted_agent(&green_model, &[green.clone(), green_asked.clone()]);
    let stage = Stage::set("blue-green").await;
    let worker = stage.worker_with(&executor, named("blue")).await;
    let run = stage.start("stays", &spec).await;
    let tickets = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let before = journals(&stage, &run, Some("blue")).await.len();
    assert!(before >= 2, "{before} journals");

    // Everything that is called from now on is called there, except the run's segments.
    let blue_address = stage.elsewhere();
    let _green = stage.worker_with(&other, named("green")).await;
    let message = UserMessage::new("And this.");
    stage.client.send(&run, message).await.unwrap();
    // The run continues in whatever process serves the deployment.
    drop(worker);
    stage.at(blue_address);
    let _blue = stage.worker_with(&executor, named("blue")).await;
    let _green = {
        stage.elsewhere();
        stage.worker_with(&other, named("green")).await
    };
    let approval = decision(&tickets.approvals[0], Verdict::Approve);
    stage.client.decide(&run, &approval).await.unwrap();
    let output = stage.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert_eq!(blue.keys(), ["stays:1:1", "stays:3:1"]);
    assert_eq!(asked.keys(), ["stays:2:1"]);
    assert_eq!(blue_model.count(), 4);
    assert_eq!((green_model.count(), green.keys().len()), (0, 0));
    assert!(journals(&stage, &run, Some("blue")).await.len() > before);
    let events = stage.events(&run).await;
    let received = |event: &&RunEvent| matches!(event, RunEvent::MessageReceived { .. });
    assert_eq!(events.iter().filter(received).count(), 1, "{events:?}");

    // A new run begins at the newest deployment.
    let run = stage.start("begins", &spec).await;
    stage.reaches(&run, RunPhase::WaitingForApproval).await;
    assert_eq!(green.keys(), ["begins:1:1"]);
    assert_eq!(blue_model.count(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_cancelled_in_whatever_segment_it_is() {
    let script = json!({"turns": [
        {"tool_calls": [{"name": "write", "input": {"text": "one"}}]},
        {"tool_calls": [{"name": "asked", "input": {"text": "two"}}]},
    ]});
    let (done, asked) = (write("write"), write("asked"));
    let model = NotedModel::new(&script);
    let (mut spec, executor) = noted_agent(&model, &[done, asked.clone()]);
    spec.approvals.approve = vec!["asked".into()];
    let stage = Stage::set("cancelled-late").await;
    let _worker = stage.worker_with(&executor, named("blue")).await;
    let run = stage.start("late", &spec).await;
    stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let reason = Some("enough".to_owned());
    stage.client.cancel(&run, reason).await.unwrap();
    let output = stage.wait(&run).await;
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    assert_eq!(output.error.unwrap().message, "enough");
    assert!(asked.keys().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_shows_nothing_of_an_earlier_one_of_its_id_that_was_killed_in_a_later_segment() {
    let script = json!({"turns": [
        {"tool_calls": [{"name": "write", "input": {"text": "one"}}]},
        {"tool_calls": [{"name": "asked", "input": {"text": "two"}}]},
        {"text": "Done."},
    ]});
    let (done, asked) = (write("write"), write("asked"));
    let model = NotedModel::new(&script);
    let (mut spec, executor) = noted_agent(&model, &[done, asked]);
    spec.approvals.approve = vec!["asked".into()];
    let stage = Stage::set("killed-late").await;
    let _worker = stage.worker_with(&executor, named("blue")).await;
    let run = stage.start("again", &spec).await;
    let before = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let message = UserMessage::new("For the first.");
    stage.client.send(&run, message).await.unwrap();
    stage.change(&run, "kill").await;
    stage.change(&run, "purge").await;

    stage.start("again", &spec).await;
    let after = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    assert_ne!(before.started_at, after.started_at);
    let approval = decision(&after.approvals[0], Verdict::Approve);
    stage.client.decide(&run, &approval).await.unwrap();
    let output = stage.wait(&run).await;
    assert_eq!(output.exit_reason, Some(ExitReason::Complete), "{output:?}");
    let events = stage.events(&run).await;
    let received = |event: &RunEvent| matches!(event, RunEvent::MessageReceived { .. });
    assert!(!events.iter().any(received), "{events:?}");
}

#[tokio::test]
async fn a_deployment_has_a_name_that_restate_takes() {
    let (_, executor) = noted_agent(&NotedModel::new(&json!({"turns": []})), &[]);
    let names = neuron_restate::ServiceNames::new("named-wrong").unwrap();
    let services = AgentServices::new(names, executor, |door, start| {
        Box::pin(neuron_workflows::agent(door, start))
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let served = services
        .with_deployment("a/b")
        .serve(listener, std::future::ready(()));
    let error = served.await.unwrap_err();
    assert!(matches!(&error, SettingsError::Deployment(name) if name == "a/b"));
}
