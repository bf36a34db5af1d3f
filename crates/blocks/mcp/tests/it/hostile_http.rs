//! A server over HTTP that never stops talking costs a clear error.

use neuron_mcp::{McpClient, McpError, McpServerSpec};
use neuron_patience::patience;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::timeout,
};

const EVENTS: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// A server that answers each connection so, and its address.
pub(crate) async fn serve<F>(answer: impl Fn(TcpStream) -> F + Send + 'static) -> String
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(answer(socket));
        }
    });
    format!("http://{address}/mcp")
}

/// A server that reports without end where it is called. Every event has an id, by which a client asks for what follows.
async fn talkative() -> String {
    serve(answer).await
}

async fn answer(mut socket: TcpStream) {
    let Some((is_post, body)) = request(&mut socket).await else {
        return;
    };
    let id = &body["id"];
    let result = match body["method"].as_str() {
        None if !is_post => return talk(socket).await,
        Some("tools/call") if body["params"]["name"] == "evil" => return talk(socket).await,
        Some("tools/call") if body["params"]["name"] == "endless" => return drone(socket).await,
        Some("tools/call") if body["params"]["name"] == "huge" => {
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
            let _gone = socket.write_all(head.as_bytes()).await;
            return fill(socket).await;
        }
        Some("tools/call") => json!({"content": [{"type": "text", "text": "fine"}]}),
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "talkative", "version": "1"},
        }),
        Some("ping") => json!({}),
        _ if id.is_null() => Value::Null,
        _ => {
            let error = json!({"code": -32601, "message": "no"});
            let error = json!({"jsonrpc": "2.0", "id": id, "error": error});
            return say(&mut socket, &error).await;
        }
    };
    match result {
        Value::Null => {
            let accepted =
                "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            let _gone = socket.write_all(accepted.as_bytes()).await;
        }
        result => {
            let result = json!({"jsonrpc": "2.0", "id": id, "result": result});
            say(&mut socket, &result).await;
        }
    }
}

pub(crate) async fn say(socket: &mut TcpStream, message: &Value) {
    let body = message.to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let _gone = socket.write_all(answer.as_bytes()).await;
}

async fn talk(mut socket: TcpStream) {
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}});
    let notices = format!("id: 1\ndata: {notice}\n\n").repeat(500);
    let _gone = socket.write_all(EVENTS.as_bytes()).await;
    while socket.write_all(notices.as_bytes()).await.is_ok() {}
}

/// An event that does not end.
async fn drone(mut socket: TcpStream) {
    let _gone = socket.write_all(EVENTS.as_bytes()).await;
    fill(socket).await;
}

async fn fill(mut socket: TcpStream) {
    let lines = "data: 1\n".repeat(10_000);
    while socket.write_all(lines.as_bytes()).await.is_ok() {}
}

/// Returns whether it is a POST, and what it says.
pub(crate) async fn request(socket: &mut TcpStream) -> Option<(bool, Value)> {
    let mut seen = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let count = socket.read(&mut buffer).await.ok().filter(|it| *it > 0)?;
        seen.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&seen).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |length| length.parse().unwrap());
        if body.len() >= length {
            let body = serde_json::from_str(body).unwrap_or_default();
            return Some((head.starts_with("POST"), body));
        }
    }
}

#[tokio::test]
async fn notices_without_end_over_http_are_an_error_and_the_server_is_reached_again() {
    let spec = McpServerSpec::http("talkative", talkative().await);
    let client = McpClient::connect(spec, ()).await.unwrap();

    let call = timeout(patience(), client.call_tool("evil", json!({})));
    let error = call.await.expect("it ends").unwrap_err();

    assert!(matches!(error, McpError::Protocol { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("without answering anything"), "{text}");
    client.call_tool("fine", json!({})).await.unwrap();
    client.close().await;
}

#[tokio::test]
async fn an_answer_over_http_that_never_ends_is_an_error_and_the_server_is_of_use_afterwards() {
    for name in ["endless", "huge"] {
        let spec = McpServerSpec::http("talkative", talkative().await);
        let spec = spec.max_message_bytes(1024 * 1024);
        let client = McpClient::connect(spec, ()).await.unwrap();
        let call = timeout(patience(), client.call_tool(name, json!({})));
        let error = call.await.expect(name).unwrap_err();
        assert!(
            matches!(error, McpError::Protocol { .. } | McpError::Lost { .. }),
            "{name}: {error:?}"
        );
        client.call_tool("fine", json!({})).await.unwrap();
        client.close().await;
    }
}
