//! Our server, asked by our client.

use std::{collections::BTreeMap, sync::Arc};

use neuron_mcp::{McpClient, McpError, McpServer, McpServerSpec, McpTransport};
use neuron_patience::patience;
use neuron_tool::{BuiltinOptions, ToolRegistry, builtin_tools};
use neuron_types::{ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput, WasmBoxedFuture};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    programs::{text, until},
    recorder,
};

/// Reports once, then waits until it is cancelled or dropped.
struct Waits {
    ended: Arc<Notify>,
}

/// Notifies of its end however it comes.
struct Ends(Arc<Notify>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl ToolDyn for Waits {
    fn name(&self) -> &str {
        "waits"
    }

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "waits".into(),
            input_schema: json!({"type": "object"}),
            ..ToolDefinition::default()
        }
    }

    fn call_dyn<'a>(
        &'a self,
        _: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let _ends = Ends(Arc::clone(&self.ended));
            ctx.progress_reporter
                .as_ref()
                .unwrap()
                .report(1.0, Some(2.0), Some("half"));
            std::future::pending().await
        })
    }
}

struct Served {
    url: String,
    stop: CancellationToken,
    serving: JoinHandle<Result<(), McpError>>,
}

impl Served {
    async fn start(server: McpServer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let stop = CancellationToken::new();
        let serving = tokio::spawn({
            let stop = stop.clone();
            async move { server.serve_listener(listener, stop).await }
        });
        Self { url, stop, serving }
    }

    async fn end(self) {
        self.stop.cancel();
        self.serving.await.unwrap().unwrap();
    }
}

fn builtin(folder: &std::path::Path) -> McpServer {
    let registry = ToolRegistry::from_iter(builtin_tools(&BuiltinOptions::default()));
    let context = ToolContext {
        cwd: folder.to_owned(),
        ..ToolContext::default()
    };
    McpServer::new(registry).context(context)
}

#[tokio::test]
async fn offers_a_registry_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "hello").unwrap();
    let server = builtin(folder.path());
    let served = Served::start(server).await;
    let client = McpClient::connect_http(&served.url).await.unwrap();
    let info = client.server_info().await.unwrap();
    assert_eq!(
        (info.name.as_str(), info.protocol_version.as_str()),
        ("neuron", "2026-07-28")
    );
    client.ping().await.unwrap();

    let mut ours: Vec<_> = builtin_tools(&BuiltinOptions::default())
        .iter()
        .map(|tool| ToolDefinition {
            // How long a call may take is the server's own business.
            timeout: None,
            // So is what it compares its rules by, and what it shows to its people.
            arguments: BTreeMap::new(),
            previews: false,
            ..tool.definition()
        })
        .collect();
    ours.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(client.list_tools(None).await.unwrap().items, ours);

    let read = client
        .call_tool("read_file", json!({"path": "a.txt"}))
        .await
        .unwrap();
    assert!(text(&read).contains("hello"), "{read:?}");
    let missing = client
        .call_tool("read_file", json!({"path": "b.txt"}))
        .await
        .unwrap();
    assert!(
        missing.is_error && text(&missing).contains("b.txt"),
        "{missing:?}"
    );
    let unknown = client.call_tool("no_such", json!({})).await.unwrap_err();
    assert!(
        matches!(unknown, McpError::Refused { code: -32602, .. }),
        "{unknown:?}"
    );
    client.close().await;
    served.end().await;
}

#[tokio::test]
async fn passes_progress_and_cancellation_on() {
    let ended = Arc::new(Notify::new());
    let mut registry = ToolRegistry::new();
    registry.register_dyn(Arc::new(Waits {
        ended: ended.clone(),
    }));
    let served = Served::start(McpServer::new(registry)).await;
    let client = McpClient::connect_http(&served.url).await.unwrap();
    let (ctx, recorder) = recorder::context();
    let token = ctx.cancellation_token.clone();
    let call = client.call_tool_in("waits", json!({}), &ctx);
    let cancel = async {
        until("progress", || recorder.reports() == [(1.0, Some(2.0))]).await;
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(call, cancel);
    assert!(matches!(outcome, Err(McpError::Cancelled)), "{outcome:?}");
    let heard = tokio::time::timeout(patience(), ended.notified()).await;
    assert!(heard.is_ok(), "the tool goes on");
    client.close().await;
    served.end().await;
}

#[tokio::test]
async fn serves_a_pair_of_pipes_until_they_are_closed() {
    let folder = tempfile::tempdir().unwrap();
    let server = builtin(folder.path());
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(ours);
    let serving = tokio::spawn(async move { server.serve_pipes(input, output).await });
    drop(theirs);
    serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn only_who_has_the_token_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(builtin(folder.path()).token("open")).await;
    let refused = McpClient::connect_http(&served.url).await.unwrap_err();
    assert!(refused.is_unavailable(), "{refused:?}");
    let mut spec = McpServerSpec::http("ours", served.url.as_str());
    if let McpTransport::Http { token, .. } = &mut spec.transport {
        *token = Some("open".into());
    }
    let client = McpClient::connect(spec, ()).await.unwrap();
    client.ping().await.unwrap();
    client.close().await;
    served.end().await;
}

#[tokio::test]
async fn others_are_served_with_a_token_only() {
    let error = McpServer::new(ToolRegistry::new())
        .serve_http("0.0.0.0:0".parse().unwrap())
        .await
        .unwrap_err();
    assert!(matches!(error, McpError::Open { .. }), "{error:?}");
}

/// The status of a first request with these headers.
async fn status(served: &Served, headers: &[(&str, &str)]) -> u16 {
    let client = neuron_tls::client_builder().unwrap().build().unwrap();
    let params = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "page", "version": "1"},
    });
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let mut post = client
        .post(&served.url)
        .header("accept", "application/json, text/event-stream")
        .json(&request);
    for (name, value) in headers {
        post = post.header(*name, *value);
    }
    post.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_page_of_this_machine_is_served_and_others_are_refused() {
    let served = Served::start(McpServer::new(ToolRegistry::new())).await;
    let own = served.url.trim_end_matches("/mcp").to_owned();
    for origin in [
        own.as_str(),
        "http://localhost",
        "http://localhost:6274",
        "http://127.0.0.1:1",
        "http://[::1]:8080",
    ] {
        assert_eq!(
            status(&served, &[("origin", origin)]).await,
            200,
            "{origin}"
        );
    }
    for origin in [
        "https://evil.example",
        "http://localhost.evil.example",
        "http://localhost:80@evil.example",
        "http://127.0.0.1.evil.example:80",
        "http://0.0.0.0:80",
        "file://localhost",
        "null",
        "",
    ] {
        assert_eq!(
            status(&served, &[("origin", origin)]).await,
            403,
            "{origin}"
        );
    }
    served.end().await;
}

#[tokio::test]
async fn a_name_that_was_led_to_this_machine_is_refused() {
    let served = Served::start(McpServer::new(ToolRegistry::new())).await;
    let own = served.url.trim_end_matches("/mcp").to_owned();
    for host in ["evil.example", "localhost.evil.example:80", "0.0.0.0"] {
        let headers = [("host", host), ("origin", own.as_str())];
        assert_eq!(status(&served, &headers).await, 403, "{host}");
    }
    assert_eq!(status(&served, &[("host", "localhost:1")]).await, 200);
    served.end().await;
}
