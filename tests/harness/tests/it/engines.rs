//! The real servers start, keep their data through a kill, and end.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
};

use neuron_harness::{
    Engine, EngineError, EngineServer, Launcher,
    http::{ask, has_status},
};

#[tokio::test]
async fn temporal_keeps_a_workflow_through_a_kill() {
    let mut server = EngineServer::find(Engine::Temporal).await.unwrap();
    let url = server.addresses().http.clone();
    let path = "/api/v1/namespaces/default/workflows/kept";
    let start = r#"{"workflowType": {"name": "none"}, "taskQueue": {"name": "none"}}"#;
    let answer = ask(&url, &format!("POST {path}"), start);
    assert!(has_status(&answer, 200), "{answer}");

    server.restart().await.unwrap();

    let answer = ask(&url, &format!("GET {path}"), "");
    assert!(
        has_status(&answer, 200) && answer.contains("kept"),
        "{answer}"
    );
    drop(server);
    let host = url.strip_prefix("http://").unwrap();
    assert!(TcpStream::connect(host).is_err(), "it is gone");
}

/// Registers one service with Restate, once.
fn deployment() -> String {
    const MANIFEST: &str = r#"{"protocolMode": "REQUEST_RESPONSE", "minProtocolVersion": 5,
        "maxProtocolVersion": 5, "services": [{"name": "Kept", "ty": "SERVICE",
        "handlers": [{"name": "go"}]}]}"#;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let read = stream.read(&mut request).unwrap();
        assert!(request[..read].starts_with(b"GET /discover"));
        let length = MANIFEST.len();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: application/vnd.restate.endpointmanifest.v3+json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n{MANIFEST}"
        )
        .unwrap();
    });
    url
}

#[tokio::test]
async fn restate_keeps_a_deployment_through_a_kill() {
    let mut server = EngineServer::find(Engine::Restate).await.unwrap();
    let (ingress, admin) = (&server.addresses().main, server.addresses().http.clone());
    assert!(has_status(&ask(ingress, "GET /restate/health", ""), 200));
    let body = format!(r#"{{"uri": "{}", "use_http_11": true}}"#, deployment());
    let answer = ask(&admin, "POST /deployments", &body);
    assert!(has_status(&answer, 201), "{answer}");

    server.restart().await.unwrap();

    let answer = ask(&admin, "GET /services/Kept", "");
    assert!(has_status(&answer, 200), "{answer}");
    drop(server);
    let host = admin.strip_prefix("http://").unwrap();
    assert!(TcpStream::connect(host).is_err(), "it is gone");
}

#[tokio::test]
async fn a_server_of_somebody_else_is_used_and_not_killed() {
    let own = EngineServer::find(Engine::Temporal).await.unwrap();
    let launcher = Launcher::External(own.addresses().clone());
    let mut other = EngineServer::start(Engine::Temporal, launcher)
        .await
        .unwrap();
    assert_eq!(other.addresses(), own.addresses());
    assert!(matches!(other.kill().await, Err(EngineError::External)));
    drop(other);
    assert!(has_status(
        &ask(&own.addresses().http, "GET /api/v1/namespaces/default", ""),
        200
    ));
}

#[tokio::test]
async fn a_program_that_ends_is_an_error_that_shows_what_it_said() {
    let launcher = Launcher::Native("/bin/false".into());
    let error = EngineServer::start(Engine::Restate, launcher)
        .await
        .unwrap_err();
    assert!(matches!(error, EngineError::Ended { .. }), "{error}");
}
