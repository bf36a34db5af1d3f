use neuron_types::FailureKind;
use neuron_wires::{Api, suite::fail};
use wiremock::ResponseTemplate;

use crate::messages::Messages;

#[tokio::test]
async fn a_prompt_that_is_too_long_is_a_context_failure() {
    let message = "prompt is too long: 210000 tokens > 200000 maximum";
    let body = Messages::error("invalid_request_error", "", message);
    let error = fail::<Messages>(ResponseTemplate::new(400).set_body_json(body)).await;
    assert_eq!(error.kind(), FailureKind::ContextLength);
    assert_eq!(
        error.to_string(),
        "anthropic says that the request is too long: \"prompt is too long: 210000 tokens > 200000 maximum\"; \
         shorten the conversation (HTTP 400) (request req_body)"
    );
}
