use neuron_executor::Executor;
use neuron_testing::effects::{call, own_scope, scope, text_of};
use neuron_types::{AgentSpec, CurrentDefinition, DEFINITION_CALL};
use serde_json::json;

fn named(name: &str) -> AgentSpec {
    AgentSpec {
        name: name.to_owned(),
        ..AgentSpec::default()
    }
}

async fn found(executor: &Executor, name: &str) -> CurrentDefinition {
    let asked = call(DEFINITION_CALL, json!({"agent": name}));
    let output = executor.call_tool(&own_scope(), &asked).await.unwrap();
    assert!(!output.is_error);
    serde_json::from_str(&text_of(&output)).unwrap()
}

fn here(name: &str) -> CurrentDefinition {
    CurrentDefinition::Here(Box::new(named(name)))
}

#[tokio::test]
async fn the_definition_that_is_granted_is_the_current_one() {
    let executor = Executor::builder().build().granting(&named("clerk"));
    assert_eq!(found(&executor, "clerk").await, here("clerk"));
    let missing = r#"there is no agent named "ada" here (known: none)"#;
    let missing = CurrentDefinition::Missing(missing.to_owned());
    assert_eq!(found(&executor, "ada").await, missing);
}

#[tokio::test]
async fn a_worker_says_which_definitions_it_has() {
    let executor = Executor::builder().build();
    let executor = executor.with_definitions([named("clerk"), named("ada")]);
    assert_eq!(found(&executor, "ada").await, here("ada"));
    let missing = r#"there is no agent named "bob" here (known: ada, clerk)"#;
    let missing = CurrentDefinition::Missing(missing.to_owned());
    assert_eq!(found(&executor, "bob").await, missing);
}

#[tokio::test]
async fn a_model_does_not_read_a_definition() {
    let executor = Executor::builder().build();
    let executor = executor.with_definitions([named("clerk")]);
    let asked = call(DEFINITION_CALL, json!({"agent": "clerk"}));
    let output = executor.call_tool(&scope(), &asked).await.unwrap();
    assert!(output.is_error, "{}", text_of(&output));
}
