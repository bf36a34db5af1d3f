//! Lists of several pages that can be read only in part: the first ones.

use neuron_mcp::{McpClient, McpServerSpec};
use neuron_patience::patience;
use neuron_types::ToolDyn as _;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, net::TcpStream, time::timeout};

use crate::hostile_http::{request, say, serve};

/// A server whose lists have a second page that it answers with an error, or not at all.
async fn server(answers: bool) -> String {
    serve(move |socket| answer(socket, answers)).await
}

async fn answer(mut socket: TcpStream, answers: bool) {
    let Some((_, body)) = request(&mut socket).await else {
        return;
    };
    let id = &body["id"];
    if id.is_null() {
        let accepted = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let _gone = socket.write_all(accepted.as_bytes()).await;
        return;
    }
    let page = |entries: Value, name: &str| json!({name: entries, "nextCursor": "2"});
    let is_further = body["params"]["cursor"] == "2";
    let outcome = match body["method"].as_str().unwrap() {
        "initialize" => Ok(json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "paged", "version": "1"},
        })),
        _ if is_further && !answers => return,
        _ if is_further => Err("the database is gone"),
        "tools/list" => {
            let tool = json!({"name": "a", "inputSchema": {"type": "object"}});
            Ok(page(json!([tool]), "tools"))
        }
        "resources/list" => Ok(page(json!([{"uri": "a://1", "name": "a"}]), "resources")),
        "resources/templates/list" => Ok(page(
            json!([{"uriTemplate": "a://{b}", "name": "a"}]),
            "resourceTemplates",
        )),
        "prompts/list" => Ok(page(json!([{"name": "a"}]), "prompts")),
        _ => Err("no such method"),
    };
    let message = match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(message) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": message}})
        }
    };
    say(&mut socket, &message).await;
}

#[tokio::test]
async fn the_tools_of_the_first_page_are_kept_where_the_second_is_an_error() {
    for (answers, why) in [(true, "the database is gone"), (false, "")] {
        let spec = McpServerSpec::http("paged", server(answers).await);
        let client = McpClient::connect(spec, ()).await.unwrap();
        let found = timeout(patience(), client.discover(None)).await.unwrap();
        let found = found.unwrap();
        let names: Vec<_> = found.tools.iter().map(|tool| tool.name()).collect();
        assert_eq!(names, ["a"]);
        let [left_out] = found.left_out.as_slice() else {
            panic!("{:?}", found.left_out);
        };
        assert_eq!(left_out.name, "(further pages)");
        let reason = &left_out.reason;
        assert!(reason.starts_with("the list breaks off: "), "{reason}");
        assert!(reason.contains(why), "{reason}");
        client.close().await;
    }
}

#[tokio::test]
async fn other_lists_keep_their_first_page_too() {
    let spec = McpServerSpec::http("paged", server(true).await);
    let client = McpClient::connect(spec, ()).await.unwrap();
    let resources = client.all_resources().await.unwrap();
    let templates = client.all_resource_templates().await.unwrap();
    let prompts = client.all_prompts().await.unwrap();
    assert_eq!(resources.items[0].uri, "a://1");
    assert_eq!(templates.items[0].uri_template, "a://{b}");
    assert_eq!(prompts.items[0].name, "a");
    for left_out in [resources.left_out, templates.left_out, prompts.left_out] {
        assert_eq!(left_out[0].name, "(further pages)");
    }
    client.close().await;
}
