//! Workers and servers that are lost while runs continue as new.

use std::{collections::BTreeSet, sync::Arc};

use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_patience::Dice;
use neuron_testing::{
    Moment, NotedModel, NotedTool, Turnstile, decision, noted_agent, run_locally,
};
use neuron_types::{RunPhase, ToolEffects, ToolOutput, Verdict};
use serde_json::json;

use crate::{
    journals::{journals, read, turns, unlimited},
    lost_workers::{MOST_CALLS, TURNS, course, script, tools},
    server::Server,
    stage::Stage,
};

#[tokio::test(flavor = "multi_thread")]
async fn workers_of_different_settings_are_lost_and_the_run_is_as_if_none_had_been() {
    let (spec, executor) = noted_agent(&NotedModel::new(&script()), &tools());
    let (local, local_events) = run_locally(&spec, &executor).await;

    let mut dice = Dice::of_test("workers_of_different_settings_are_lost");
    let turnstile = Turnstile::default();
    let [read, write] = tools().map(|tool| tool.behind(&turnstile));
    let model = NotedModel::new(&script()).behind(&turnstile);
    let (spec, executor) = noted_agent(&model, &[read.clone(), write.clone()]);
    let stage = Stage::set("rolled-lost").await;
    let worker_of = async |entries| {
        stage
            .worker_with(&executor, |services| {
                services.continue_as_new_after(entries)
            })
            .await
    };
    let mut moment = Moment::drawn(&mut dice, MOST_CALLS);
    turnstile.close_for(moment);
    let mut worker = worker_of(1).await;
    let run = stage.start("lost", &spec).await;
    for entries in [1, 25, 1, 40, 1, 25] {
        turnstile.reached(moment).await;
        drop(worker);
        turnstile.emptied().await;
        moment = Moment::drawn(&mut dice, MOST_CALLS);
        turnstile.close_for(moment);
        worker = worker_of(entries).await;
    }
    turnstile.open();
    let _worker = worker;
    let output = stage.wait(&run).await;
    let journals = journals(&stage, &run, None).await.len();
    assert!(journals >= 5, "{journals}");
    assert_eq!(output.state, RunPhase::Completed);
    assert_eq!(output.output, local.output);
    assert_eq!(output.turns, TURNS as u32);
    assert_eq!(course(stage.events(&run).await), course(local_events));
    write.assert_no_call_again();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_continued_run_goes_on_when_the_server_is_back() {
    let mut script = turns(60, "read");
    script["turns"][29] = json!({"tool_calls": [{"name": "asked", "input": {}}]});
    let asked = NotedTool::new("asked", ToolEffects::Write, |_| async {
        Ok(ToolOutput::text("written"))
    });
    let model = NotedModel::new(&script);
    let read = read(10);
    let (mut spec, executor) = noted_agent(&model, &[read.clone(), asked.clone()]);
    spec.approvals.approve = vec!["asked".into()];
    let server = tokio::task::spawn_blocking(Server::start).await.unwrap();
    let stage = Stage::on(Arc::new(server), "rolled-back");
    let _worker = stage
        .worker_with(&executor, |services| services.continue_as_new_after(30))
        .await;
    let run = stage.start("run", &unlimited(spec)).await;
    until(async || (model.count() >= 12).then_some(())).await;
    let stage = killed_and_restarted(stage).await;
    stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let stage = killed_and_restarted(stage).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let approval = decision(&status.approvals[0], Verdict::Approve);
    stage.client.decide(&run, &approval).await.unwrap();
    let output = stage.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert_eq!(output.turns, 60);
    assert_eq!(asked.keys(), ["run:30:1"]);
    let reads: BTreeSet<String> = read.keys().into_iter().collect();
    assert_eq!(reads.len(), 58);
    // A read in flight may have been repeated.
    assert!(read.keys().len() <= 60, "{:?}", read.keys());
    let journals = journals(&stage, &run, None).await.len();
    assert!(journals >= 10, "{journals}");
}

/// Returns the same stage on its server, killed and started again.
async fn killed_and_restarted(stage: Stage) -> Stage {
    let prefix = stage.names.agent().to_owned();
    let server = Arc::into_inner(stage.server).expect("nobody else holds the server");
    let server = tokio::task::spawn_blocking(move || {
        let mut server = server;
        server.kill_and_restart();
        server
    });
    Stage::on(Arc::new(server.await.unwrap()), &prefix)
}
