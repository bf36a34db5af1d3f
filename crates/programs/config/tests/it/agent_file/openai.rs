//! The settings of the agent file for OpenAI and similar servers reach them.

use neuron_types::{CompletionRequest, Message};
use serde_json::{Value, json};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

use super::{open, variables};
use neuron_testing::effects::scope;

/// Returns the request of an agent with these lines to a server.
async fn asked(provider: &str, agent_lines: &str) -> Result<wiremock::Request, String> {
    let server = MockServer::start().await;
    let answer =
        json!({"output": [], "choices": [{"finish_reason": "stop", "message": {"content": "Hi"}}]});
    Mock::given(any())
        .respond_with(ResponseTemplate::new(200).set_body_json(answer))
        .mount(&server)
        .await;
    let text = format!(
        "[agents.a]\nmodel = \"p/gpt-5\"\ninstructions = \"Be brief.\"\nmax_tokens = 100\n{agent_lines}\n\
         [providers.p]\nbase_url = \"{}/v1\"\n{provider}",
        server.uri()
    );
    let agents = open(&text, ".", variables(&[]));
    let agent = agents.agent("a").unwrap();
    let executor = agents.executor(&agent).unwrap();
    let request = CompletionRequest::new(agent.head, vec![Message::user("hello")]);
    match executor.call_model(&scope(), &request).await {
        Ok(_) => Ok(server.received_requests().await.unwrap().remove(0)),
        Err(failure) => Err(failure.message),
    }
}

fn body(request: &wiremock::Request) -> Value {
    request.body_json().unwrap()
}

#[tokio::test]
async fn the_dialect_of_chat_completions() {
    let provider = "kind = \"openai-chat\"\ntoken_limit_field = \"max_completion_tokens\"\n\
                    system_role = \"developer\"\norganization = \"org-1\"\nproject = \"proj-1\"";
    let request = asked(provider, "").await.unwrap();
    assert_eq!(request.headers["openai-organization"], "org-1");
    assert_eq!(request.headers["openai-project"], "proj-1");
    let body = body(&request);
    assert_eq!(body["max_completion_tokens"], 100);
    assert_eq!(body["messages"][0]["role"], "developer");
}

#[tokio::test]
async fn the_settings_of_responses() {
    let include = async |provider: &str| {
        let request = asked(provider, "").await.unwrap();
        body(&request).get("include").cloned()
    };
    let kind = "kind = \"openai-responses\"";
    assert!(include(kind).await.is_some());
    let without = format!("{kind}\nencrypted_reasoning = false");
    assert_eq!(include(&without).await, None);
}

#[tokio::test]
async fn a_check_of_models_before_they_are_asked() {
    let agent = "temperature = 0.5";
    let kind = "kind = \"openai-responses\"";
    assert!(asked(kind, agent).await.is_ok());
    let says = asked(&format!("{kind}\ncheck_models = true"), agent).await;
    assert!(says.unwrap_err().contains("gpt-5 takes no `temperature`"));
}

#[tokio::test]
async fn further_fields_of_the_body() {
    let agent = "extra = { service_tier = \"flex\", seed = 7, x = [1.5, true, { y = \"z\" }] }";
    let request = asked("kind = \"openai-chat\"", agent).await.unwrap();
    let body = body(&request);
    assert_eq!(body["service_tier"], "flex");
    assert_eq!(body["seed"], 7);
    assert_eq!(body["x"], json!([1.5, true, {"y": "z"}]));
}
