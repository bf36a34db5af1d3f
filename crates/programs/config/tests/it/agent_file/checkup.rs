//! The settings that a server needs are found, and suffice.

use std::time::Duration;

use neuron_config::{AgentFile, Examined, OpenOptions, Verdict};
use serde_json::{Value, json};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate, matchers::any};

use super::variables;

const LONG: Duration = Duration::from_secs(600); // Longer than any answer takes.

/// A server of Chat Completions below `/v1` that accepts no fields but its own.
#[derive(Debug, Clone, Copy)]
struct Picky {
    /// The fields that it rejects.
    refuses: &'static [&'static str],
    /// The role under which it rejects instructions.
    role: &'static str,
    /// Whether it says why an answer ended.
    says_end: bool,
}

const PLAIN: Picky = Picky {
    refuses: &[],
    role: "none",
    says_end: true,
};

impl Respond for Picky {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        if request.url.path() != "/v1/chat/completions" {
            return ResponseTemplate::new(404).set_body_string("<html>no such page</html>");
        }
        let body: Value = request.body_json().unwrap();
        let refused = |why: String| {
            ResponseTemplate::new(400).set_body_json(json!({"error": {"message": why}}))
        };
        let mut fields = self.refuses.iter();
        if let Some(field) = fields.find(|field| body.get(**field).is_some()) {
            return refused(format!("unknown field {field}"));
        }
        if body["messages"][0]["role"] == self.role {
            return refused(format!("unknown role {}", self.role));
        }
        let text = body.to_string();
        let end = |end: &str| {
            if self.says_end {
                json!(end)
            } else {
                Value::Null
            }
        };
        let calls = |cities: &[&str]| {
            let calls = cities.iter().enumerate().map(|(place, city)| {
                let arguments = json!({"city": city}).to_string();
                let function = json!({"name": "population", "arguments": arguments});
                json!({"index": place, "id": format!("{city}{}", text.len()), "function": function})
            });
            (
                json!({"tool_calls": calls.collect::<Vec<_>>()}),
                end("tool_calls"),
            )
        };
        let words = |words: &str| (json!({"content": words}), end("stop"));
        let (message, end) = match () {
            () if text.contains("\"tool\"") => words("2100000"),
            () if text.contains("both calls") => calls(&["Paris", "Rome"]),
            () if text.contains("Call population") => calls(&["Paris"]),
            () if text.contains("keys city") => words("{\"city\":\"Paris\",\"inhabitants\":1}"),
            () if text.contains("image_url") => words("red"),
            () => words("pong"),
        };
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 2});
        if body["stream"] == true {
            let choices = json!([{"index": 0, "delta": message, "finish_reason": end}]);
            let events = [
                json!({"choices": choices}),
                json!({"choices": [], "usage": usage}),
            ];
            let events = events.map(|event| format!("data: {event}\n\n")).concat();
            return ResponseTemplate::new(200)
                .set_body_raw(events + "data: [DONE]\n\n", "text/event-stream");
        }
        ResponseTemplate::new(200).set_body_json(json!({
            "choices": [{"index": 0, "message": message, "finish_reason": end}], "usage": usage,
        }))
    }
}

async fn examined(table: &str) -> Examined {
    let text = format!("[providers.p]\n{table}\n[agents.a]\nmodel = \"p/some-model\"");
    let file = AgentFile::parse(&text, "neuron.toml").unwrap();
    let options = OpenOptions::new(".").environment(variables(&[]));
    let checkup = file.checkup("p", None, options).unwrap();
    assert_eq!(checkup.model(), "some-model");
    checkup.examine(LONG, |_| ()).await.unwrap()
}

/// Returns the settings that a server needs, after checking that they suffice.
async fn needed(picky: Picky, kind: &str, path: &str) -> Vec<String> {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(picky).mount(&server).await;
    let place = [
        format!("kind = {kind:?}"),
        format!("base_url = \"{}{path}\"", server.uri()),
    ];
    let first = examined(&place.join("\n")).await;
    if first.settings.is_empty() {
        assert!(first.is_fine(), "{first:#?}");
        return Vec::new();
    }
    assert!(!first.is_fine(), "{first:#?}");
    let key = |line: &String| line.split(" = ").next().unwrap().to_owned();
    let changed: Vec<String> = first.settings.iter().map(key).collect();
    let kept = place
        .into_iter()
        .filter(|line| !changed.contains(&key(line)));
    let table: Vec<String> = kept.chain(first.settings.clone()).collect();
    let second = examined(&table.join("\n")).await;
    assert!(
        second.is_fine() && second.settings.is_empty(),
        "{second:#?}"
    );
    let fails = |verdict| matches!(verdict, Verdict::Fails | Verdict::NotAsked);
    assert!(
        second.findings.iter().all(|it| !fails(it.verdict)),
        "{second:#?}"
    );
    let uri = server.uri();
    let lines = first.settings.iter();
    lines.map(|line| line.replace(&uri, "URL")).collect()
}

#[tokio::test]
async fn a_server_that_takes_the_defaults_needs_none() {
    assert_eq!(needed(PLAIN, "openai-chat", "/v1").await, [""; 0]);
}

#[tokio::test]
async fn each_field_that_is_refused_has_its_setting() {
    let fields: [(&'static [&'static str], &str); 2] = [
        (
            &["max_tokens"],
            "token_limit_field = \"max_completion_tokens\"",
        ),
        (&["stream_options"], "stream_usage = false"),
    ];
    for (refuses, setting) in fields {
        let picky = Picky { refuses, ..PLAIN };
        assert_eq!(needed(picky, "openai-chat", "/v1").await, [setting]);
    }
    let picky = Picky {
        role: "system",
        ..PLAIN
    };
    let settings = needed(picky, "openai-chat", "/v1").await;
    assert_eq!(settings, ["system_role = \"developer\""]);
}

#[tokio::test]
async fn several_that_are_refused_are_found_together() {
    let picky = Picky {
        refuses: &["max_tokens", "stream_options"],
        ..PLAIN
    };
    let settings = needed(picky, "openai-chat", "/v1").await;
    let expected = [
        "token_limit_field = \"max_completion_tokens\"",
        "stream_usage = false",
    ];
    assert_eq!(settings, expected);
}

#[tokio::test]
async fn several_that_one_request_needs_are_found_together() {
    let picky = Picky {
        refuses: &["max_tokens"],
        role: "system",
        ..PLAIN
    };
    let settings = needed(picky, "openai-chat", "").await;
    let expected = [
        "base_url = \"URL/v1\"",
        "token_limit_field = \"max_completion_tokens\"",
        "system_role = \"developer\"",
    ];
    assert_eq!(settings, expected);
}

#[tokio::test]
async fn ends_that_are_not_said_are_done_without() {
    let picky = Picky {
        says_end: false,
        ..PLAIN
    };
    let settings = needed(picky, "openai-chat", "/v1").await;
    assert_eq!(settings, ["done_suffices = true"]);
}

#[tokio::test]
async fn a_wrong_address_or_kind_is_corrected() {
    let settings = needed(PLAIN, "openai-chat", "").await;
    assert_eq!(settings, ["base_url = \"URL/v1\""]);
    let settings = needed(PLAIN, "openai-chat", "/v1/chat/completions").await;
    assert_eq!(settings, ["base_url = \"URL/v1\""]);
    let settings = needed(PLAIN, "openai-responses", "/v1").await;
    assert_eq!(settings, ["kind = \"openai-chat\""]);
    let settings = needed(PLAIN, "openai-responses", "").await;
    assert_eq!(
        settings,
        ["kind = \"openai-chat\"", "base_url = \"URL/v1\""]
    );
}

#[test]
fn what_cannot_be_asked_is_said() {
    let text = "[agents.a]\nmodel = \"demo/demo\"\n[agents.b]\n\
                model = [\"demo/demo\", \"anthropic/small\"]";
    let file = AgentFile::parse(text, "neuron.toml").unwrap();
    let checkup = |provider, model| {
        let options = OpenOptions::new(".").environment(variables(&[]));
        let checkup = file.checkup(provider, model, options);
        checkup.map(|checkup| checkup.model().to_owned())
    };
    let error = |provider| checkup(provider, None).unwrap_err().to_string();
    assert!(
        error("opnai").contains("did you mean \"openai\"?"),
        "{}",
        error("opnai")
    );
    assert!(error("demo").starts_with("the provider demo has no server"));
    assert!(error("openai").ends_with("name one with --model"));
    assert_eq!(checkup("anthropic", None).unwrap(), "small");
    assert_eq!(checkup("openai", Some("openai/a/b")).unwrap(), "a/b");
    assert_eq!(checkup("openai", Some("a/b")).unwrap(), "a/b");
}
