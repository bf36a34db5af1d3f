//! `neuron doctor`: finds and prints the settings that a server needs.

use neuron_harness::Aimock;
use serde_json::{Value, json};

use crate::support::Home;

fn home(kind: &str, url: &str) -> Home {
    let home = Home::new();
    home.write(
        "neuron.toml",
        &format!(
            "[providers.fake]\nkind = {kind:?}\nbase_url = {url:?}\napi_key_env = \"FAKE_KEY\"\n\n\
             [agents.default]\nmodel = \"fake/some-model\"\n"
        ),
    );
    home
}

fn aimock() -> Aimock {
    let call = |city: &str| json!({"name": "population", "arguments": {"city": city}});
    Aimock::start(&json!({"fixtures": [
        {"match": {"userMessage": "Call population for", "hasToolResult": true}, "response": {"content": "2100000"}},
        {"match": {"userMessage": "both calls"}, "response": {"toolCalls": [call("Paris"), call("Rome")]}},
        {"match": {"userMessage": "Call population for Paris."}, "response": {"toolCalls": [call("Paris")]}},
        {"match": {"userMessage": "keys city"}, "response": {"content": "{\"city\":\"Paris\",\"inhabitants\":2100000}"}},
        {"match": {"userMessage": "Which colour"}, "response": {"content": "Red."}},
        {"match": {"userMessage": "pong"}, "response": {"content": "pong"}},
    ]}))
}

#[test]
fn an_independent_fake_is_looked_at_on_every_api() {
    let aimock = aimock();
    for (kind, path) in [
        ("openai-chat", "/v1"),
        ("openai-responses", "/v1"),
        ("anthropic", ""),
        ("ollama", ""),
    ] {
        let mut home = home(kind, &format!("{}{path}", aimock.url()));
        home.set("FAKE_KEY", "secret-key-of-this-test");
        let args = ["doctor", "--provider", "fake", "--json"];
        let done = home.neuron(&args);
        let done = done.says("asking fake/some-model at http://127.0.0.1:");
        let done = done.says("at most 12 small requests");
        let report: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(report["ok"], true, "{kind}: {report:#}");
        let checks = report["checks"].as_array().unwrap();
        assert_eq!(checks.len(), 13, "{kind}: {report:#}");
        for check in checks {
            let verdict = check["verdict"].as_str().unwrap();
            assert!(["ok", "differs"].contains(&verdict), "{kind}: {report:#}");
        }
        assert_eq!(report["requests"], 10, "{kind}: {report:#}");
        done.exits(0);

        let done = home.neuron(&args[..3]);
        assert!(
            done.stdout
                .contains("ok             two calls       2 calls"),
            "{}",
            done.stdout
        );
        assert!(
            done.stdout
                .ends_with("agents work with it as it is set up\n"),
            "{}",
            done.stdout
        );
        done.exits(0);
    }
}

#[test]
fn a_server_that_is_not_there_is_asked_once() {
    let mut home = home("openai-chat", "http://127.0.0.1:1/v1");
    home.set("FAKE_KEY", "secret-key-of-this-test");
    let done = home.neuron(&["doctor", "--provider", "fake", "--json"]);
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(report["ok"], false);
    assert_eq!(report["requests"], 1);
    assert_eq!(report["checks"][0]["verdict"], "fails");
    assert_eq!(report["checks"][1]["verdict"], "not_asked");
    assert!(!done.stdout.contains("secret-key"), "{}", done.stdout);
    done.exits(1);
}

#[test]
fn what_cannot_be_asked_is_an_error_before_anything_is() {
    let home = home("openai-chat", "http://127.0.0.1:1/v1");
    home.neuron(&["doctor", "--provider", "fake"])
        .exits(2)
        .says("the provider fake has no key: set the variable FAKE_KEY");
    home.neuron(&["doctor", "--provider", "fkae"])
        .exits(2)
        .says("did you mean \"fake\"?");
    home.neuron(&["doctor", "--provider", "demo"])
        .exits(2)
        .says("the provider demo has no server");
    home.neuron(&["doctor"]).exits(2).says("--provider");
}
