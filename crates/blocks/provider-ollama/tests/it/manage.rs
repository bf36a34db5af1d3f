//! The models that a server has.

use neuron_provider_http::STREAM_TRUNCATED;
use neuron_provider_ollama::{Ollama, PullProgress};
use neuron_types::{FailureKind, Provider, ProviderError};
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::{
    conversations::{hello, weather},
    fake_api::{FakeApi, answer, lines, model},
};

fn said(body: &Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(body)
}

fn failed(status: u16, error: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({"error": error}))
}

/// A server that answers a pull with this body.
async fn pulling(body: String) -> FakeApi {
    let api = FakeApi::silent().await;
    let template = ResponseTemplate::new(200).set_body_raw(body, "application/x-ndjson");
    api.answers_to("POST", "/api/pull", template).await;
    api
}

/// The news of a pull, and its result.
async fn pulled(client: &Ollama) -> (Vec<PullProgress>, Result<(), ProviderError>) {
    let mut pull = client.pull("qwen3").await.unwrap();
    let mut news = Vec::new();
    loop {
        match pull.next().await {
            Ok(Some(progress)) => news.push(progress),
            Ok(None) => return (news, Ok(())),
            Err(error) => {
                assert_eq!(pull.next().await.unwrap(), None, "it is over");
                return (news, Err(error));
            }
        }
    }
}

#[tokio::test]
async fn lists_what_is_there_and_loses_none_to_a_bad_one() {
    let api = FakeApi::silent().await;
    let body = json!({"models": [
        {
            "name": "qwen3:latest", "model": "qwen3:latest", "size": 5_225_388_164_u64, "digest": "500a1f067a9f",
            "modified_at": "2026-11-20T10:00:00Z",
            "details": {"format": "gguf", "family": "qwen3", "parameter_size": "8.2B", "quantization_level": "Q4_K_M"},
        },
        {"size": 3},
        {"name": "odd", "size": "large", "details": null},
    ]});
    api.answers_to("GET", "/api/tags", said(&body)).await;
    let models = api.client().installed().await.unwrap();
    let names: Vec<_> = models
        .iter()
        .map(|model| (model.name.as_str(), model.size))
        .collect();
    assert_eq!(names, [("qwen3:latest", 5_225_388_164), ("odd", 0)]);
    assert_eq!(models[0].details.parameter_size, "8.2B");
    assert_eq!(models[0].modified_at, "2026-11-20T10:00:00Z");
}

#[tokio::test]
async fn a_server_without_models_has_none() {
    let api = FakeApi::silent().await;
    for path in ["/api/tags", "/api/ps"] {
        api.answers_to("GET", path, said(&json!({"models": null})))
            .await;
    }
    assert_eq!(api.client().installed().await.unwrap(), []);
    assert_eq!(api.client().running().await.unwrap(), []);
}

#[tokio::test]
async fn tells_which_models_are_loaded() {
    let api = FakeApi::silent().await;
    let body = json!({"models": [{
        "name": "qwen3:latest", "size": 6_000, "size_vram": 4_000, "context_length": 16_384,
        "expires_at": "2026-11-20T10:05:00Z",
    }]});
    api.answers_to("GET", "/api/ps", said(&body)).await;
    let running = api.client().running().await.unwrap();
    let [model] = &running[..] else {
        panic!("one is loaded: {running:?}");
    };
    assert_eq!((model.size, model.size_vram), (6_000, 4_000));
    assert_eq!(model.context_length, Some(16_384));
}

#[tokio::test]
async fn shows_what_a_model_can_do() {
    let api = FakeApi::silent().await;
    api.shows(&model(&["completion", "tools"])).await;
    let shown = api.client().show("qwen3").await.unwrap();
    let capabilities = ["completion".to_owned(), "tools".to_owned()];
    assert_eq!(shown.capabilities.as_deref(), Some(&capabilities[..]));
    assert_eq!(shown.context_length(), Some(40_960));
    assert_eq!(shown.details.family, "qwen3");
    let request = api.requests("/api/show").await.remove(0);
    assert_eq!(
        request.body_json::<Value>().unwrap(),
        json!({"model": "qwen3"})
    );
}

#[tokio::test]
async fn a_model_that_is_not_there_is_to_be_pulled() {
    let api = FakeApi::silent().await;
    api.show_answers(failed(404, "model 'qwen9' not found"))
        .await;
    let error = api.client().show("qwen9").await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::ModelNotFound);
    assert!(error.to_string().contains("pull it first"), "{error}");
}

#[tokio::test]
async fn a_pull_says_how_far_it_is() {
    let body = lines(&[
        json!({"status": "pulling manifest"}),
        json!({"status": "pulling 500a", "digest": "sha256:500a", "total": 100, "completed": 40}),
        json!({"status": "verifying sha256 digest"}),
        json!({"status": "success"}),
    ]);
    let api = pulling(body).await;
    let (news, end) = pulled(&api.client()).await;
    end.unwrap();
    let statuses: Vec<_> = news
        .iter()
        .map(|progress| progress.status.as_str())
        .collect();
    assert_eq!(
        statuses,
        [
            "pulling manifest",
            "pulling 500a",
            "verifying sha256 digest"
        ]
    );
    assert_eq!((news[1].completed, news[1].total), (Some(40), Some(100)));
    assert_eq!(news[1].digest.as_deref(), Some("sha256:500a"));
    assert_eq!(news[0].total, None);
    let sent: Value = api.requests("/api/pull").await[0].body_json().unwrap();
    assert_eq!(
        (&sent["model"], &sent["stream"]),
        (&json!("qwen3"), &json!(true))
    );
    api.client()
        .pull("qwen3")
        .await
        .unwrap()
        .finish()
        .await
        .unwrap();
}

#[tokio::test]
async fn a_pull_that_fails_says_what_to_do() {
    for (message, kind, hint) in [
        (
            "pull model manifest: file does not exist",
            FailureKind::ModelNotFound,
            "check the model's name and tag",
        ),
        (
            "The model you are attempting to pull requires a newer version of Ollama.",
            FailureKind::InvalidRequest,
            "update Ollama",
        ),
        (
            "write /models/blobs: no space left on device",
            FailureKind::InvalidRequest,
            "make room",
        ),
    ] {
        let first = json!({"status": "pulling manifest"});
        let api = pulling(lines(&[first, json!({"error": message})])).await;
        let (news, end) = pulled(&api.client()).await;
        assert_eq!(news.len(), 1);
        let error = end.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(hint), "{error}");

        let api = FakeApi::silent().await;
        api.answers_to("POST", "/api/pull", failed(500, message))
            .await;
        let error = api.client().pull("qwen3").await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(hint), "{error}");
    }
}

#[tokio::test]
async fn a_pull_that_breaks_off_is_no_success() {
    for body in [
        lines(&[json!({"status": "pulling manifest"})]),
        format!(
            "{}{{\"status\": \"suc",
            lines(&[json!({"status": "pulling manifest"})])
        ),
    ] {
        let api = pulling(body).await;
        let (news, end) = pulled(&api.client()).await;
        assert_eq!(news.len(), 1);
        let error = end.unwrap_err();
        assert_eq!(error.code(), Some(STREAM_TRUNCATED), "{error}");
        assert!(error.is_retryable(), "{error}");
    }
}

#[tokio::test]
async fn deletes_a_model_by_its_name() {
    let api = FakeApi::silent().await;
    api.answers_to("DELETE", "/api/delete", ResponseTemplate::new(200))
        .await;
    api.client().delete("qwen3").await.unwrap();
    let request = api.requests("/api/delete").await.remove(0);
    assert_eq!(request.body_json::<Value>().unwrap()["model"], "qwen3");

    let api = FakeApi::silent().await;
    api.answers_to(
        "DELETE",
        "/api/delete",
        failed(404, "model 'qwen9' not found"),
    )
    .await;
    let error = api.client().delete("qwen9").await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::ModelNotFound);
    assert!(error.to_string().contains("Ollama::installed"), "{error}");
}

#[tokio::test]
async fn a_model_that_was_pulled_anew_is_looked_up_anew() {
    let api = FakeApi::with_body(&answer(&json!({"content": "hi"}))).await;
    let pull = lines(&[json!({"status": "success"})]);
    let template = ResponseTemplate::new(200).set_body_raw(pull, "application/x-ndjson");
    api.answers_to("POST", "/api/pull", template).await;
    let client = api.client();
    let request = hello().with_head(|head| head.tools = vec![weather()]);
    for _ in 0..2 {
        client.complete(&request).await.unwrap();
    }
    assert_eq!(api.requests("/api/show").await.len(), 1);
    let name = format!("{}:latest", request.model);
    client.pull(&name).await.unwrap().finish().await.unwrap();
    client.complete(&request).await.unwrap();
    assert_eq!(api.requests("/api/show").await.len(), 2);
}
