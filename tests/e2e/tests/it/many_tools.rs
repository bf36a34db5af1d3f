//! An MCP server has more tools than a model is sent: it finds the one that it needs, and calls it.

use neuron_harness::{FakeModel, MANY_TOOLS_SERVER, Reply, World, chat};
use serde_json::{Value, json};

/// How large the tools of the first request are at most.
const MOST_BYTES: usize = 8_000;

const FOUND: &str = "many__count_parcels_of_2023";

/// The names of the tools of a request.
fn names(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect()
}

#[test]
fn a_tool_of_400_is_found_and_called() {
    let model = FakeModel::start(|request| {
        Reply::ok(match chat::turn(&request.body) {
            1 => {
                let query = json!({"query": "count the parcels of 2023"});
                chat::calls(&[("call_1", "find_tools", query)])
            }
            2 => chat::calls(&[("call_2", FOUND, json!({"customer": "Ada"}))]),
            _ => chat::text("Counted."),
        })
    });
    let world = World::new();
    let agent = format!(
        "tools = [\"read_file\", \"mcp:many\"]\n\n[mcp.many]\ncommand = [\"node\", {MANY_TOOLS_SERVER:?}]\nsandbox = \"off\"\n"
    );
    world.write("neuron.toml", &model.agent_file(&agent));
    let listed = world.neuron(&["mcp", "list", "--json"]).exits(0).json();
    assert_eq!(listed[0]["tools"].as_array().unwrap().len(), 400);

    let run = ["run", "How many parcels?", "--id", "many", "--json"];
    let output = world.neuron(&run).exits(0).json();
    assert_eq!(output["output"], "Counted.");

    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    let [first, second, third] = [0, 1, 2].map(|turn: usize| names(&requests[turn].body));
    assert_eq!(first, ["read_file", "find_tools"]);
    let bytes = requests[0].body["tools"].to_string().len();
    assert!(bytes <= MOST_BYTES, "{bytes} bytes");
    assert!(second.contains(&FOUND), "{second:?}");
    assert!(second.len() < 20, "{second:?}");
    assert_eq!(third, second, "what is loaded stays");

    let results = chat::tool_results(&requests[2].body);
    let [(found, what), (called, answer)] = results.as_slice() else {
        panic!("{results:?}");
    };
    assert_eq!([found, called], ["call_1", "call_2"]);
    assert!(what.contains(FOUND), "{what}");
    assert!(answer.contains("count_parcels_of_2023 for Ada"), "{answer}");
    let ended = &world.events_of("many", "run_ended")[0];
    assert_eq!(ended["exit_reason"], "complete");
}
