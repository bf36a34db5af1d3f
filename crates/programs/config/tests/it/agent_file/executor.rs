use std::fs;

use neuron_config::{AgentFile, AgentFileError};
use neuron_executor::StepScope;
use neuron_types::{CompletionRequest, FailureKind, Message, RunId, RunTags, ToolDefinition};
use serde_json::json;
use wiremock::MockServer;

use super::{open, opened, variables};
use neuron_testing::effects::{call, scope, text_of};

fn missing(text: &str) -> String {
    let agents = open(text, ".", variables(&[]));
    let agent = agents.agent("a").unwrap();
    let error = agents.executor(&agent).unwrap_err();
    error.to_string()
}

#[test]
fn needs_the_key_of_the_provider_that_the_agent_uses() {
    for (provider, message) in [
        (
            "[providers.p]\nkind = \"openai-chat\"",
            "the provider p has no key: set the variable OPENAI_API_KEY",
        ),
        (
            "[providers.p]\nkind = \"anthropic\"",
            "the provider p has no key: set the variable ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN",
        ),
        (
            "[providers.p]\nkind = \"openai-responses\"\napi_key_env = \"MY_KEY\"",
            "the provider p has no key: set the variable MY_KEY",
        ),
    ] {
        let text = format!("[agents.a]\nmodel = \"p/m\"\n{provider}");
        assert_eq!(missing(&text), message);
    }
}

#[test]
fn needs_the_key_of_the_model_that_summarises() {
    let text = "[agents.a]\nmodel = \"demo/demo\"\n[agents.a.context]\nstrategy = \"summarize\"\n\
                model = \"anthropic/small\"";
    assert!(missing(text).starts_with("the provider anthropic has no key"));
}

#[test]
fn needs_no_key_that_the_agent_does_not_use() {
    let text = "[agents.a]\nmodel = \"demo/demo\"\n[agents.b]\nmodel = \"openai/m\"";
    let agents = open(text, ".", variables(&[]));
    let agent = agents.agent("a").unwrap();
    assert!(agents.executor(&agent).is_ok());
}

#[test]
fn needs_no_key_for_an_address_of_its_own() {
    let text = "[agents.a]\nmodel = \"local/llama\"\n[providers.local]\nkind = \"openai-chat\"\n\
                base_url = \"http://127.0.0.1:11434/v1\"";
    let agents = open(text, ".", variables(&[]));
    let agent = agents.agent("a").unwrap();
    assert!(agents.executor(&agent).is_ok());
}

/// Returns the request of an agent of this provider to Ollama, with this environment.
async fn asked_of_ollama(provider: &str, model: &str, names: &[&'static str]) -> wiremock::Request {
    let server = MockServer::start().await;
    let answer = json!({"model": "qwen3", "message": {"content": "Hi"}, "done": true});
    wiremock::Mock::given(wiremock::matchers::path("/api/chat"))
        .respond_with(wiremock::ResponseTemplate::new(200).set_body_json(answer))
        .mount(&server)
        .await;
    let (address, names) = (server.address().to_string(), names.to_vec());
    let environment = move |name: &str| match name {
        _ if !names.contains(&name) => None,
        "OLLAMA_HOST" => Some(address.clone()),
        _ => Some("a-key-of-ollama".to_owned()),
    };
    let provider = provider.replace("URL", &server.uri());
    let agents = open(
        &format!("[agents.a]\nmodel = \"{model}\"\n{provider}"),
        ".",
        environment,
    );
    let agent = agents.agent("a").unwrap();
    let executor = agents.executor(&agent).unwrap();
    let request = CompletionRequest::new(agent.head, vec![Message::user("go")]);
    let response = executor.call_model(&scope(), &request).await.unwrap();
    assert_eq!(response.message.text(), "Hi");
    assert_eq!(response.cost_usd, None);
    server.received_requests().await.unwrap().pop().unwrap()
}

#[tokio::test]
async fn asks_ollama_as_the_file_says() {
    let settings = "[providers.big]\nkind = \"ollama\"\nbase_url = \"URL\"\nnum_ctx = 16384\n\
                    keep_alive = \"forever\"\nthink = \"low\"";
    let request = asked_of_ollama(settings, "big/qwen3", &["OLLAMA_API_KEY"]).await;
    let body: serde_json::Value = request.body_json().unwrap();
    assert_eq!(body["options"]["num_ctx"], 16384);
    assert_eq!(body["keep_alive"], -1);
    assert_eq!(body["think"], "low");
    assert!(!request.headers.contains_key("authorization"));

    let settings = "[providers.ollama]\nkeep_alive = \"10m\"\nthink = false";
    let request = asked_of_ollama(settings, "ollama/qwen3", &["OLLAMA_HOST"]).await;
    let body: serde_json::Value = request.body_json().unwrap();
    assert_eq!(body["keep_alive"], 600);
    assert_eq!(body["think"], false);
}

#[tokio::test]
async fn finds_ollama_by_its_variable_and_sends_a_key_that_is_set() {
    let request = asked_of_ollama("", "ollama/qwen3", &["OLLAMA_HOST"]).await;
    assert!(!request.headers.contains_key("authorization"));
    let request = asked_of_ollama("", "ollama/qwen3", &["OLLAMA_HOST", "OLLAMA_API_KEY"]).await;
    assert_eq!(request.headers["authorization"], "Bearer a-key-of-ollama");

    let named = "[providers.ollama]\napi_key_env = \"MY_KEY\"";
    let message = missing(&format!("[agents.a]\nmodel = \"ollama/m\"\n{named}"));
    assert_eq!(
        message,
        "the provider ollama has no key: set the variable MY_KEY"
    );
}

#[test]
fn no_key_goes_to_another_machine_unencrypted_unless_the_file_says_so() {
    const ELSEWHERE: &[(&str, &str)] = &[
        ("OPENAI_BASE_URL", "http://gateway.example.org/v1"),
        ("OPENAI_API_KEY", "a-key"),
        ("OLLAMA_HOST", "gpu.example.org"),
    ];
    let opens = |text: &str| {
        let agents = open(text, ".", variables(ELSEWHERE));
        let agent = agents.agent("a").unwrap();
        agents.executor(&agent).map(drop)
    };
    let error = opens("[agents.a]\nmodel = \"openai/m\"")
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "the key of the provider openai would go to gateway.example.org unencrypted: use an address that begins \
         with https://, or write insecure = true for the provider in the agent file"
    );
    for text in [
        "[agents.a]\nmodel = \"openai/m\"\n[providers.openai]\ninsecure = true",
        "[agents.a]\nmodel = \"openai/m\"\n[providers.openai]\nbase_url = \"http://127.0.0.1:8000/v1\"",
        // No key is sent there.
        "[agents.a]\nmodel = \"ollama/m\"",
        "[agents.a]\nmodel = \"p/m\"\n[providers.p]\nkind = \"openai-chat\"\nbase_url = \"http://gpu.example.org/v1\"",
    ] {
        opens(text).expect(text);
    }
}

/// Returns the requests to a model of Ollama, if the file has these lines for the provider, for each of the tenants:
/// the header with the key, or why no request is made.
async fn asked_for(lines: &str, tenants: &[Option<&str>]) -> Vec<Result<String, FailureKind>> {
    let server = MockServer::start().await;
    let answer = json!({"model": "qwen3", "message": {"content": "Hi"}, "done": true});
    wiremock::Mock::given(wiremock::matchers::path("/api/chat"))
        .respond_with(wiremock::ResponseTemplate::new(200).set_body_json(answer))
        .mount(&server)
        .await;
    let text = format!(
        "[agents.a]\nmodel = \"p/qwen3\"\n[providers.p]\nkind = \"ollama\"\nbase_url = \"{}\"\n{lines}",
        server.uri()
    );
    let environment = variables(&[("SHARED", "shared"), ("KEY_OF_ACME", "of-acme")]);
    let agents = open(&text, ".", environment);
    let agent = agents.agent("a").unwrap();
    let executor = agents.executor(&agent).unwrap();
    let request = CompletionRequest::new(agent.head, vec![Message::user("go")]);
    let mut asked = Vec::new();
    for tenant in tenants {
        let scope = StepScope {
            tags: RunTags {
                tenant: tenant.map(ToOwned::to_owned),
                ..RunTags::default()
            },
            ..scope()
        };
        asked.push(match executor.call_model(&scope, &request).await {
            Ok(_) => {
                let request = server.received_requests().await.unwrap().pop().unwrap();
                let header = request.headers.get("authorization");
                let header = header.map(|value| value.to_str().unwrap().to_owned());
                Ok(header.unwrap_or_default())
            }
            Err(failure) => {
                assert!(!failure.message.contains("of-acme"), "{failure:?}");
                Err(failure.kind)
            }
        });
    }
    asked
}

#[tokio::test]
async fn asks_for_each_tenant_with_its_own_key() {
    let tenants = [Some("acme"), Some("globex"), None];
    let own = Ok("Bearer of-acme".to_owned());
    let shared = Ok("Bearer shared".to_owned());
    let keys = "tenant_keys = { acme = \"KEY_OF_ACME\" }";
    assert_eq!(
        asked_for(&format!("api_key_env = \"SHARED\"\n{keys}"), &tenants).await,
        [own.clone(), shared.clone(), shared]
    );
    let none = Err(FailureKind::Authentication);
    assert_eq!(asked_for(keys, &tenants).await, [own, none.clone(), none]);
}

#[tokio::test]
async fn a_gateway_reads_of_which_run_a_request_is_where_the_file_says_so() {
    for (kind, path) in [
        ("ollama", "/api/chat"),
        ("openai-chat", "/chat/completions"),
        ("openai-responses", "/responses"),
        ("anthropic", "/v1/messages"),
    ] {
        for (line, sent) in [("", false), ("tag_headers = true", true)] {
            let server = MockServer::start().await;
            let text = format!(
                "[agents.a]\nmodel = \"p/m\"\n[providers.p]\nkind = \"{kind}\"\n\
                 base_url = \"{}\"\napi_key_env = \"SHARED\"\n{line}",
                server.uri()
            );
            let agents = open(&text, ".", variables(&[("SHARED", "shared")]));
            let agent = agents.agent("a").unwrap();
            let executor = agents.executor(&agent).unwrap();
            let scope = StepScope {
                root: Some(RunId::new("top").unwrap()),
                tags: RunTags {
                    tenant: Some("acme".to_owned()),
                    owner: Some("Zoë".to_owned()),
                    labels: [("team".to_owned(), "a".to_owned())].into(),
                },
                ..scope()
            };
            let request = CompletionRequest::new(agent.head, vec![Message::user("go")]);
            // The server answers that there is nothing here: the request is enough.
            executor.call_model(&scope, &request).await.unwrap_err();
            let asked = server.received_requests().await.unwrap().pop().unwrap();
            assert_eq!(asked.url.path(), path);
            let header = |name: &str| {
                let value = asked.headers.get(format!("x-neuron-{name}"));
                value.map(|value| value.to_str().unwrap().to_owned())
            };
            for (name, value) in [
                ("run", scope.run_id.as_str()),
                ("root", "top"),
                ("tenant", "acme"),
                ("owner", "Zo%C3%AB"),
                ("label-team", "a"),
            ] {
                let expected = sent.then(|| value.to_owned());
                assert_eq!(header(name), expected, "{kind} {name}");
            }
        }
    }
}

#[test]
fn a_tenant_whose_key_is_not_set_is_not_served_with_another() {
    let keys = "tenant_keys = { acme = \"KEY_OF_ACME\" }";
    let text = format!(
        "[agents.a]\nmodel = \"p/m\"\n[providers.p]\nkind = \"openai-chat\"\n\
         base_url = \"http://127.0.0.1:9/v1\"\n{keys}"
    );
    assert_eq!(
        missing(&text),
        "the provider p has no key: set the variable KEY_OF_ACME"
    );
    let named = "[agents.a]\nmodel = \"openai/m\"\n[providers.openai]\napi_key_env = \"SHARED\"";
    assert_eq!(
        missing(&format!("{named}\n{keys}")),
        "the provider openai has no key: set the variable SHARED"
    );
}

#[tokio::test]
async fn no_command_finds_a_key() {
    // Any variable that this process has, for all runs and for a tenant.
    let text = "[agents.a]\nmodel = \"demo/demo\"\ntools = [\"bash\"]\n\
                [providers.p]\nkind = \"openai-chat\"\napi_key_env = \"CARGO_PKG_NAME\"\n\
                tenant_keys = { acme = \"CARGO_MANIFEST_DIR\" }";
    let agents = open(text, ".", variables(&[]));
    let agent = agents.agent("a").unwrap();
    let executor = agents.executor(&agent).unwrap();
    let command = "echo \"of-$CARGO_PKG_NAME$CARGO_MANIFEST_DIR-end\"";
    let look = call("bash", json!({ "command": command }));
    let output = executor.call_tool(&scope(), &look).await.unwrap();
    let said = text_of(&output);
    assert!(said.contains("of--end"), "{said}");
}

#[tokio::test]
async fn replays_a_script_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        "[agents.a]\nmodel = \"s/m\"\n[providers.s]\nkind = \"script\"\nfile = \"turns.json\"";
    let path = folder.path().join("neuron.toml");
    fs::write(&path, text).unwrap();
    let file = AgentFile::load(&path).unwrap();
    let agents = opened(file, ".", variables(&[]));
    let agent = agents.agent("a").unwrap();

    let error = agents.executor(&agent).unwrap_err();
    assert!(matches!(error, AgentFileError::Script { .. }));
    assert!(error.to_string().contains("turns.json cannot be read"));

    fs::write(
        folder.path().join("turns.json"),
        r#"{"turns": [{"text": "scripted"}]}"#,
    )
    .unwrap();
    let executor = agents.executor(&agent).unwrap();
    let request = CompletionRequest::new(agent.head, vec![Message::user("go")]);
    let answer = executor.call_model(&scope(), &request).await.unwrap();
    assert_eq!(answer.message.text(), "scripted");
}

#[tokio::test]
async fn keeps_the_tools_where_the_agent_works() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).unwrap();
    fs::write(folder.path().join("outside.txt"), "out").unwrap();
    for (line, refused) in [("", true), ("allow_outside_cwd = true", false)] {
        let text = format!("[agents.a]\nmodel = \"demo/demo\"\ntools = [\"read_file\"]\n{line}");
        let agents = open(&text, &inside, variables(&[]));
        let agent = agents.agent("a").unwrap();
        let executor = agents.executor(&agent).unwrap();
        let read = call("read_file", json!({"path": "../outside.txt"}));
        let output = executor.call_tool(&scope(), &read).await.unwrap();
        assert_eq!(output.is_error, refused, "{}", text_of(&output));
    }
}

#[tokio::test]
async fn has_only_the_tools_of_the_agent() {
    let agents = open(
        "[agents.a]\nmodel = \"demo/demo\"\ntools = [\"grep\"]",
        ".",
        variables(&[]),
    );
    let agent = agents.agent("a").unwrap();
    let executor = agents.executor(&agent).unwrap();
    let output = executor
        .call_tool(&scope(), &call("bash", json!({"command": "true"})))
        .await
        .unwrap();
    assert!(output.is_error);
    assert_eq!(text_of(&output), "there is no tool \"bash\": use grep");
}

#[tokio::test]
async fn answers_with_no_more_than_the_agent_allows() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("long.txt"), "x".repeat(1000)).unwrap();
    let text =
        "[agents.a]\nmodel = \"demo/demo\"\ntools = [\"read_file\"]\ntool_output_bytes = 100";
    let agents = open(text, folder.path(), variables(&[]));
    let agent = agents.agent("a").unwrap();
    let executor = agents.executor(&agent).unwrap();
    let read = call("read_file", json!({"path": "long.txt"}));
    let output = executor.call_tool(&scope(), &read).await.unwrap();
    let text = text_of(&output);
    assert!(
        text.contains(&"x".repeat(100)) && !text.contains(&"x".repeat(101)),
        "{text}"
    );
}

#[test]
fn refuses_an_agent_of_another_file_whose_parts_are_gone() {
    let agents = open("[agents.a]\nmodel = \"demo/demo\"", ".", variables(&[]));
    let mut agent = agents.agent("a").unwrap();
    agent.head_mut().tools.push(ToolDefinition {
        name: "mcp__everything__echo".into(),
        ..ToolDefinition::default()
    });
    let error = agents.executor(&agent).unwrap_err();
    assert!(matches!(error, AgentFileError::UnknownTool { .. }));
    agent.head_mut().tools.clear();
    agent.head_mut().provider = Some("gone".into());
    let error = agents.executor(&agent).unwrap_err();
    let error = error.to_string();
    let expected =
        "the agent a cannot be used here: unknown provider \"gone\": use anthropic, demo, ";
    assert!(error.starts_with(expected), "{error}");
}

/// Returns the request to the model API: the path and the authentication headers.
async fn first_request(provider: &str, environment: &[(&str, &str)]) -> String {
    let server = MockServer::start().await;
    let provider = provider.replace("SERVER", &server.uri());
    let text = format!("[agents.a]\nmodel = \"{provider}");
    let environment: Vec<(String, String)> = environment
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.replace("SERVER", &server.uri())))
        .collect();
    let lookup = move |name: &str| {
        let found = environment.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.clone())
    };
    let agents = open(&text, ".", lookup);
    let agent = agents.agent("a").unwrap();
    let executor = agents.executor(&agent).unwrap();
    let request = CompletionRequest::new(agent.head, vec![Message::user("go")]);
    // The server knows no such path: only the request counts.
    executor.call_model(&scope(), &request).await.unwrap_err();
    let requests = server.received_requests().await.unwrap();
    let asked = &requests[0];
    let body: serde_json::Value = serde_json::from_slice(&asked.body).unwrap();
    let header = |name: &str| {
        let value = asked.headers.get(name)?;
        Some(format!(" {name}: {}", value.to_str().unwrap()))
    };
    let key = header("authorization").or_else(|| header("x-api-key"));
    format!(
        "{} {}{}",
        asked.url.path(),
        body["model"].as_str().unwrap(),
        key.unwrap_or_default()
    )
}

#[tokio::test]
async fn speaks_to_each_kind_of_provider_at_its_address() {
    for (provider, environment, expected) in [
        (
            "openai/m\"",
            &[("OPENAI_API_KEY", "k1"), ("OPENAI_BASE_URL", "SERVER/v1")][..],
            "/v1/responses m authorization: Bearer k1",
        ),
        (
            "openai/m\"\n[providers.openai]\nkind = \"openai-chat\"\nbase_url = \"SERVER/x\"",
            &[
                ("OPENAI_API_KEY", "k2"),
                ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"),
            ],
            "/x/chat/completions m authorization: Bearer k2",
        ),
        (
            "local/m/n\"\n[providers.local]\nkind = \"openai-chat\"\nbase_url = \"SERVER/v1\"",
            &[("OPENAI_API_KEY", "not for others")],
            "/v1/chat/completions m/n",
        ),
        (
            "mine/m\"\n[providers.mine]\nkind = \"openai-responses\"\nbase_url = \"SERVER/v1\"\n\
             api_key_env = \"MY_KEY\"",
            &[("OPENAI_API_KEY", "not for others"), ("MY_KEY", "k3")],
            "/v1/responses m authorization: Bearer k3",
        ),
        (
            "anthropic/m\"",
            &[
                ("ANTHROPIC_API_KEY", "k4"),
                ("ANTHROPIC_BASE_URL", "SERVER"),
            ],
            "/v1/messages m x-api-key: k4",
        ),
        (
            "anthropic/m\"",
            &[
                ("ANTHROPIC_AUTH_TOKEN", "k5"),
                ("ANTHROPIC_BASE_URL", "SERVER"),
            ],
            "/v1/messages m authorization: Bearer k5",
        ),
    ] {
        assert_eq!(first_request(provider, environment).await, expected);
    }
}
