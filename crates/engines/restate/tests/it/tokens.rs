//! A token is sent to what demands it, and to nothing else: a Restate server would keep it.

use neuron_engine::{PageRequest, RunClient as _, RunClientError, RunFilter};
use neuron_harness::until;
use neuron_restate::{RestateClient, ServerAddress};
use neuron_testing::{NotedModel, NotedTool, input_of, noted_agent};
use neuron_types::{RunId, RunPhase, RunStatus, UserMessage};
use serde_json::json;

use crate::{guard::Guard, stage::Stage};

const TOKEN: &str = "copper-lantern-sleeping-ferry";

fn client(stage: &Stage, ingress: &Guard, admin: &Guard, token: Option<&str>) -> RestateClient {
    let address = ServerAddress {
        ingress_url: ingress.url.clone(),
        admin_url: admin.url.clone(),
        auth_token: token.map(ToOwned::to_owned),
        auth_token_file: None,
    };
    RestateClient::new(address, stage.names.clone()).unwrap()
}

async fn list(client: &RestateClient) -> Vec<RunStatus> {
    let page = PageRequest::first(10);
    let listed = client.list(&RunFilter::all(), page).await;
    listed.unwrap().runs
}

/// Makes every request to a run that a client can make.
async fn use_all(client: &RestateClient, stage: &Stage, run: &str) {
    let script = json!({"turns": [
        {"tool_calls": [{"name": "gate", "input": {}}]},
        {"text": "Done."},
    ]});
    let (tool, gate) = NotedTool::gate();
    let (spec, executor) = noted_agent(&NotedModel::new(&script), &[tool]);
    let _worker = stage.worker(&executor).await;
    let run = RunId::new(run).unwrap();
    client.start(&run, input_of(&spec).into()).await.unwrap();
    until(async || client.status(&run).await.ok()).await;
    client
        .send(&run, UserMessage::new("and then?"))
        .await
        .unwrap();
    client
        .signal(&run, "weather", json!({"rain": true}))
        .await
        .unwrap();
    assert!(client.output(&run).await.unwrap().is_none());
    gate.add_permits(1);
    let output = client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    let status = client.status(&run).await.unwrap();
    assert_eq!(status.state, RunPhase::Completed);
    assert!(!client.events_after(&run, 0).await.unwrap().is_empty());
    assert!(client.cancel(&run, None).await.is_err(), "it is over");
    assert_eq!(list(client).await, [status]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_demands_no_token_is_shown_none() {
    let stage = Stage::set("unguarded").await;
    let ingress = Guard::watching(TOKEN, &stage.server.address.ingress_url).await;
    let admin = Guard::watching(TOKEN, &stage.server.address.admin_url).await;
    let client = client(&stage, &ingress, &admin, Some(TOKEN));
    use_all(&client, &stage, "watched").await;
    assert!(ingress.passed() > 5 && admin.passed() > 0);
    assert_eq!((ingress.shown(), admin.shown()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_demands_the_token_is_shown_it_from_then_on() {
    for status in [401, 403] {
        let stage = Stage::set(&format!("guarded-{status}")).await;
        let ingress = Guard::demanding(TOKEN, &stage.server.address.ingress_url, status).await;
        let admin = Guard::demanding(TOKEN, &stage.server.address.admin_url, status).await;
        let client = client(&stage, &ingress, &admin, Some(TOKEN));
        // A clone knows what the other has learned.
        use_all(&client.clone(), &stage, "guarded").await;
        list(&client).await;
        let output = client.output(&RunId::new("guarded").unwrap()).await;
        assert!(output.unwrap().is_some());
        assert_eq!((ingress.refused(), admin.refused()), (1, 1));
        assert_eq!(
            (ingress.shown(), admin.shown()),
            (ingress.passed(), admin.passed())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_port_that_demands_the_token_does_not_have_the_other_shown_it() {
    let stage = Stage::set("half-guarded").await;
    let ingress = Guard::watching(TOKEN, &stage.server.address.ingress_url).await;
    let admin = Guard::demanding(TOKEN, &stage.server.address.admin_url, 401).await;
    let client = client(&stage, &ingress, &admin, Some(TOKEN));
    list(&client).await;
    use_all(&client, &stage, "half").await;
    assert_eq!((ingress.shown(), admin.refused()), (0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_token_it_is_said_that_there_was_a_refusal() {
    let stage = Stage::set("locked").await;
    let ingress = Guard::demanding(TOKEN, &stage.server.address.ingress_url, 401).await;
    let admin = Guard::demanding(TOKEN, &stage.server.address.admin_url, 401).await;
    for (token, asked) in [(None, 1), (Some("another"), 2)] {
        let before = ingress.refused();
        let client = client(&stage, &ingress, &admin, token);
        let refused = client.output(&RunId::new("any").unwrap()).await;
        assert!(
            matches!(&refused, Err(error) if error.is_rejected()),
            "{refused:?}"
        );
        assert_eq!(ingress.refused(), before + asked);
    }
    assert_eq!(ingress.passed(), 0);
}

#[test]
fn a_token_that_no_header_can_have_is_refused_and_none_is_printed() {
    let client = |token: &str| {
        let address = ServerAddress {
            auth_token: Some(token.to_owned()),
            ..ServerAddress::default()
        };
        let names = neuron_restate::ServiceNames::new("neuron").unwrap();
        RestateClient::new(address, names)
    };
    let refused = client("copper\nlantern");
    assert!(
        matches!(refused, Err(RunClientError::Settings { .. })),
        "{refused:?}"
    );
    let shown = format!("{:?}", client(TOKEN).unwrap());
    assert!(!shown.contains(TOKEN), "{shown}");
}
