use std::sync::Arc;

use neuron_executor::{Agents, Executor, Executors, StepScope};
use neuron_testing::effects::{TestTool, call, scope, text_of};
use neuron_tool::ToolRegistry;
use neuron_types::{
    AgentSpec, CurrentDefinition, DefinitionRequest, Effect, FailureKind, Needed, Outcome,
    RequestHead, ToolDyn as _,
};
use serde_json::json;

fn executor() -> Executor {
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(TestTool::echo()));
    Executor::builder().tools(tools).build()
}

/// `support`, which has no tool, and `billing`, which has one.
fn agents() -> Agents {
    let of = |name: &str, tools| AgentSpec {
        name: name.into(),
        head: RequestHead {
            tools,
            ..RequestHead::default()
        }
        .into(),
        ..AgentSpec::default()
    };
    let echo = TestTool::echo().definition();
    [of("support", vec![]), of("billing", vec![echo])]
        .into_iter()
        .collect()
}

/// A step of a run of `support` that was handed over.
fn handed(agent: &str) -> StepScope {
    StepScope {
        agent: Some(agent.into()),
        ..scope()
    }
}

#[tokio::test]
async fn the_steps_of_a_run_that_was_handed_over_are_made_as_the_other_agent_may() {
    let one = Executors::from(executor()).granting(&agents());
    let named = ["support", "billing"].map(|name| (name.to_owned(), executor()));
    let named = Executors::by_agent(named).granting(&agents());
    let echo = call("echo", json!({"text": "x"}));
    for executors in [one, named] {
        let executor = executors.of("support").unwrap();
        let output = executor.call_tool(&scope(), &echo).await.unwrap();
        assert!(output.is_error, "{}", text_of(&output));
        let output = executor.call_tool(&handed("billing"), &echo).await.unwrap();
        assert!(!output.is_error, "{}", text_of(&output));
        let effect = Effect::Tool(echo.clone());
        executors
            .of_step("support", Some("billing"), &effect)
            .unwrap();
        let failure = executor.call_tool(&handed("sales"), &echo).await;
        assert_eq!(failure.unwrap_err().kind, FailureKind::NoWorker);
    }
}

#[tokio::test]
async fn one_executor_acts_as_the_agents_that_its_worker_knows() {
    let agents = agents();
    let definitions = agents.definitions().cloned();
    let support = agents.get("support").unwrap();
    let executor = executor().with_definitions(definitions).granting(support);
    let echo = call("echo", json!({"text": "x"}));
    let output = executor.call_tool(&scope(), &echo).await.unwrap();
    assert!(output.is_error);
    let output = executor.call_tool(&handed("billing"), &echo).await.unwrap();
    assert!(!output.is_error, "{}", text_of(&output));
    assert!(executor.check(Some("sales"), Needed::Executor).is_err());
}

#[tokio::test]
async fn the_definition_of_the_other_agent_is_found_in_the_run_of_the_first() {
    let executors = Executors::from(executor()).granting(&agents());
    let find = async |agent: &str| {
        let agent = agent.to_owned();
        let effect = Effect::Definition(DefinitionRequest { agent });
        let executor = executors.of("support").unwrap();
        executor.perform(&scope(), &effect).await.unwrap()
    };
    let Outcome::Definition(CurrentDefinition::Here(found)) = find("billing").await else {
        panic!("it is not found");
    };
    assert_eq!(found.name, "billing");
    let missing = find("sales").await;
    assert!(
        matches!(missing, Outcome::Definition(CurrentDefinition::Missing(_))),
        "{missing:?}"
    );
}
