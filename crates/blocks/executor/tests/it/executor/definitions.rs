use neuron_executor::{Agents, Executor, Executors, StepScope};
use neuron_testing::effects::own_scope;
use neuron_types::{
    AgentSpec, Begun, CurrentDefinition, DefinitionRequest, Effect, FailureKind, Message, Outcome,
    RunId, RunRequest, Step, StepFailure,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

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

fn clerk() -> AgentSpec {
    AgentSpec {
        input: Some(json!({"type": "integer"})),
        ..named("clerk")
    }
}

async fn begun(executors: &Executors, request: &RunRequest) -> Result<Begun, StepFailure> {
    let Step { effect, options } = request.first_step();
    let run_id = RunId::new("r").unwrap();
    let scope = StepScope::new(run_id, &options, 1, CancellationToken::new());
    let agent = request.agent.name();
    match executors.perform(agent, &scope, &effect, &[]).await? {
        Outcome::Begin(begun) => Ok(*begun),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_run_begins_with_what_its_worker_has_under_the_name_and_is_told_what_does_not_fit() {
    let agents: Agents = [clerk()].into_iter().collect();
    let executors = Executors::from(Executor::builder().build()).granting(&agents);
    let asked = |text: &str| RunRequest::new("clerk", Message::user(text));
    let fitting = begun(&executors, &asked("7")).await.unwrap();
    assert_eq!(fitting.definition, Some(Box::new(clerk())));
    assert_eq!(fitting.mismatch, None);
    let wrong = begun(&executors, &asked("Pay it.")).await.unwrap();
    assert_eq!(wrong.definition, Some(Box::new(clerk())));
    let why = "it is no JSON: expected value at line 1 column 1";
    assert_eq!(wrong.mismatch.as_deref(), Some(why));
    // Another worker may have it.
    let unknown = RunRequest::new("ada", Message::user("Go."));
    let lacking = begun(&executors, &unknown).await.unwrap_err();
    assert_eq!(lacking.kind, FailureKind::NoWorker);
}

#[tokio::test]
async fn the_definition_of_whoever_starts_a_run_is_taken_unless_the_worker_rejects_it() {
    let executors = Executors::from(Executor::builder().build());
    let request = RunRequest::new(clerk(), Message::user("Pay it."));
    let taken = begun(&executors, &request).await.unwrap();
    assert!(taken.definition.is_none() && taken.mismatch.is_some());
    // Whether it serves such an agent or not.
    for rejecting in [executors, Executors::by_agent([])] {
        let rejecting = rejecting.rejecting_definitions();
        let rejected = begun(&rejecting, &request).await.unwrap_err();
        assert_eq!(rejected.kind, FailureKind::InvalidRequest);
        assert!(rejected.message.contains("takes names only"), "{rejected}");
    }
}
