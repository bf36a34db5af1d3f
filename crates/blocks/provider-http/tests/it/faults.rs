use std::time::Duration;

use neuron_provider_http::{ApiFailure, HttpClient, MAX_ERROR_BODY, kind_of_status};
use neuron_types::{FailureKind, ProviderError};
use neuron_wires::raw::{Then, hold, serve};
use serde_json::{Value, json};
use tokio::net::TcpListener;

fn client(base_url: &str) -> HttpClient {
    HttpClient::builder("test", base_url).build().unwrap()
}

async fn fail(client: &HttpClient) -> ProviderError {
    client.post(&json!({}), &[]).await.unwrap_err()
}

#[tokio::test]
async fn a_connection_closed_without_an_answer_is_a_retryable_network_failure() {
    let url = serve("", Then::Close).await;

    let error = fail(&client(&url)).await;

    assert_eq!(error.kind(), FailureKind::Network);
    assert!(error.is_retryable());
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_a_network_failure() {
    let url = serve("SSH-2.0-OpenSSH_9.6\r\n", Then::Close).await;

    assert_eq!(fail(&client(&url)).await.kind(), FailureKind::Network);
}

#[tokio::test]
async fn a_refused_connection_is_a_retryable_network_failure_that_names_the_server_only() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let client = client(&format!("http://{address}/tenant-7?token=hush"));

    let error = fail(&client).await;

    assert_eq!(error.kind(), FailureKind::Network);
    assert!(error.is_retryable());
    let text = format!("{error} {error:?}");
    assert!(text.contains(&address.to_string()), "{text}");
    assert!(
        !text.contains("hush") && !text.contains("tenant-7"),
        "{text}"
    );
}

#[tokio::test]
async fn bytes_that_stop_coming_are_a_timeout() {
    let url = serve("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", hold()).await;
    let client = HttpClient::builder("test", url)
        .timeout(Duration::from_millis(100)) // The rest never comes, however long it is.
        .build()
        .unwrap();

    let error = fail(&client).await;

    assert_eq!(error.kind(), FailureKind::Timeout);
    assert!(error.is_retryable());
    assert!(error.to_string().contains("100ms"), "{error}");
}

#[tokio::test]
async fn an_error_body_is_read_to_its_bound_and_no_further() {
    let mut bytes = b"HTTP/1.1 500 Oops\r\ncontent-length: 900000000\r\n\r\n".to_vec();
    bytes.resize(bytes.len() + MAX_ERROR_BODY + 4096, b'x');
    let url = serve(bytes, hold()).await;

    let reply = client(&url).post(&json!({}), &[]).await.unwrap();

    assert_eq!(reply.status(), 500);
    assert_eq!(reply.body().len(), MAX_ERROR_BODY);
}

#[tokio::test]
async fn an_error_body_that_is_cut_does_not_hide_the_status() {
    let url = serve(
        "HTTP/1.1 401 No\r\ncontent-length: 100\r\n\r\n{\"error\":",
        Then::Close,
    )
    .await;
    let client = client(&url);

    let reply = client.post(&json!({}), &[]).await.unwrap();
    let error = client.failure(&reply, ApiFailure::new(kind_of_status(reply.status())));

    assert_eq!(error.kind(), FailureKind::Authentication);
    assert_eq!(reply.body(), br#"{"error":"#);
}

#[tokio::test]
async fn a_success_that_is_not_json_is_a_malformed_answer_with_its_cause() {
    let url = serve(
        "HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n<html>hi</html>",
        Then::Close,
    )
    .await;
    let client = client(&url);

    let reply = client.post(&json!({}), &[]).await.unwrap();
    let error = client.decode::<Value>(&reply).unwrap_err();

    assert_eq!(error.kind(), FailureKind::MalformedAnswer);
    assert!(std::error::Error::source(&error).is_some());
}
