//! What a server was given to keep secret is in nothing that people and models read of its failures.

use neuron_mcp::{McpClient, McpServerSpec, McpTransport};
use neuron_patience::patience;
use neuron_sandbox::Sandbox;
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpListener, time::timeout};

use crate::{hostile_http::request, programs::text, unanswered::server};

const TOKEN: &str = "tracker-token-1";
const HEADER: &str = "team-key-0001";
const QUERY: &str = "query-key-001";

/// What all of them are, as a server says them back.
macro_rules! echo {
    () => {
        "tracker-token-1 team-key-0001 QUERY-KEY-001"
    };
}

fn spec(url: &str) -> McpServerSpec {
    let url = format!("{url}?key={QUERY}");
    let mut spec = McpServerSpec::http("tracker", url).header("X-Team", format!("Key {HEADER}"));
    if let McpTransport::Http { token, .. } = &mut spec.transport {
        *token = Some(TOKEN.to_owned());
    }
    spec
}

fn is_blanked(said: &str, what: &str) {
    let small = said.to_lowercase();
    for secret in [TOKEN, HEADER, QUERY] {
        assert!(!small.contains(secret), "{what}: {said}");
    }
    assert!(said.contains("[redacted]"), "{what}: {said}");
}

/// A server that says the same to everything.
async fn monotonous(reply: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            if request(&mut socket).await.is_some() {
                let _gone = socket.write_all(reply.as_bytes()).await;
            }
        }
    });
    format!("http://{address}/mcp")
}

#[tokio::test]
async fn a_server_that_refuses_and_says_them_back_is_an_error_without_them() {
    for reply in [
        concat!(
            "HTTP/1.1 401 Unauthorized\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\nno: ",
            echo!()
        ),
        concat!(
            "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer realm=\"",
            echo!(),
            "\"\r\nconnection: close\r\n\r\n"
        ),
        concat!(
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":""#,
            echo!(),
            r#""}}"#
        ),
    ] {
        let connecting = McpClient::connect(spec(&monotonous(reply).await), ());
        let connecting = timeout(patience(), connecting);
        let error = connecting.await.expect(reply).unwrap_err();
        is_blanked(&error.to_string(), reply);
    }
}

#[tokio::test]
async fn an_answer_to_a_call_that_says_them_back_is_reported_without_them() {
    for reply in [
        concat!(
            "HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\nno: ",
            echo!()
        ),
        concat!(
            "HTTP/1.1 422 Unprocessable Entity\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\nno: ",
            echo!()
        ),
        concat!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":""#,
            echo!(),
            r#""}}"#
        ),
        concat!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
            r#"data: {"jsonrpc":"2.0","id":987654,"result":{"content":[{"type":"text","text":""#,
            echo!(),
            "\"}]}}\n\n"
        ),
        concat!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n<p>",
            echo!()
        ),
    ] {
        let (url, _) = server(reply).await;
        let client = McpClient::connect(spec(&url), ()).await.unwrap();
        let call = timeout(patience(), client.call_tool("write", json!({})));
        match call.await.expect(reply) {
            Ok(output) => is_blanked(&text(&output), reply),
            Err(error) => is_blanked(&error.to_string(), reply),
        }
        client.close().await;
    }
}

#[tokio::test]
async fn a_program_whose_last_words_are_its_key_is_an_error_without_it() {
    let script = r#"echo "no login with $TRACKER_KEY" >&2; exit 1"#;
    let mut spec = McpServerSpec::stdio("tracker", "sh", ["-c", script]).sandbox(Sandbox::Off);
    if let McpTransport::Stdio { environment, .. } = &mut spec.transport {
        environment.insert("TRACKER_KEY".to_owned(), TOKEN.to_owned());
    }
    let error = McpClient::connect(spec, ()).await.unwrap_err();
    is_blanked(&error.to_string(), "the last words");
}
