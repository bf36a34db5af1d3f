//! Whole runs against an independent fake of the OpenAI, Anthropic and Ollama APIs.

use neuron_harness::{Aimock, World};
use serde_json::{Value, json};

const PROMPT: &str = "Tidy up the notes.";
const ANSWER: &str = "The notes are tidy.";

/// Returns the fixtures: one call, then three at once, one of them failing, then a write, then the answer.
fn fixtures(api: &Api) -> Value {
    // The APIs count messages differently, so the last result identifies the turn if calls have ids.
    let after = |turn: u32, call: &str, response: Value| {
        let place = if api.calls_have_ids {
            json!({"userMessage": "Tidy up", "toolCallId": call})
        } else {
            json!({"userMessage": "Tidy up", "turnIndex": turn})
        };
        json!({"match": place, "response": response})
    };
    let usage = json!({"input_tokens": 100, "output_tokens": 10});
    json!({"fixtures": [
        {"match": {"userMessage": "Tidy up", "hasToolResult": false}, "response": {
            "content": "I look at what is there.",
            "toolCalls": [{"id": "call_1", "name": "list_files", "arguments": {"path": "."}}],
            "usage": usage,
        }},
        after(1, "call_1", json!({
            "toolCalls": [
                {"id": "call_2", "name": "bash", "arguments": {"command": "sleep 0.3; cat one.txt"}}, // Mostly ends last; the result is the same.
                {"id": "call_3", "name": "read_file", "arguments": {"path": "missing.txt"}},
                {"id": "call_4", "name": "read_file", "arguments": {"path": "two.txt"}},
            ],
            "usage": usage,
        })),
        after(2, "call_4", json!({
            "toolCalls": [{
                "id": "call_5",
                "name": "write_file",
                "arguments": {"path": "both.txt", "content": "first note\nsecond note\n"},
            }],
            "usage": usage,
        })),
        after(3, "call_5", json!({"content": ANSWER, "usage": usage})),
    ]})
}

struct Api {
    kind: &'static str,
    base_path: &'static str,
    request_path: &'static str,
    key_variable: &'static str,
    key_header: &'static str,
    /// Whether the fake's form of this API has ids of calls, and reports usage.
    calls_have_ids: bool,
}

fn a_run_of_several_turns(api: &Api) {
    let aimock = Aimock::start(&fixtures(api));
    let mut world = World::new();
    world.set(api.key_variable, "test-key-of-this-run");
    world.write("one.txt", "first note\n");
    world.write("two.txt", "second note\n");
    world.write(
        "neuron.toml",
        &format!(
            "[providers.fake]\nkind = \"{}\"\nbase_url = \"{}{}\"\napi_key_env = \"{}\"\n\n\
             [agents.default]\nmodel = \"fake/some-model\"\ninstructions = \"You keep notes.\"\n\
             tools = [\"list_files\", \"read_file\", \"write_file\", \"bash\"]\n",
            api.kind,
            aimock.url(),
            api.base_path,
            api.key_variable
        ),
    );

    let run = world
        .neuron(&["run", PROMPT, "--id", "notes", "--json"])
        .exits(0);

    let output = run.json();
    assert_eq!(output["output"], ANSWER);
    assert_eq!(output["turns"], 4);
    // A server that counts nothing reports no usage.
    let (input, written) = if api.calls_have_ids {
        (json!(400), json!(40))
    } else {
        (Value::Null, Value::Null)
    };
    assert_eq!(output["usage"]["input_tokens"], input);
    assert_eq!(output["usage"]["output_tokens"], written);
    assert_eq!(world.read("both.txt"), "first note\nsecond note\n");
    check_requests(api, &aimock.journal());
    check_events(api, &world);
}

/// Checks the requests as aimock parsed them.
fn check_requests(api: &Api, journal: &[Value]) {
    // The abilities of the model are requested, too.
    let journal: Vec<&Value> = journal
        .iter()
        .filter(|entry| entry["path"] != "/api/show")
        .collect();
    assert_eq!(journal.len(), 4, "{journal:#?}");
    let mut conversation: Vec<Value> = Vec::new();
    for (turn, entry) in journal.iter().enumerate() {
        assert_eq!(entry["path"], api.request_path);
        assert_eq!(entry["response"]["status"], 200, "{entry:#}");
        assert!(entry["headers"].get(api.key_header).is_some(), "{entry:#}");
        assert_eq!(entry["body"]["model"], "some-model");
        let messages = entry["body"]["messages"].as_array().unwrap();
        // No part of the conversation is ever changed.
        assert!(
            messages.starts_with(&conversation),
            "turn {}: {entry:#}",
            turn + 1
        );
        conversation.clone_from(messages);
    }

    let mut roles: Vec<&str> = conversation
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .filter(|role| !matches!(*role, "system" | "developer"))
        .collect();
    // In the Responses form a text and each call are items of their own.
    roles.dedup_by(|role, before| *role == "assistant" && *before == "assistant");
    let expected = [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "tool",
        "tool",
        "assistant",
        "tool",
    ];
    assert_eq!(roles, expected, "{conversation:#?}");

    let results: Vec<(&Value, String)> = conversation
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| (&message["tool_call_id"], message["content"].to_string()))
        .collect();
    // The slowest call is the first, and so is its result.
    let expected = [
        ("call_1", "one.txt"),
        ("call_2", "first note"),
        ("call_3", "missing.txt does not exist"),
        ("call_4", "second note"),
        ("call_5", "both.txt"),
    ];
    for ((id, content), (expected_id, part)) in results.iter().zip(expected) {
        if api.calls_have_ids {
            assert_eq!(*id, expected_id, "{results:#?}");
        }
        assert!(content.contains(part), "no {part:?} in {content}");
    }
    let asked = conversation
        .iter()
        .filter_map(|message| message["tool_calls"].as_array())
        .flatten();
    let (ids, names): (Vec<&Value>, Vec<&Value>) = asked
        .map(|call| (&call["id"], &call["function"]["name"]))
        .unzip();
    if api.calls_have_ids {
        assert_eq!(ids, ["call_1", "call_2", "call_3", "call_4", "call_5"]);
    }
    let expected = ["list_files", "bash", "read_file", "read_file", "write_file"];
    assert_eq!(names, expected);
}

fn check_events(api: &Api, world: &World) {
    let of = |kind| world.events_of("notes", kind);
    let asked: Vec<Value> = of("tool_called")
        .into_iter()
        .map(|event| event["call_id"].clone())
        .collect();
    assert_eq!(asked.len(), 5, "{asked:?}");
    if api.calls_have_ids {
        assert_eq!(asked, ["call_1", "call_2", "call_3", "call_4", "call_5"]);
    }
    let finished: Vec<(Value, Value)> = of("tool_finished")
        .into_iter()
        .map(|event| (event["call_id"].clone(), event["is_error"].clone()))
        .collect();
    for (id, is_error) in asked.into_iter().zip([false, false, true, false, false]) {
        let event = (id, json!(is_error));
        assert_eq!(
            finished.iter().filter(|found| **found == event).count(),
            1,
            "{event:?} in {finished:?}"
        );
    }
}

#[test]
fn a_run_of_several_turns_over_chat_completions() {
    a_run_of_several_turns(&Api {
        kind: "openai-chat",
        base_path: "/v1",
        request_path: "/v1/chat/completions",
        key_variable: "OPENAI_API_KEY",
        key_header: "authorization",
        calls_have_ids: true,
    });
}

#[test]
fn a_run_of_several_turns_over_responses() {
    a_run_of_several_turns(&Api {
        kind: "openai-responses",
        base_path: "/v1",
        request_path: "/v1/responses",
        key_variable: "OPENAI_API_KEY",
        key_header: "authorization",
        calls_have_ids: true,
    });
}

#[test]
fn a_run_of_several_turns_over_anthropic_messages() {
    a_run_of_several_turns(&Api {
        kind: "anthropic",
        base_path: "",
        request_path: "/v1/messages",
        key_variable: "ANTHROPIC_API_KEY",
        key_header: "x-api-key",
        calls_have_ids: true,
    });
}

#[test]
fn a_run_of_several_turns_over_ollamas_own_api() {
    a_run_of_several_turns(&Api {
        kind: "ollama",
        base_path: "",
        request_path: "/api/chat",
        key_variable: "OLLAMA_API_KEY",
        key_header: "authorization",
        calls_have_ids: false,
    });
}
