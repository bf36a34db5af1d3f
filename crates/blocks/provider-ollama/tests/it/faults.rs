use std::time::Duration;

use futures::StreamExt as _;
use neuron_patience::patience;
use neuron_provider_ollama::Ollama;
use neuron_types::{FailureKind, Provider, StreamEvent};
use serde_json::json;
use tokio::{sync::oneshot, time};

use crate::{
    conversations::hello,
    fake_api::{delta, lines, read},
    raw_server::{Then, Watch, hold, serve},
};

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\nconnection: close\r\n\r\n";

fn begun() -> String {
    lines(&[delta(json!({"content": "Hel"}))])
}

fn client(url: &str, idle: Duration) -> Ollama {
    Ollama::builder()
        .base_url(url)
        .idle_timeout(idle)
        .build()
        .unwrap()
}

const LONG: Duration = Duration::from_secs(3600); // Passes where the clock is paused only.

#[tokio::test]
async fn a_stream_that_ends_before_it_is_done_is_a_retryable_truncation() {
    for tail in ["", "{\"model\":\"qwen3\",\"mess", "{\"done\":false}\n"] {
        let url = serve(format!("{HEAD}{}{tail}", begun()), Then::Close).await;
        let (seen, end) = read(&client(&url, LONG), &hello()).await;
        let error = end.unwrap_err();
        assert!(matches!(seen.as_slice(), [StreamEvent::TextDelta(text)] if text == "Hel"));
        assert_eq!(error.kind(), FailureKind::Network);
        assert_eq!(error.code(), Some("stream_truncated"));
        assert!(error.is_retryable());
    }
}

#[tokio::test]
async fn a_connection_that_is_cut_is_a_retryable_network_failure() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n";
    let url = serve(format!("{head}{}", begun()), Then::Close).await;
    let error = read(&client(&url, LONG), &hello()).await.1.unwrap_err();
    assert_eq!(error.kind(), FailureKind::Network);
    assert!(error.is_retryable());
}

#[tokio::test]
async fn a_stream_that_falls_silent_is_a_retryable_timeout() {
    let url = serve(format!("{HEAD}{}", begun()), hold()).await;
    let client = client(&url, LONG);
    let mut stream = client.complete_stream(&hello()).await.unwrap();
    let seen = stream.receiver.next().await;
    assert!(matches!(seen, Some(StreamEvent::TextDelta(_))), "{seen:?}");
    // Nothing else is to come: the clock goes on to the end of the silence.
    time::pause();
    let end = stream.receiver.next().await;
    let Some(StreamEvent::Error(error)) = end else {
        panic!("no error: {end:?}");
    };
    assert_eq!(error.kind(), FailureKind::Timeout);
    assert!(error.is_retryable());
    assert!(stream.receiver.next().await.is_none());
}

#[tokio::test]
async fn a_whole_answer_that_is_cut_is_a_failure_of_the_network_or_of_who_cut_it() {
    for (bytes, kind) in [
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"model\":",
            FailureKind::Network,
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{\"model\":",
            FailureKind::MalformedAnswer,
        ),
    ] {
        let url = serve(bytes, Then::Close).await;
        let error = client(&url, LONG).complete(&hello()).await.unwrap_err();
        assert_eq!(error.kind(), kind);
    }
}

#[tokio::test]
async fn a_dropped_stream_hangs_up() {
    let (asked, _asked) = oneshot::channel();
    let (gone, hung_up) = oneshot::channel();
    let watch = Then::Hold(Watch { asked, gone });
    let url = serve(format!("{HEAD}{}", begun()), watch).await;
    let client = client(&url, LONG);
    let mut stream = client.complete_stream(&hello()).await.unwrap();
    assert!(stream.receiver.next().await.is_some());

    drop(stream);

    tokio::time::timeout(patience(), hung_up)
        .await
        .expect("the connection stays open")
        .unwrap();
}

#[tokio::test]
async fn a_dropped_call_hangs_up() {
    let (asked, was_asked) = oneshot::channel();
    let (gone, hung_up) = oneshot::channel();
    let url = serve("", Then::Hold(Watch { asked, gone })).await;
    let client = client(&url, LONG);
    let call = tokio::spawn(async move { client.complete(&hello()).await.map(|_| ()) });
    was_asked.await.unwrap();
    call.abort();

    tokio::time::timeout(patience(), hung_up)
        .await
        .expect("the connection stays open")
        .unwrap();
}
