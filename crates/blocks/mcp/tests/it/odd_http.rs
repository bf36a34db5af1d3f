//! Servers over HTTP whose answers have another type or form than MCP has for them.

use neuron_mcp::McpClient;
use neuron_patience::patience;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, net::TcpStream, time::timeout};

use crate::{
    hostile_http::{request, serve},
    programs::text,
};

/// How a server writes what it says.
#[derive(Clone, Copy)]
struct Form {
    /// The whole answer to a notice.
    notice: &'static str,
    /// The line of the type of any other answer.
    content_type: &'static str,
    /// What stands before and behind any other answer.
    around: [&'static str; 2],
}

const PLAIN: Form = Form {
    notice: "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    content_type: "content-type: application/json\r\n",
    around: ["", ""],
};

async fn server(form: Form) -> String {
    serve(move |socket| answer(socket, form)).await
}

async fn answer(mut socket: TcpStream, form: Form) {
    let Some((_, body)) = request(&mut socket).await else {
        return;
    };
    let id = &body["id"];
    let result = match body["method"].as_str() {
        _ if id.is_null() => {
            let _gone = socket.write_all(form.notice.as_bytes()).await;
            return;
        }
        Some("tools/call") => json!({"content": [{"type": "text", "text": "fine"}]}),
        Some("tools/list") => {
            json!({"tools": [{"name": "write", "inputSchema": {"type": "object"}}]})
        }
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "odd", "version": "1"},
        }),
        _ => Value::Null,
    };
    let message = match result {
        Value::Null => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}})
        }
        result => json!({"jsonrpc": "2.0", "id": id, "result": result}),
    };
    let ([before, behind], content_type) = (form.around, form.content_type);
    let head = format!("HTTP/1.1 200 OK\r\n{content_type}connection: close\r\n\r\n");
    let all = format!("{head}{before}{message}{behind}");
    let _gone = socket.write_all(all.as_bytes()).await;
}

async fn works(form: Form, what: &str) {
    let url = server(form).await;
    let client = timeout(patience(), McpClient::connect_http(&url)).await;
    let client = client
        .expect(what)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let found = client.discover(None).await.unwrap();
    assert_eq!(found.tools.len(), 1, "{what}");
    let call = timeout(patience(), client.call_tool("write", json!({})));
    let output = call.await.expect(what).unwrap();
    assert_eq!(text(&output), "fine", "{what}");
    client.close().await;
}

#[tokio::test]
async fn a_notice_is_taken_whatever_is_said_of_it() {
    for notice in [
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n0\r\n\r\n",
        // https://github.com/modelcontextprotocol/java-sdk/issues/748
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n\r\nAccepted",
        "HTTP/1.1 201 Created\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<p>",
        // https://github.com/awslabs/mcp/issues/3295
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\nnull",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\nconnection: close\r\n\r\n{",
        // https://github.com/patvice/ruby_llm-mcp/issues/155
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32601,\"message\":\"no\"}}",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}",
        "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32601,\"message\":\"no\"}}",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
    ] {
        works(Form { notice, ..PLAIN }, notice).await;
    }
}

#[tokio::test]
async fn an_answer_is_read_whatever_type_it_has() {
    for content_type in [
        "",
        // https://github.com/anthropics/claude-ai-mcp/issues/154
        "content-type: text/plain; charset=utf-8\r\n",
        "Content-Type: Application/JSON\r\n",
        "content-type: text/json\r\n",
    ] {
        let form = Form {
            content_type,
            ..PLAIN
        };
        works(form, content_type).await;
    }
}

#[tokio::test]
async fn an_answer_in_a_list_is_read() {
    let notice = r#"[{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}},"#;
    for (content_type, around) in [
        // https://github.com/Effect-TS/effect/issues/6274
        (PLAIN.content_type, ["[", "]"]),
        (PLAIN.content_type, [" [ ", " ] "]),
        (PLAIN.content_type, [notice, "]"]),
        ("content-type: text/event-stream\r\n", ["data: [", "]\n\n"]),
    ] {
        let form = Form {
            content_type,
            around,
            ..PLAIN
        };
        works(form, &format!("{content_type} {around:?}")).await;
    }
}
