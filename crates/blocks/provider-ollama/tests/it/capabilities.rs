use neuron_provider_ollama::Think;
use neuron_types::{
    CompletionRequest, ContentBlock, ContentItem, FailureKind, Message, Provider, ProviderError,
    ReasoningEffort, ResponseFormat, Role, ThinkingConfig,
};
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::{
    conversations::{conversation, hello, message, picture, result, weather},
    fake_api::{FakeApi, answer, model},
};

fn ok() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(answer(&json!({"content": "Hi"})))
}

async fn api(model: &Value) -> FakeApi {
    let api = FakeApi::silent().await;
    api.chat_answers(ok()).await;
    api.shows(model).await;
    api
}

/// Returns the rejection, which comes before anything is asked of the model.
async fn refused(model: &Value, request: &CompletionRequest) -> ProviderError {
    let api = api(model).await;
    let error = api.client().complete(request).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::InvalidRequest);
    assert!(!error.is_retryable());
    assert!(api.chats().await.is_empty());
    error
}

fn with_tools() -> CompletionRequest {
    hello().with_head(|head| head.tools = vec![weather()])
}

#[tokio::test]
async fn what_a_model_cannot_do_is_refused_with_what_to_change() {
    let plain = model(&["completion"]);
    let shown = message(Role::User, vec![ContentBlock::Image { source: picture() }]);
    let shot = vec![ContentItem::Image { source: picture() }];
    let shot = message(Role::User, vec![result("call_1", shot, false)]);
    let thinking = hello().with_head(|head| head.thinking = Some(ThinkingConfig::Adaptive));
    let effort = hello().with_head(|head| head.reasoning_effort = Some(ReasoningEffort::High));
    for (request, words) in [
        (
            with_tools(),
            "qwen3 cannot call tools: use a model that can",
        ),
        (
            conversation(vec![shown]),
            "qwen3 cannot see pictures: use a model that can",
        ),
        (conversation(vec![shot]), "qwen3 cannot see pictures"),
        (
            thinking,
            "qwen3 cannot think: leave thinking and reasoning effort unset",
        ),
        (effort, "qwen3 cannot think"),
    ] {
        let error = refused(&plain, &request).await;
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_model_that_does_not_think_may_be_told_not_to() {
    let api = api(&model(&["completion"])).await;
    let request = hello().with_head(|head| head.thinking = Some(ThinkingConfig::Disabled));
    api.client().complete(&request).await.unwrap();
    assert_eq!(api.chats().await[0]["think"], false);
}

#[tokio::test]
async fn a_model_of_levels_gets_a_level_and_cannot_stop_thinking() {
    let mut levels = model(&["completion", "tools", "thinking"]);
    levels["model_info"] = json!({"general.architecture": "gptoss"});
    let ask = |thinking| hello().with_head(|head| head.thinking = Some(thinking));
    let error = refused(&levels, &ask(ThinkingConfig::Disabled)).await;
    assert!(
        error.to_string().contains("reasoning effort low"),
        "{error}"
    );

    let api = api(&levels).await;
    api.client()
        .complete(&ask(ThinkingConfig::Adaptive))
        .await
        .unwrap();
    assert_eq!(api.chats().await[0]["think"], "medium");
}

#[tokio::test]
async fn a_context_above_the_models_is_refused() {
    let api = api(&model(&["completion"])).await;
    let large = api.builder().num_ctx(40_961).build().unwrap();
    let error = large.complete(&hello()).await.unwrap_err();
    assert!(
        error.to_string().contains("set it to 40960 or less"),
        "{error}"
    );
    let asked =
        hello().with_head(|head| head.extra = Some(json!({"options": {"num_ctx": 50_000}})));
    let error = api.client().complete(&asked).await.unwrap_err();
    assert!(error.to_string().contains("num_ctx is 50000"), "{error}");
    let fits = api.builder().num_ctx(40_960).build().unwrap();
    fits.complete(&hello()).await.unwrap();
    assert_eq!(api.chats().await.len(), 1);
}

#[tokio::test]
async fn a_model_in_the_cloud_takes_no_format() {
    let mut cloud = model(&["completion"]);
    cloud["remote_host"] = json!("https://ollama.com:443");
    let request = hello().with_head(|head| head.response_format = Some(ResponseFormat::JsonObject));
    let error = refused(&cloud, &request).await;
    assert!(error.to_string().contains("in the prompt"), "{error}");
    let here = api(&model(&["completion"])).await;
    here.client().complete(&request).await.unwrap();
}

#[tokio::test]
async fn a_model_is_looked_up_once_and_only_where_it_matters() {
    let api = api(&model(&["completion", "tools"])).await;
    let client = api.client();
    client.complete(&hello()).await.unwrap();
    assert!(api.requests("/api/show").await.is_empty());
    for _ in 0..3 {
        client.clone().complete(&with_tools()).await.unwrap();
        drop(client.complete_stream(&with_tools()).await.unwrap());
    }
    let looked_up = api.requests("/api/show").await;
    assert_eq!(looked_up.len(), 1);
    assert_eq!(
        looked_up[0].body_json::<Value>().unwrap(),
        json!({"model": "qwen3"})
    );
    assert_eq!(
        looked_up[0].headers["authorization"],
        format!("Bearer {}", neuron_wires::KEY)
    );
}

#[tokio::test]
async fn a_refused_model_is_looked_up_again() {
    let api = api(&model(&["completion"])).await;
    let client = api.client();
    client.complete(&with_tools()).await.unwrap_err();
    client.complete(&with_tools()).await.unwrap_err();
    assert_eq!(api.requests("/api/show").await.len(), 2);
}

#[tokio::test]
async fn a_server_that_does_not_tell_is_not_checked() {
    for template in [
        ResponseTemplate::new(404).set_body_string("404 page not found"),
        ResponseTemplate::new(200).set_body_json(json!({"details": {}})),
        ResponseTemplate::new(200)
            .set_body_json(json!({"capabilities": "many", "model_info": null})),
    ] {
        let api = FakeApi::silent().await;
        api.chat_answers(ok()).await;
        api.show_answers(template).await;
        let client = api
            .builder()
            .num_ctx(1 << 20)
            .think(Think::On)
            .build()
            .unwrap();
        client.complete(&with_tools()).await.unwrap();
        assert_eq!(api.chats().await[0]["think"], true);
    }
}

#[tokio::test]
async fn the_check_can_be_switched_off() {
    let api = api(&model(&["completion"])).await;
    let client = api.builder().check_models(false).build().unwrap();
    client.complete(&with_tools()).await.unwrap();
    assert!(api.requests("/api/show").await.is_empty());
    let text = Message::user("hello");
    assert_eq!(api.chats().await[0]["messages"][0]["content"], text.text());
}
