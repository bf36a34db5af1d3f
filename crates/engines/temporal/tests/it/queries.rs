//! What a run shows, and what is shown if there is no run.

use neuron_engine::{PageRequest, RunClient as _, RunClientError, RunFilter, RunPage};
use neuron_harness::until;
use neuron_testing::{NotedModel, NotedTool, input_of, noted_agent};
use neuron_types::{BlockedKind, RunId, RunPhase, ToolEffects};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_shows_its_status_events_and_conversation_and_is_listed() {
    let stage = Stage::set().await;
    let (spec, executor) = noted_agent(&NotedModel::new(&json!({"turns": [{"text": "Hi."}]})), &[]);
    let _worker = stage.worker(&executor);
    let output = stage.run("shown", &spec).await;
    let run = output.run_id.clone();
    assert_eq!(
        (output.engine.as_str(), run.as_str()),
        ("temporal", "shown")
    );
    let status = stage.client.status(&run).await.unwrap();
    assert_eq!(status.state, RunPhase::Completed);
    assert_eq!(status.output(output.exit_reason), output);
    let transcript = stage.client.conversation(&run).await.unwrap();
    let texts: Vec<_> = transcript.iter().map(|message| message.text()).collect();
    assert_eq!(texts, ["Go.", "Hi."]);
    let again = stage.client.start(&run, input_of(&spec).into()).await;
    assert!(
        matches!(again, Err(RunClientError::RunExists { .. })),
        "{again:?}"
    );
    let listed = until(async || {
        let page = PageRequest::first(10);
        let page = stage.client.list(&RunFilter::all(), page).await.unwrap();
        (!page.runs.is_empty()).then_some(page)
    })
    .await;
    assert_eq!(listed, RunPage::of(vec![status]));
    let nobody = RunId::new("nobody").unwrap();
    for result in [
        stage.client.status(&nobody).await.map(drop),
        stage.client.wait_for_end(&nobody).await.map(drop),
        stage.client.cancel(&nobody, None).await.map(drop),
    ] {
        assert!(
            matches!(result, Err(RunClientError::UnknownRun { .. })),
            "{result:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_runs_come_first_whether_they_are_over_or_not() {
    let stage = Stage::set().await;
    let (spec, _) = noted_agent(&NotedModel::new(&json!({"turns": [{"text": "Hi."}]})), &[]);
    for run in ["old", "older-than-newest", "by-command"] {
        stage.start(run, &spec).await;
    }
    let (terminated, said) = stage.temporal(&["workflow", "terminate"]);
    assert!(terminated, "{said}");
    let first = async |limit: usize| {
        let all = RunFilter::all();
        let page = PageRequest::first(limit);
        let page = stage.client.list(&all, page).await.unwrap();
        let ids = page.runs.iter().map(|run| run.run_id.to_string());
        (ids.collect::<Vec<_>>(), page.next)
    };
    until(async || (first(3).await.0.len() == 3).then_some(())).await;
    until(async || (first(1).await.0 == ["by-command"]).then_some(())).await;
    let (two, next) = first(2).await;
    assert_eq!(two, ["by-command", "older-than-newest"]);
    let all = RunFilter::all();
    let rest = PageRequest::first(2).after(next.unwrap());
    let rest = stage.client.list(&all, rest).await.unwrap();
    assert_eq!(rest.runs[0].run_id.as_str(), "old");
    assert_eq!((rest.runs.len(), rest.next), (1, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_whose_worker_is_gone_are_listed_and_it_is_said_what_is_not_known() {
    let stage = Stage::set().await;
    let echo = NotedTool::echo(ToolEffects::Write);
    let model = NotedModel::new(&json!({"turns": [
        {"tool_calls": [{"name": "echo", "input": {"text": "one"}}]},
        {"text": "Done."},
    ]}));
    let (mut spec, executor) = noted_agent(&model, std::slice::from_ref(&echo));
    spec.approvals.approve = vec!["echo".into()];
    let worker = stage.worker(&executor);
    let run = stage.start("left", &spec).await;
    stage.reaches(&run, RunPhase::WaitingForApproval).await;
    drop(worker);
    let open = RunFilter::open();
    let page = stage.client.list(&open, PageRequest::first(10)).await;
    let page = page.unwrap();
    assert_eq!(page.runs[0].run_id, run);
    let blocked = page.runs[0].blocked.as_ref().map(|blocked| blocked.kind);
    assert_eq!(blocked, Some(BlockedKind::NoWorker));
    let why = page.incomplete.unwrap();
    assert!(why.contains("a run of it is listed"), "{why}");
}
