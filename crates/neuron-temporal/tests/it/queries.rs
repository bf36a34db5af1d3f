//! What a run shows, and what there is without one.

use neuron_temporal::ClientError;
use neuron_testing::{NotedModel, input_of, noted_agent, until};
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
    let transcript = stage.client.transcript(&run).await.unwrap();
    let texts: Vec<_> = transcript.iter().map(|message| message.text()).collect();
    assert_eq!(texts, ["Go.", "Hi."]);
    let again = stage.client.start(&run, input_of(&spec), "neuron").await;
    assert!(
        matches!(again, Err(ClientError::RunExists { .. })),
        "{again:?}"
    );
    let listed = until(async || {
        let runs = stage.client.list(10).await.unwrap();
        runs.into_iter().find(|listed| listed.ended_at.is_some())
    })
    .await;
    assert_eq!((&listed.run_id, listed.running), (&run, false));
    let nobody = RunId::new("nobody").unwrap();
    for result in [
        stage.client.status(&nobody).await.map(drop),
        stage.client.wait(&nobody).await.map(drop),
        stage.client.cancel(&nobody, None).await,
    ] {
        assert!(
            matches!(result, Err(ClientError::NotThere { .. })),
            "{result:?}"
        );
    }
}
