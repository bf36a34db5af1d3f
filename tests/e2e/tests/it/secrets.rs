//! A key stays in the environment.

use neuron_harness::{FakeModel, Reply, World, chat, holders};
use serde_json::json;

/// The key has no form that could be recognised by itself.
const KEY: &str = "correct-horse-battery-staple";

fn run_with_key_in(variable: &str) {
    let model = FakeModel::start(|request| {
        let reply = match (request.number, chat::turn(&request.body)) {
            // One answer quotes the key that it rejects, and one fails because of the key.
            (1, _) => chat::error("server_error", &format!("Cannot use {KEY} now.")),
            (_, 1) => chat::calls(&[
                ("call_1", "bash", json!({"command": "env; echo done"})),
                (
                    "call_2",
                    "bash",
                    json!({"command": "printenv | sort; false"}),
                ),
            ]),
            (_, 2) => chat::text("That is the environment."),
            _ => chat::error("invalid_api_key", &format!("Incorrect API key: {KEY}")),
        };
        Reply::status(if request.number == 1 { 500 } else { 200 }, reply)
    });
    let mut world = World::new();
    world.set(variable, KEY);
    world.set("RUST_LOG", "trace");
    world.write(
        "neuron.toml",
        &format!(
            "[providers.fake]\nkind = \"openai-chat\"\nbase_url = \"{}/v1\"\n\
             api_key_env = \"{variable}\"\n\n[agents.default]\nmodel = \"fake/fake-1\"\n\
             tools = [\"bash\"]\n\n[agents.default.retry]\ninitial = \"10ms\" # Only so that it does not take long.\n",
            model.url()
        ),
    );

    let run = world
        .neuron(&["run", "Show me.", "--id", "shown", "-v"])
        .exits(0);

    let requests = model.requests();
    assert_eq!(
        requests[0].headers["authorization"],
        format!("Bearer {KEY}")
    );
    let results = chat::tool_results(&requests.last().unwrap().body);
    assert!(
        results[0].1.contains("PATH="),
        "the commands ran: {results:?}"
    );
    for request in &requests {
        assert!(
            !request.body.to_string().contains(KEY),
            "the model got the key"
        );
    }
    let shown = [
        run,
        world.neuron(&["events", "shown", "--json"]),
        world.neuron(&["events", "shown"]),
        world.neuron(&["status", "shown", "--json"]),
        world.neuron(&["wait", "shown", "--json"]),
        world.neuron(&["agents", "--json"]),
        world.neuron(&["runs", "--json"]),
    ];
    for shown in shown {
        assert!(!shown.stdout.contains(KEY), "{shown:#?}");
        assert!(!shown.stderr.contains(KEY), "{shown:#?}");
    }
    assert_eq!(holders(&world.home(), KEY), Vec::<String>::new());
}

#[test]
fn a_key_is_nowhere_but_in_the_header() {
    run_with_key_in("OPENAI_API_KEY");
}

#[test]
fn a_key_in_a_variable_of_any_name_is_nowhere_but_in_the_header() {
    run_with_key_in("MY_MODEL_LOGIN");
}

#[test]
fn a_key_that_the_server_quotes_back_is_blanked() {
    let body = chat::error(
        "invalid_api_key",
        &format!("Incorrect API key provided: {KEY}."),
    );
    let model = FakeModel::start(move |_| Reply::status(401, body.clone()));
    let mut world = World::new();
    world.set("OPENAI_API_KEY", KEY);
    world.set("OPENAI_BASE_URL", format!("{}/v1", model.url()));

    let run = world
        .neuron(&["run", "Go.", "--id", "shown", "--json", "-v"])
        .exits(1);

    assert_eq!(run.json()["error"]["kind"], "authentication");
    assert!(
        !run.stdout.contains(KEY) && !run.stderr.contains(KEY),
        "{run:#?}"
    );
    assert_eq!(holders(&world.home(), KEY), Vec::<String>::new());
}

#[test]
fn a_key_in_the_agent_file_is_refused_and_not_shown() {
    let world = World::new();
    world.write(
        "neuron.toml",
        &format!(
            "[providers.mine]\nkind = \"openai-chat\"\napi_key = \"{KEY}\"\n\n\
             [agents.default]\nmodel = \"mine/one\"\n"
        ),
    );

    let run = world.neuron(&["run", "Go."]).exits(2);

    run.says(&["neuron.toml", "3", "api_key", "api_key_env"]);
    assert!(!run.stderr.contains(KEY), "{run:#?}");
}
