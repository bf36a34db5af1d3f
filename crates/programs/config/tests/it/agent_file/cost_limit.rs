use neuron_config::AgentFile;

#[test]
fn the_list_lets_an_agent_have_a_cost_limit() {
    let limited = |provider: &str, more: &str| {
        let text = format!(
            "{more}\n[agents.default]\nmodel = \"{provider}\"\n[agents.default.limits]\ncost_usd = \"5.00\"\n"
        );
        AgentFile::parse(&text, "neuron.toml").map_err(|error| error.to_string())
    };
    assert!(limited("openai/gpt-6.1-terra", "").is_ok());
    assert!(limited("anthropic/claude-opus-5-5", "").is_ok());
    let mine =
        "[providers.mine]\nkind = \"openai-chat\"\nbase_url = \"https://api.openai.com/v1\"\n";
    assert!(limited("mine/gpt-6-sol", mine).is_ok());
    // Somebody else's server may charge anything.
    let theirs = mine.replace("api.openai.com", "api.openai.com.example.org");
    assert!(
        limited("mine/gpt-6-sol", &theirs)
            .unwrap_err()
            .contains("price of mine/gpt-6-sol")
    );
    let hour = "[providers.anthropic]\ncache = \"1h\"\n";
    assert!(limited("anthropic/claude-opus-5-5", hour).is_err());
}
