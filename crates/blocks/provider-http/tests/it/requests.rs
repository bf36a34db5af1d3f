use neuron_provider_http::{ApiKey, HttpClient, extra_fields};
use neuron_types::{CompletionRequest, FailureKind, RequestHead};
use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{body_json, header, method, path, query_param},
};

const KEY: &str = "sk-very-secret-key";

#[tokio::test]
async fn path_query_headers_and_body_arrive_as_built() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/v1/chat/completions"))
        .and(query_param("api-version", "2026"))
        .and(header("authorization", "Bearer sk-very-secret-key"))
        .and(header("content-type", "application/json"))
        .and(header("x-once", "1"))
        .and(body_json(json!({"model": "m"})))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"ok": true})))
        .expect(1)
        .mount(&server)
        .await;
    let base_url = format!("{}/v1/?api-version=2026", server.uri());
    let client = HttpClient::builder("test", base_url)
        .path(&["chat", "completions"])
        .secret_header(
            "authorization",
            "Bearer ",
            &ApiKey::from("sk-very-secret-key\n"),
        )
        .build()
        .unwrap();

    let once = ("x-once".parse().unwrap(), "1".parse().unwrap());
    let reply = client.post(&json!({"model": "m"}), &[once]).await.unwrap();

    assert_eq!(client.decode::<Value>(&reply).unwrap(), json!({"ok": true}));
    let requests = server.received_requests().await.unwrap();
    let agent = requests[0].headers["user-agent"].to_str().unwrap();
    assert!(agent.starts_with("neuron/"), "{agent}");
}

#[test]
fn nothing_shows_the_key() {
    let key = ApiKey::from(KEY);
    let builder = HttpClient::builder("test", "http://127.0.0.1/v1?token=hush").secret_header(
        "authorization",
        "Bearer ",
        &key,
    );
    let client = builder.clone().build().unwrap();

    let shown = format!("{key:?} {builder:?} {client:?}");

    assert!(
        !shown.contains("secret") && !shown.contains("hush"),
        "{shown}"
    );
}

#[test]
fn addresses_and_headers_that_cannot_be_used_are_refused_without_being_repeated() {
    for base_url in [
        "",
        "api.example.com/v1",
        "ftp://example.com",
        "file:///etc/passwd",
        "https://user:hush@example.com",
    ] {
        let error = HttpClient::builder("test", base_url).build().unwrap_err();
        assert_eq!(error.kind(), FailureKind::InvalidRequest, "{base_url}");
        assert!(!error.to_string().contains("hush"));
    }
    let error = HttpClient::builder("test", "https://example.com")
        .secret_header("x-api-key", "", &ApiKey::from("two\nlines"))
        .build()
        .unwrap_err();
    assert_eq!(error.kind(), FailureKind::InvalidRequest);
    assert!(!format!("{error} {error:?}").contains("lines"));
}

#[test]
fn extra_fields_must_be_an_object_and_keep_off_reserved_names() {
    let with = |extra| {
        CompletionRequest::from(RequestHead {
            extra,
            ..RequestHead::default()
        })
    };
    let kind = |extra| {
        let request = with(Some(extra));
        let error = extra_fields(&request, &["model"]).unwrap_err();
        error.kind()
    };
    assert_eq!(kind(json!([1])), FailureKind::InvalidRequest);
    assert_eq!(kind(json!({"model": "x"})), FailureKind::InvalidRequest);
    assert!(extra_fields(&with(None), &["model"]).unwrap().is_none());
    let fine = with(Some(json!({"seed": 1})));
    assert_eq!(extra_fields(&fine, &["model"]).unwrap().unwrap().len(), 1);
}

#[tokio::test]
async fn another_path_below_the_base_url_has_the_same_headers() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/v1/api/show"))
        .and(header("authorization", "Bearer sk-very-secret-key"))
        .respond_with(ResponseTemplate::new(200))
        .expect(1)
        .mount(&server)
        .await;
    let client = HttpClient::builder("test", format!("{}/v1", server.uri()))
        .path(&["api", "chat"])
        .secret_header("authorization", "Bearer ", &ApiKey::from(KEY))
        .build()
        .unwrap();

    let reply = client.at(&["api", "show"]).post(&json!({}), &[]).await;

    assert!(reply.unwrap().is_success());
}
