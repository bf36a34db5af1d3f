//! Calls of `find_tools`, which the executor answers by the definitions of the agent.

use std::sync::Arc;

use neuron_executor::Executor;
use neuron_testing::effects::{TestHook, TestTool, call, scope, text_of};
use neuron_tool::ToolRegistry;
use neuron_types::{
    AgentSpec, ApprovalRules, AskRule, FIND_TOOLS, FailureKind, HookAction, HookEvent, Needed,
    ToolDefinition, ToolDyn as _, ToolOutput, ToolSearch,
};
use serde_json::json;

/// An agent with an own tool, and 400 of a server.
fn agent() -> AgentSpec {
    let tools = (0..400).map(|number| ToolDefinition {
        name: format!("github__tool_{number}"),
        description: format!("Does the thing {number}."),
        ..ToolDefinition::default()
    });
    let mut agent = AgentSpec {
        tool_search: Some(ToolSearch::default()),
        ..AgentSpec::default()
    };
    let all = [TestTool::echo().definition()].into_iter().chain(tools);
    agent.head_mut().tools = all.collect();
    agent
}

fn find(query: &str) -> neuron_types::ToolCall {
    call(FIND_TOOLS, json!({"query": query}))
}

#[tokio::test]
async fn tools_are_found_among_those_that_the_agent_does_not_send() {
    let executor = Executor::builder().build().granting(&agent());
    executor.check(None, Needed::Tool(FIND_TOOLS)).unwrap();
    let output = executor.call_tool(&scope(), &find("thing 77 echo")).await;
    let output = output.unwrap();
    assert_eq!(output.loaded[0], "github__tool_77");
    assert!(!output.loaded.contains(&"echo".to_owned()), "it is sent");
    let said = "github__tool_77: Does the thing 77.";
    assert!(text_of(&output).contains(said), "{}", text_of(&output));
}

#[tokio::test]
async fn an_executor_that_acts_for_no_agent_finds_what_is_registered() {
    let tools =
        ToolRegistry::from_iter([Arc::new(TestTool::echo()) as Arc<dyn neuron_types::ToolDyn>]);
    let executor = Executor::builder().tools(tools).build();
    let output = executor.call_tool(&scope(), &find("echo")).await.unwrap();
    assert_eq!(*output.loaded, ["echo"]);
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_an_error_that_the_model_reads() {
    let executor = Executor::builder().build().granting(&agent());
    for input in [json!({}), json!({"query": 3}), json!("query")] {
        let asked = call(FIND_TOOLS, input.clone());
        let output = executor.call_tool(&scope(), &asked).await.unwrap();
        assert!(output.is_error && output.loaded.is_empty(), "{input}");
    }
}

#[tokio::test]
async fn rules_and_hooks_are_about_it_as_about_any_call() {
    let with = |approvals| AgentSpec {
        approvals,
        ..agent()
    };
    let denied = with(ApprovalRules {
        deny: vec![FIND_TOOLS.into()],
        ..ApprovalRules::default()
    });
    let executor = Executor::builder().build().granting(&denied);
    let output = executor.call_tool(&scope(), &find("thing")).await.unwrap();
    assert!(text_of(&output).starts_with("denied: "));
    assert!(output.is_error && output.loaded.is_empty());
    let asked = with(ApprovalRules {
        approve: vec![AskRule::new(FIND_TOOLS)],
        ..ApprovalRules::default()
    });
    let executor = Executor::builder().build().granting(&asked);
    let failure = executor.call_tool(&scope(), &find("thing")).await;
    assert_eq!(failure.unwrap_err().kind, FailureKind::NotApproved);
    let redirect = TestHook(|event: &HookEvent<'_>| {
        Ok(match event {
            HookEvent::PreToolExecution { tool_name, .. } if *tool_name == FIND_TOOLS => {
                let input = json!({"query": "github__tool_5"});
                HookAction::ModifyToolInput { input }
            }
            _ => HookAction::Continue,
        })
    });
    let executor = Executor::builder().hook(redirect).build();
    let executor = executor.granting(&agent());
    let output = executor.call_tool(&scope(), &find("7")).await.unwrap();
    assert_eq!(output.loaded[0], "github__tool_5");
}

#[tokio::test]
async fn a_registered_tool_of_the_name_is_called_itself() {
    let own = TestTool::new(FIND_TOOLS, |_, _| async {
        Ok(ToolOutput::text("in the shed"))
    });
    let mut agent = agent();
    agent.head_mut().tools.push(own.definition());
    let tools = ToolRegistry::from_iter([Arc::new(own) as Arc<dyn neuron_types::ToolDyn>]);
    let executor = Executor::builder().tools(tools).build();
    let asked = call(FIND_TOOLS, json!({"text": "spade"}));
    let output = executor.call_tool(&scope(), &asked).await.unwrap();
    assert_eq!(text_of(&output), "in the shed");
}
