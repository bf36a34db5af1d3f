use neuron_config::{AgentFile, AgentFileError};

use super::{open, variables};

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
    // The server of another company may charge anything.
    let theirs = mine.replace("api.openai.com", "api.openai.com.example.org");
    assert!(
        limited("mine/gpt-6-sol", &theirs)
            .unwrap_err()
            .contains("price of mine/gpt-6-sol")
    );
    let hour = "[providers.anthropic]\ncache = \"1h\"\n";
    assert!(limited("anthropic/claude-opus-5-5", hour).is_err());
}

#[test]
fn a_price_with_a_star_is_that_of_all_models_that_begin_so() {
    let limited = |model: &str| {
        let text = format!(
            "[agents.default]\nmodel = \"openai/{model}\"\n[agents.default.limits]\ncost_usd = \"5.00\"\n\
             [prices.\"openai/gpt-5*\"]\ninput = 1\noutput = 2\n[prices.\"openai/o3\"]\ninput = 1\noutput = 2\n"
        );
        AgentFile::parse(&text, "neuron.toml").map_err(|error| error.to_string())
    };
    for model in [
        "gpt-5",
        "gpt-5-mini",
        "gpt-5.4-2026-03-05",
        "o3",
        "o3-latest",
    ] {
        assert!(limited(model).is_ok(), "{model}");
    }
    for model in ["gpt-4o", "o3-pro"] {
        let problem = limited(model).unwrap_err();
        assert!(
            problem.contains("is not known and not in the price list of 2"),
            "{problem}"
        );
    }
}

#[test]
fn every_model_of_a_list_needs_a_price() {
    let list = |second: &str| {
        let text = format!(
            "[agents.default]\nmodel = [\"openai/gpt-6.1-terra\", \"{second}\"]\nlimits = {{ cost_usd = \"5.00\" }}\n"
        );
        AgentFile::parse(&text, "neuron.toml").map_err(|error| error.to_string())
    };
    assert!(list("anthropic/claude-opus-5-5").is_ok());
    let problem = list("anthropic/claude-nobody").unwrap_err();
    assert!(
        problem.contains("price of anthropic/claude-nobody is not known"),
        "{problem}"
    );
}

const LIMITED: &str =
    "[agents.a]\nmodel = \"openai/gpt-6.1-terra\"\nlimits = { cost_usd = \"5.00\" }\n";

/// Returns why no executor of the agent is made, if none is.
fn refused(
    text: &str,
    environment: &'static [(&'static str, &'static str)],
) -> Option<AgentFileError> {
    let agents = open(text, ".", variables(environment));
    let agent = agents.agent("a").unwrap();
    agents.executor(&agent).err()
}

#[test]
fn a_server_that_the_environment_names_has_no_price_that_a_limit_could_be_kept_with() {
    let vendor = &[("OPENAI_API_KEY", "k")];
    assert!(refused(LIMITED, vendor).is_none());
    let elsewhere = &[
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", "https://gateway.example.org/v1"),
    ];
    let error = refused(LIMITED, elsewhere).unwrap();
    assert!(matches!(error, AgentFileError::UnknownPrice { .. }));
    assert_eq!(
        error.to_string(),
        "the agent a cannot be used here: its limit cost_usd cannot be enforced, because the price of \
         openai/gpt-6.1-terra \
         is not known at the address in OPENAI_BASE_URL: add [prices.\"openai/gpt-6.1-terra\"] to the agent file"
    );
    let priced = format!(
        "{LIMITED}\n[prices.\"openai/gpt-6.1-terra\"]\ninput = \"1.00\"\noutput = \"5.00\"\n"
    );
    assert!(refused(&priced, elsewhere).is_none());
    let unlimited = "[agents.a]\nmodel = \"openai/gpt-6.1-terra\"\n";
    assert!(refused(unlimited, elsewhere).is_none());
}

#[test]
fn terms_that_no_list_is_about_are_refused_with_a_limit() {
    let priority = format!("{LIMITED}extra = {{ service_tier = \"priority\" }}\n");
    let error = refused(&priority, &[("OPENAI_API_KEY", "k")]).unwrap();
    let said = error.to_string();
    assert!(
        said.contains("not known on the terms that the agent asks for"),
        "{said}"
    );
}

#[test]
fn every_agent_that_counts_for_a_limit_needs_a_price() {
    let file = |lead: &str, reader: &str| {
        let text = format!(
            "[agents.lead]\nmodel = \"openai/gpt-6.1-terra\"\n{lead}\n\
             [agents.helper]\nmodel = \"openai/gpt-6.1-terra\"\nhandoffs = [\"reader\"]\n\
             [agents.reader]\nmodel = \"{reader}\"\n"
        );
        AgentFile::parse(&text, "neuron.toml").map_err(|error| error.to_string())
    };
    let limited = "subagents = [\"helper\"]\nlimits = { cost_usd = 3 }";
    assert!(file(limited, "anthropic/claude-opus-5-5").is_ok());
    let problem = file(limited, "anthropic/claude-nobody").unwrap_err();
    assert!(problem.contains("neuron.toml:4: cost_usd in"), "{problem}");
    assert!(
        problem.contains("its runs may be handed over to the agent reader, and the price of anthropic/claude-nobody \
             is not known"),
        "{problem}"
    );
    let entry = "subagents = [{ name = \"helper\", limits = { cost_usd = 3 } }]";
    assert!(file(entry, "anthropic/claude-opus-5-5").is_ok());
    let problem = file(entry, "anthropic/claude-nobody").unwrap_err();
    assert!(problem.contains("limits the cost of helper"), "{problem}");
    assert!(file("subagents = [\"helper\"]", "anthropic/claude-nobody").is_ok());
}
