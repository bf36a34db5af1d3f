use neuron_executor::Executor;
use neuron_testing::effects::own_scope;
use neuron_types::{AgentSpec, CurrentDefinition, DefinitionRequest, Effect, Outcome};

fn named(name: &str) -> AgentSpec {
    AgentSpec {
        name: name.to_owned(),
        ..AgentSpec::default()
    }
}

async fn found(executor: &Executor, name: &str) -> CurrentDefinition {
    let agent = name.to_owned();
    let asked = Effect::Definition(DefinitionRequest { agent });
    match executor.perform(&own_scope(), &asked).await {
        Ok(Outcome::Definition(found)) => found,
        other => panic!("{other:?}"),
    }
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
