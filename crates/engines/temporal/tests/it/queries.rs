//! What a run shows, and what there is without one.

use neuron_engine::{PageRequest, RunClient as _, RunClientError, RunFilter, RunPage};
use neuron_harness::until;
use neuron_testing::{NotedModel, input_of, noted_agent};
use neuron_types::{RunId, RunPhase};
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
