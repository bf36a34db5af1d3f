//! Servers over HTTP that take a call and never answer it: the wait ends, and the call is made once.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use neuron_mcp::{McpClient, McpError, McpServerSpec};
use neuron_patience::patience;
use neuron_types::{ToolContext, ToolDyn as _, ToolError};
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpStream, time::timeout};

use crate::{
    hostile_http::{request, say, serve},
    programs::{HOUR, text},
};

/// A server that sends `reply` back to a call of `write`, with how often it was called.
pub(crate) async fn server(reply: &'static str) -> (String, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let url = serve(move |socket| answer(socket, reply, Arc::clone(&counted))).await;
    (url, calls)
}

async fn answer(mut socket: TcpStream, reply: &str, calls: Arc<AtomicUsize>) {
    let Some((_, body)) = request(&mut socket).await else {
        return;
    };
    let id = &body["id"];
    let result = match body["method"].as_str() {
        Some("tools/call") if body["params"]["name"] == "write" => {
            calls.fetch_add(1, Ordering::Relaxed);
            let _gone = socket.write_all(reply.as_bytes()).await;
            return;
        }
        Some("tools/call") => json!({"content": [{"type": "text", "text": "fine"}]}),
        Some("tools/list") => {
            json!({"tools": [{"name": "write", "inputSchema": {"type": "object"}}]})
        }
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "silent", "version": "1"},
        }),
        _ if id.is_null() => {
            let accepted =
                "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            let _gone = socket.write_all(accepted.as_bytes()).await;
            return;
        }
        _ => {
            let error = json!({"code": -32601, "message": "no"});
            let error = json!({"jsonrpc": "2.0", "id": id, "error": error});
            return say(&mut socket, &error).await;
        }
    };
    let result = json!({"jsonrpc": "2.0", "id": id, "result": result});
    say(&mut socket, &result).await;
}

async fn is_lost(reply: &'static str, why: &str) {
    let (url, calls) = server(reply).await;
    let spec = McpServerSpec::http("silent", url).timeout(HOUR);
    let client = McpClient::connect(spec, ()).await.unwrap();
    let found = client.discover(None).await.unwrap();

    let call = timeout(patience(), client.call_tool("write", json!({})));
    let error = call.await.expect(reply).unwrap_err();
    assert!(matches!(error, McpError::Lost { .. }), "{reply}: {error:?}");
    assert!(error.to_string().contains(why), "{reply}: {error}");
    assert_eq!(calls.load(Ordering::Relaxed), 1, "{reply}");

    let ctx = ToolContext::default();
    let call = timeout(patience(), found.tools[0].call_dyn(json!({}), &ctx));
    let error = call.await.expect(reply).unwrap_err();
    assert!(
        matches!(error, ToolError::AnswerLost(_)),
        "{reply}: {error:?}"
    );
    assert_eq!(calls.load(Ordering::Relaxed), 2, "{reply}");

    let fine = client.call_tool("fine", json!({})).await.unwrap();
    assert_eq!(text(&fine), "fine", "{reply}");
    client.close().await;
}

#[tokio::test]
async fn a_call_that_is_accepted_without_an_answer_is_lost() {
    let accepted = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    is_lost(accepted, "sent no answer").await;
    is_lost(
        "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n",
        "sent no answer",
    )
    .await;
}

#[tokio::test]
async fn a_call_whose_answer_is_to_another_request_is_lost() {
    let json = concat!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n",
        r#"{"jsonrpc":"2.0","id":987654,"result":{"content":[]}}"#
    );
    is_lost(json, "a request that was not made").await;
    let event = concat!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
        r#"data: {"jsonrpc":"2.0","id":987654,"result":{"content":[]}}"#,
        "\n\n"
    );
    let (url, calls) = server(event).await;
    let client = McpClient::connect_http(&url).await.unwrap();
    let call = timeout(patience(), client.call_tool("write", json!({})));
    let output = call.await.expect("the wait ends").unwrap();
    assert!(
        text(&output).contains("may have taken effect"),
        "{output:?}"
    );
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    client.close().await;
}

#[tokio::test]
async fn a_call_whose_stream_ends_without_the_answer_is_lost() {
    let stream = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n: nothing\n\n";
    is_lost(stream, "its stream ended").await;
}

#[tokio::test]
async fn a_call_that_is_answered_with_a_page_of_the_web_is_made_once_and_has_not_failed() {
    for reply in [
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<p>HTTP 404 session</p>",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n<p>HTTP 404 session</p>",
    ] {
        let (url, calls) = server(reply).await;
        let client = McpClient::connect_http(&url).await.unwrap();
        let found = client.discover(None).await.unwrap();
        let ctx = ToolContext::default();
        let call = timeout(patience(), found.tools[0].call_dyn(json!({}), &ctx));
        let output = call.await.expect(reply).unwrap();
        let said = text(&output);
        assert!(!output.is_error, "{said}");
        assert!(said.contains("may have taken effect"), "{said}");
        assert_eq!(calls.load(Ordering::Relaxed), 1, "{said}");
        client.close().await;
    }
}
