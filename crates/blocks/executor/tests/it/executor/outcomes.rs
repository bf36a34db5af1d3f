use std::sync::Arc;

use neuron_executor::{Executor, StepScope};
use neuron_tool::ToolRegistry;
use neuron_types::{
    AgentSpec, Effect, FailureKind, FormRequest, Outcome, OutcomeRequest, Pending, StepFailure,
    StepId, ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput, WasmBoxedFuture,
};
use serde_json::{Value, json};

use neuron_testing::effects::{own_scope, text_of};

/// A tool that says of a call what its argument says.
struct Pay;

impl ToolDyn for Pay {
    fn name(&self) -> &str {
        "pay"
    }

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "pay".into(),
            input_schema: json!({"type": "object"}),
            outcomes: true,
            ..ToolDefinition::default()
        }
    }

    fn call_dyn<'a>(
        &'a self,
        _: Value,
        _: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        panic!("it is not called")
    }

    fn outcome_dyn<'a>(
        &'a self,
        key: &'a str,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<Option<ToolOutput>, ToolError>> {
        Box::pin(async move {
            assert_eq!(ctx.idempotency_key, key);
            Ok(match input["to"].as_str().unwrap_or_default() {
                "ada" => Some(ToolOutput::text(format!("paid {key} in {}", ctx.step))),
                "many" => Some(ToolOutput::text("x".repeat(100))),
                "later" => Some(ToolOutput::pending(Pending::Form {
                    requests: vec![FormRequest::default()],
                    state: None,
                })),
                "away" => {
                    return Err(ToolError::Unavailable {
                        message: "the bank is closed".into(),
                        retry_after: None,
                        source: None,
                    });
                }
                "wrong" => return Err(ToolError::ExecutionFailed("no such account".into())),
                "panic" => panic!("as it was told"),
                _ => None,
            })
        })
    }
}

/// The step that the call was.
const MADE: StepId = StepId::new(2, 3);

fn executor() -> Executor {
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(Pay));
    Executor::builder()
        .tools(tools)
        .max_result_bytes(80)
        .build()
}

async fn asked(
    executor: &Executor,
    scope: &StepScope,
    name: &str,
    to: &str,
) -> Result<Option<ToolOutput>, StepFailure> {
    let request = OutcomeRequest {
        step: MADE,
        name: name.into(),
        input: json!({"to": to}),
    };
    match executor
        .perform(scope, &Effect::AskOutcome(request))
        .await?
    {
        Outcome::AskOutcome(output) => Ok(output),
        other => panic!("{other:?}"),
    }
}

/// Returns what is known of a payment to this one.
async fn outcome(executor: &Executor, to: &str) -> Option<ToolOutput> {
    asked(executor, &own_scope(), "pay", to).await.unwrap()
}

#[tokio::test]
async fn a_tool_is_asked_with_the_key_of_the_call() {
    let made = StepScope {
        step: MADE,
        ..own_scope()
    };
    let known = outcome(&executor(), "ada").await.unwrap();
    let said = format!("paid {} in 2:3", made.idempotency_key());
    // What is too long is cut, as any result is.
    assert_eq!(said.len(), 5 + 64 + 7);
    assert_eq!(text_of(&known), said);
    let many = outcome(&executor(), "many").await.unwrap();
    assert_eq!(text_of(&many).len(), 80);
}

#[tokio::test]
async fn what_a_tool_does_not_know_or_cannot_say_is_unknown() {
    for to in ["bob", "later", "wrong", "panic"] {
        assert_eq!(outcome(&executor(), to).await, None, "{to}");
    }
    let nowhere = asked(&executor(), &own_scope(), "nowhere", "ada").await;
    assert_eq!(nowhere, Ok(None));
}

#[tokio::test]
async fn a_tool_that_is_away_is_asked_again() {
    let away = asked(&executor(), &own_scope(), "pay", "away").await;
    let failure = away.unwrap_err();
    assert_eq!(
        (failure.kind, failure.retryable),
        (FailureKind::Unavailable, true)
    );
}

#[tokio::test]
async fn nothing_is_asked_of_a_tool_that_is_not_granted_or_denied() {
    let nobody = executor().granting(&AgentSpec::default());
    assert_eq!(outcome(&nobody, "ada").await, None);
    let mut agent = AgentSpec::default();
    agent.head_mut().tools = vec![Pay.definition()];
    assert!(outcome(&executor().granting(&agent), "ada").await.is_some());
    agent.approvals.deny = vec!["pay(to=ada)".into()];
    assert_eq!(outcome(&executor().granting(&agent), "ada").await, None);
    // It is granted and another worker has it.
    agent.approvals.deny.clear();
    let empty = Executor::builder().build().granting(&agent);
    let failure = asked(&empty, &own_scope(), "pay", "ada").await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoWorker);
}
