//! The answers that a client gets.

use neuron_engine::{PageRequest, RunClient as _, RunClientError, RunFilter, RunPage};
use neuron_restate::{RestateClient, ServerAddress};
use neuron_testing::{NotedModel, input_of, noted_agent};
use neuron_types::{RunId, UserMessage};
use serde_json::json;

use crate::{guard::Guard, stage::Stage};

#[tokio::test(flavor = "multi_thread")]
async fn unknown_runs_and_used_ids_are_refused() {
    let model = NotedModel::new(&json!({"turns": [{"text": "Done."}]}));
    let (spec, executor) = noted_agent(&model, &[]);
    let stage = Stage::set("clients").await;
    let _worker = stage.worker(&executor).await;
    stage.run("known", &spec).await;
    let (known, unknown) = (RunId::new("known").unwrap(), RunId::new("unknown").unwrap());
    let again = stage.client.start(&known, input_of(&spec).into()).await;
    assert!(
        matches!(again, Err(RunClientError::RunExists { .. })),
        "{again:?}"
    );
    let waited = stage.client.wait_for_end(&unknown).await;
    assert!(
        matches!(waited, Err(RunClientError::UnknownRun { .. })),
        "{waited:?}"
    );
    let output = stage.client.output(&unknown).await;
    assert!(
        matches!(output, Err(RunClientError::UnknownRun { .. })),
        "{output:?}"
    );
    for refused in [
        stage.client.status(&unknown).await.map(drop),
        stage.client.events_after(&unknown, 0).await.map(drop),
        stage.client.send(&unknown, UserMessage::new("hello")).await,
        stage.client.cancel(&unknown, None).await.map(drop),
    ] {
        assert!(refused.unwrap_err().is_unknown_run());
    }
    let after = stage.client.events_after(&known, 3).await.unwrap();
    assert_eq!(after[0].seq, 4);
    for private in ["segment", "nothing"] {
        let (status, _) = stage.post(&known, private, &json!({})).await;
        assert!(status >= 400, "{private}: {status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_tells_what_a_run_came_to_tells_the_same() {
    let model = NotedModel::new(&json!({"turns": [{"text": "Done."}]}));
    let (spec, executor) = noted_agent(&model, &[]);
    let stage = Stage::set("came-to").await;
    let _worker = stage.worker(&executor).await;
    let output = stage.run("over", &spec).await;
    assert_eq!(
        (output.engine.as_str(), output.run_id.as_str()),
        ("restate", "over")
    );
    let status = stage.client.status(&output.run_id).await.unwrap();
    assert_eq!(status.output(output.exit_reason), output);
    let known = stage.client.output(&output.run_id).await.unwrap();
    assert_eq!(known, Some(output));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let address = ServerAddress {
        ingress_url: "http://127.0.0.1:9/".into(),
        ..ServerAddress::default()
    };
    let names = neuron_restate::ServiceNames::new("neuron").unwrap();
    let client = RestateClient::new(address, names).unwrap();
    let error = client
        .status(&RunId::new("any").unwrap())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "restate cannot be reached at http://127.0.0.1:9/neuron/any/status"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_look_into_its_tables_yet_is_asked_again() {
    let stage = Stage::set("early").await;
    let list = async |first: usize, status| {
        let admin = Guard::refusing_first(first, &stage.server.address.admin_url, status).await;
        let address = ServerAddress {
            admin_url: admin.url.clone(),
            ..stage.server.address.clone()
        };
        let client = RestateClient::new(address, stage.names.clone()).unwrap();
        let page = PageRequest::first(10);
        let listed = client.list(&RunFilter::all(), page).await;
        (listed, admin.refused())
    };
    let (listed, refused) = list(3, 500).await;
    assert_eq!((listed.unwrap(), refused), (RunPage::default(), 3));
    let (listed, refused) = list(3, 400).await;
    let is_said = matches!(&listed, Err(error) if error.is_rejected());
    assert!(is_said && refused == 1, "{listed:?}");
}
