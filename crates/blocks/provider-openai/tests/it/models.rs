//! What a model would reject is rejected before it is sent, with what to change.

use neuron_types::{
    CompletionRequest, FailureKind, Provider, ReasoningEffort, ThinkingConfig, ToolChoice,
};
use serde_json::{Value, json};

use crate::{
    conversations::{hello, weather},
    fake_api::{FakeApi, chat_answer},
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Api {
    Chat,
    Responses,
}

fn asking(model: &str) -> CompletionRequest {
    hello().with_head(|head| head.model = model.into())
}

/// Returns the message of the rejection, or the body that was sent.
async fn asked(api: Api, request: &CompletionRequest) -> Result<Value, String> {
    let body = match api {
        Api::Chat => chat_answer(&json!({})),
        Api::Responses => json!({"output": []}),
    };
    let fake = FakeApi::with_body(&body).await;
    let answer = match api {
        Api::Chat => {
            let client = fake.chat().check_models(true).build().unwrap();
            let stream = client.complete_stream(request).await;
            let whole = client.complete(request).await;
            assert_eq!(stream.is_ok(), whole.is_ok());
            whole
        }
        Api::Responses => {
            let client = fake.responses().check_models(true).build().unwrap();
            let stream = client.complete_stream(request).await;
            let whole = client.complete(request).await;
            assert_eq!(stream.is_ok(), whole.is_ok());
            whole
        }
    };
    match answer {
        Ok(_) => Ok(fake.body_of(1).await),
        Err(error) => {
            assert_eq!(error.kind(), FailureKind::InvalidRequest);
            assert!(!error.is_retryable());
            assert!(fake.requests().await.is_empty(), "it was sent");
            Err(error.to_string())
        }
    }
}

async fn refusal(api: Api, request: &CompletionRequest) -> String {
    asked(api, request).await.unwrap_err()
}

#[tokio::test]
async fn an_effort_that_the_model_lacks() {
    for (model, effort, says) in [
        (
            "gpt-6.2-sol",
            ReasoningEffort::None,
            "gpt-6.2-sol takes no reasoning effort \"none\": use low, medium, high, xhigh or max",
        ),
        (
            "gpt-6.1-terra",
            ReasoningEffort::Minimal,
            "gpt-6.1-terra takes no reasoning effort \"minimal\": use none, low, medium, high, xhigh or max",
        ),
        (
            "gpt-5.1-2025-11-13",
            ReasoningEffort::Max,
            "gpt-5.1-2025-11-13 takes no reasoning effort \"max\": use none, low, medium or high",
        ),
        (
            "gpt-4.1",
            ReasoningEffort::Low,
            "gpt-4.1 does not reason: leave the reasoning effort unset or use a model that does",
        ),
    ] {
        let request = asking(model).with_head(|head| head.reasoning_effort = Some(effort));
        for api in [Api::Chat, Api::Responses] {
            assert_eq!(refusal(api, &request).await, says);
        }
    }
}

#[tokio::test]
async fn thinking_that_cannot_be_turned_off() {
    let off = |model: &str| {
        asking(model).with_head(|head| head.thinking = Some(ThinkingConfig::Disabled))
    };
    let says = refusal(Api::Responses, &off("o3")).await;
    assert_eq!(
        says,
        "o3 takes no reasoning effort \"none\": use low, medium or high"
    );
    let sent = asked(Api::Responses, &off("gpt-6-sol")).await.unwrap();
    assert_eq!(sent["reasoning"], json!({"effort": "none"}));
    // A model that does not think is not asked to stop.
    let sent = asked(Api::Responses, &off("gpt-4o")).await.unwrap();
    assert_eq!(sent.get("reasoning"), None);
}

#[tokio::test]
async fn sampling_beside_reasoning() {
    let warm = |model: &str, effort| {
        asking(model).with_head(|head| {
            head.temperature = Some(0.5);
            head.reasoning_effort = effort;
        })
    };
    for api in [Api::Chat, Api::Responses] {
        assert_eq!(
            refusal(api, &warm("gpt-6.1-terra", None)).await,
            "gpt-6.1-terra takes no `temperature` while it reasons: leave `temperature` unset or set the \
             reasoning effort to \"none\""
        );
        assert_eq!(
            refusal(api, &warm("o4-mini", Some(ReasoningEffort::Low))).await,
            "o4-mini takes no `temperature` while it reasons: leave `temperature` unset"
        );
        let sent = asked(api, &warm("gpt-6.1-terra", Some(ReasoningEffort::None))).await;
        assert_eq!(sent.unwrap()["temperature"], 0.5);
        let sent = asked(api, &warm("gpt-4.1", None)).await;
        assert_eq!(sent.unwrap()["temperature"], 0.5);
    }
    let sharp = asking("gpt-5").with_head(|head| head.top_p = Some(0.5));
    let says = refusal(Api::Responses, &sharp).await;
    assert!(says.contains("`top_p`"), "{says}");
}

#[tokio::test]
async fn tools_in_chat_completions() {
    let with_tools = |model: &str, effort| {
        asking(model).with_head(|head| {
            head.tools = vec![weather()];
            head.reasoning_effort = effort;
        })
    };
    assert_eq!(
        refusal(Api::Chat, &with_tools("gpt-6.1-terra", None)).await,
        "gpt-6.1-terra takes no tools in chat completions: use the responses API (kind \"openai-responses\")"
    );
    assert_eq!(
        refusal(Api::Chat, &with_tools("gpt-5.6-terra", None)).await,
        "gpt-5.6-terra takes tools in chat completions only with reasoning effort \"none\": set that, or use \
         the responses API (kind \"openai-responses\")"
    );
    let none = Some(ReasoningEffort::None);
    assert!(
        asked(Api::Chat, &with_tools("gpt-5.6-terra", none))
            .await
            .is_ok()
    );
    assert!(asked(Api::Chat, &with_tools("gpt-4o", None)).await.is_ok());
    assert!(
        asked(Api::Responses, &with_tools("gpt-6.1-terra", None))
            .await
            .is_ok()
    );
    let unused = with_tools("gpt-6.1-terra", None)
        .with_head(|head| head.tool_choice = Some(ToolChoice::None));
    assert!(asked(Api::Chat, &unused).await.is_ok());
}

#[tokio::test]
async fn a_model_that_does_not_reason_is_not_asked_for_its_reasoning() {
    let sent = asked(Api::Responses, &asking("gpt-4.1-mini"))
        .await
        .unwrap();
    assert_eq!(sent.get("include"), None);
    let sent = asked(Api::Responses, &asking("gpt-6-luna")).await.unwrap();
    assert_eq!(sent["include"], json!(["reasoning.encrypted_content"]));
}

#[tokio::test]
async fn an_unknown_model_and_an_unknown_server_are_not_checked() {
    let request = |model: &str| {
        asking(model).with_head(|head| {
            head.temperature = Some(0.5);
            head.reasoning_effort = Some(ReasoningEffort::Max);
            head.tools = vec![weather()];
        })
    };
    for api in [Api::Chat, Api::Responses] {
        assert!(asked(api, &request("gpt-99")).await.is_ok());
    }
    let fake = FakeApi::with_body(&chat_answer(&json!({}))).await;
    let client = fake.chat().build().unwrap();
    assert!(client.complete(&request("gpt-5")).await.is_ok());
}
