use neuron_config::{AgentFile, OpenOptions};
use neuron_tool::READ_ONLY_TOOLS;

use super::variables;

fn model(set: &'static [(&'static str, &'static str)]) -> String {
    let file = AgentFile::builtin(&variables(set));
    let agent = file.definition("default").unwrap();
    format!(
        "{}/{}",
        agent.head.provider.as_deref().unwrap(),
        agent.head.model
    )
}

#[test]
fn takes_the_first_provider_whose_key_is_set() {
    for (set, expected) in [
        (&[("OPENAI_API_KEY", "k")][..], "openai/gpt-6.1-terra"),
        (
            &[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")],
            "openai/gpt-6.1-terra",
        ),
        (&[("ANTHROPIC_API_KEY", "k")], "anthropic/claude-sonnet-5-5"),
        (
            &[("ANTHROPIC_AUTH_TOKEN", "k")],
            "anthropic/claude-sonnet-5-5",
        ),
        (&[("OPENAI_API_KEY", " ")], "demo/demo"),
        (&[], "demo/demo"),
    ] {
        assert_eq!(model(set), expected, "{set:?}");
    }
}

#[test]
fn has_one_agent_with_the_tools_that_change_nothing() {
    let file = AgentFile::builtin(&variables(&[]));
    assert_eq!(file.definitions().count(), 1);
    let agent = file.definition("default").unwrap();
    let tools: Vec<&str> = agent
        .head
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(tools, READ_ONLY_TOOLS);
    assert!(file.is_demo(agent));
    let options = OpenOptions::new(".").environment(variables(&[]));
    assert!(file.check("default", &options).is_ok());
}

#[test]
fn is_no_demo_with_a_key() {
    let environment = variables(&[("ANTHROPIC_API_KEY", "k")]);
    let file = AgentFile::builtin(&environment);
    assert!(!file.is_demo(file.definition("default").unwrap()));
    let options = OpenOptions::new(".");
    let without = options.clone().environment(variables(&[]));
    assert!(file.check("default", &without).is_err());
    assert!(
        file.check("default", &options.environment(environment))
            .is_ok()
    );
}
