//! `neuron agents`

use crate::support::Home;

const FILE: &str = r#"
[providers.house]
kind = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
api_key_env = "HOUSE_KEY"

[agents.default]
model = "house/some-model"
tools = ["read_file", "bash"]
ask = ["bash"]

[agents.toy]
model = "demo/demo"
"#;

#[test]
fn lists_agents_and_says_which_variables_are_missing() {
    let home = Home::new();
    home.write("neuron.toml", FILE);
    let agents = home.neuron(&["agents", "--json"]).exits(0).json();
    insta::assert_json_snapshot!(agents);
    let text = home.neuron(&["agents"]).exits(0).stdout;
    insta::assert_snapshot!(text);
}

#[test]
fn prints_the_schema_of_agent_files_without_one() {
    let home = Home::new();
    home.write("neuron.toml", "no agent file");
    let schema = home.neuron(&["agents", "--schema"]).exits(0).json();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    let agent = &schema["properties"]["agents"]["additionalProperties"];
    assert!(agent["properties"]["model"]["description"].is_string());
    assert_eq!(agent["additionalProperties"], false);
    let line = home.neuron(&["agents", "--schema", "--json"]).exits(0);
    assert_eq!(line.stdout.lines().count(), 1);
    assert_eq!(line.json(), schema);
}

#[test]
fn an_agent_is_ready_when_its_key_is_set_and_the_key_is_not_shown() {
    let home = Home::new();
    home.write("neuron.toml", FILE);
    let output = home
        .command(&["agents", "--json", "-v"])
        .env("HOUSE_KEY", "hush-hush")
        .output()
        .unwrap();
    let agents: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(agents[0]["ready"], true);
    for printed in [output.stdout, output.stderr] {
        assert!(!String::from_utf8(printed).unwrap().contains("hush-hush"));
    }
}

#[test]
fn without_a_file_there_is_one_agent() {
    let home = Home::new();
    let agents = home.neuron(&["agents", "--json"]).exits(0).json();
    assert_eq!(agents[0]["name"], "default");
    assert_eq!(agents[0]["model"], "demo/demo");
}
