//! A server that is killed and started again in the middle of a run.

use std::sync::Arc;

use neuron_engine::RunClient as _;
use neuron_testing::{Moment, NotedModel, NotedTool, Turnstile, decision, noted_agent};
use neuron_types::{RunPhase, ToolEffects, ToolOutput, Verdict};
use serde_json::json;

use crate::{server::Server, stage::Stage};

#[tokio::test(flavor = "multi_thread")]
async fn runs_go_on_when_the_server_is_back() {
    let script = json!({"turns": [
        {"tool_calls": [{"name": "write", "input": {}}]},
        {"tool_calls": [{"name": "asked", "input": {}}]},
        {"text": "Done."},
    ]});
    let tool = |name| {
        NotedTool::new(name, ToolEffects::Write, |_| async {
            Ok(ToolOutput::text("written"))
        })
    };
    let turnstile = Turnstile::default();
    let (write, asked) = (tool("write").behind(&turnstile), tool("asked"));
    let model = NotedModel::new(&script).behind(&turnstile);
    // The second model call is held.
    let moment = Moment::InCall { after: 2 };
    turnstile.close_for(moment);
    let (mut spec, executor) = noted_agent(&model, &[write.clone(), asked.clone()]);
    spec.approvals.approve = vec!["asked".into()];
    let mut server = tokio::task::spawn_blocking(Server::start).await.unwrap();
    let address = server.address.clone();
    let names = neuron_restate::ServiceNames::new("restarted").unwrap();
    let client = neuron_restate::RestateClient::new(address, names).unwrap();
    // The stage's share of the server is dropped before the server is killed.
    let shared = Arc::new(server);
    let stage = Stage::on(Arc::clone(&shared), "restarted");
    let _worker = stage.worker(&executor).await;
    let run = stage.start("parked", &spec).await;
    turnstile.reached(moment).await;
    assert_eq!(model.count(), 2);
    drop(stage);
    server = Arc::into_inner(shared).unwrap();
    let server = tokio::task::spawn_blocking(move || {
        server.kill_and_restart();
        server
    });
    let server = server.await.unwrap();
    turnstile.open();
    let stage = Stage::on(Arc::new(server), "restarted");
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let approval = decision(&status.approvals[0], Verdict::Approve);
    client.decide(&run, &approval).await.unwrap();
    let output = stage.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert_eq!(write.keys(), ["parked:1:1"]);
    assert_eq!(asked.keys(), ["parked:2:1"]);
}
