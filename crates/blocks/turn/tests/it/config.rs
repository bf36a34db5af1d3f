use neuron_turn::{TurnConfig, TurnInput};
use neuron_types::{AgentSpec, OnHalt, RetryPolicy, SystemBlock, SystemPrompt, ToolDefinition};
use proptest::prelude::*;

fn addendum(text: &str) -> TurnInput {
    TurnInput::text("Hi.").config(TurnConfig {
        system_addendum: Some(text.to_owned()),
        ..TurnConfig::default()
    })
}

#[test]
fn without_overrides_only_retries_and_questions_are_other() {
    let mut agent = AgentSpec {
        on_limit: OnHalt::Ask,
        on_failure: OnHalt::Ask,
        ..AgentSpec::default()
    };
    let of_turn = TurnInput::text("Hi.").agent(&agent);
    let once = RetryPolicy {
        maximum_attempts: 1,
        ..RetryPolicy::default()
    };
    agent.on_limit = OnHalt::End;
    agent.on_failure = OnHalt::End;
    agent.retry = once.clone();
    agent.model_retry = Some(once);
    assert_eq!(of_turn, agent);
}

#[test]
fn an_addendum_follows_the_prompt_on_a_line_of_its_own() {
    let mut agent = AgentSpec::default();
    let system = |agent: &AgentSpec| addendum("Be brief.").agent(agent).head.system.clone();
    assert_eq!(system(&agent), Some(SystemPrompt::Text("Be brief.".into())));

    agent.head_mut().system = Some(SystemPrompt::Text("You help.".into()));
    let whole = SystemPrompt::Text("You help.\nBe brief.".into());
    assert_eq!(system(&agent), Some(whole));

    let block = |text: &str| SystemBlock {
        text: text.to_owned(),
        cache_control: None,
    };
    agent.head_mut().system = Some(SystemPrompt::Blocks(vec![block("You help.")]));
    let whole = SystemPrompt::Blocks(vec![block("You help."), block("\nBe brief.")]);
    assert_eq!(system(&agent), Some(whole));
}

#[test]
fn a_model_is_named_with_its_provider_or_alone() {
    let mut agent = AgentSpec::default();
    agent.head_mut().provider = Some("anthropic".into());
    agent.head_mut().fallback_models = vec!["openai/gpt".into()];
    let of_model = |model: &str| {
        let input = TurnInput::text("Hi.").config(TurnConfig {
            model: Some(model.to_owned()),
            ..TurnConfig::default()
        });
        let head = input.agent(&agent).head;
        assert!(head.fallback_models.is_empty());
        (head.provider.clone().unwrap(), head.model.clone())
    };
    assert_eq!(of_model("haiku"), ("anthropic".into(), "haiku".into()));
    assert_eq!(of_model("hub/a/b"), ("hub".into(), "a/b".into()));
}

proptest! {
    #[test]
    fn no_tool_is_offered_that_is_not_allowed(
        has in prop::collection::btree_set("[a-d]", 0..4),
        allowed in prop::collection::vec("[a-d]", 0..4),
    ) {
        let mut agent = AgentSpec::default();
        let tools = has.iter().map(|name| ToolDefinition { name: name.clone(), ..ToolDefinition::default() });
        agent.head_mut().tools = tools.collect();
        let config = TurnConfig { allowed_tools: Some(allowed.clone()), ..TurnConfig::default() };
        let of_turn = TurnInput::text("Hi.").config(config).agent(&agent);
        let offered = of_turn.head.tools.iter().map(|tool| &tool.name);
        let expected = has.iter().filter(|name| allowed.contains(name));
        prop_assert!(offered.eq(expected));
    }
}
