//! The model APIs against an independent fake that breaks its answers, and that judges how clients handle them.

use std::time::Duration;

use futures::StreamExt as _;
use neuron_flow::{Jitter, next_delay};
use neuron_harness::{Aimock, Llmock, World};
use neuron_provider_anthropic::Anthropic;
use neuron_provider_ollama::Ollama;
use neuron_provider_openai::{OpenAiChat, OpenAiResponses};
use neuron_types::{
    CompletionRequest, CompletionResponse, ContentBlock, DynProvider, Message, RequestHead,
    RetryPolicy, RunId, StepFailure, StepId, StreamEvent, ToolEffects,
};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy)]
struct Wire {
    kind: &'static str,
    base_path: &'static str,
}

const WIRES: [Wire; 3] = [
    Wire {
        kind: "openai-chat",
        base_path: "/v1",
    },
    Wire {
        kind: "openai-responses",
        base_path: "/v1",
    },
    Wire {
        kind: "anthropic",
        base_path: "/anthropic",
    },
];

/// How long a stream that continues may be silent.
const LONG: Duration = Duration::from_secs(24 * 60 * 60); // Nothing ends by it.

impl Wire {
    fn world(self, llmock: &Llmock) -> World {
        let mut world = World::new();
        world.set("A_KEY", "test-key-of-this-run");
        world.write("one.txt", "first note\n");
        world.write(
            "neuron.toml",
            &format!(
                "[providers.fake]\nkind = \"{}\"\nbase_url = \"{}{}\"\napi_key_env = \"A_KEY\"\n\n\
                 [agents.default]\nmodel = \"fake/some-model\"\ntools = [\"list_files\"]\n\n\
                 [agents.default.retry]\nattempts = 5\ninitial = \"100ms\" # Only so that it does not take long.\n",
                self.kind,
                llmock.url(),
                self.base_path
            ),
        );
        world
    }

    /// Returns a client that accepts this much silence in a stream.
    fn client(self, server: &str, idle: Duration) -> Box<dyn DynProvider> {
        let url = format!("{server}{}", self.base_path);
        match self.kind {
            "ollama" => {
                let builder = Ollama::builder().base_url(url);
                Box::new(builder.idle_timeout(idle).build().unwrap())
            }
            "openai-chat" => {
                let builder = OpenAiChat::builder().base_url(url).api_key("a-test-key");
                Box::new(builder.idle_timeout(idle).build().unwrap())
            }
            "openai-responses" => {
                let builder = OpenAiResponses::builder()
                    .base_url(url)
                    .api_key("a-test-key");
                Box::new(builder.idle_timeout(idle).build().unwrap())
            }
            _ => {
                let builder = Anthropic::builder().base_url(url).api_key("a-test-key");
                Box::new(builder.idle_timeout(idle).build().unwrap())
            }
        }
    }
}

#[test]
fn a_run_waits_as_it_is_told_and_backs_off_otherwise() {
    for wire in WIRES {
        let llmock = Llmock::start();
        llmock.behave(&json!([
            {"type": "fail", "status": 429, "retry_after": 1.2},
            {"type": "fail", "status": 500},
            {"type": "fail", "status": 503},
        ]));
        let world = wire.world(&llmock);

        let run = world.neuron(&["run", "List the files.", "--json"]).exits(0);

        let output = run.json();
        assert_eq!(output["state"], "completed", "{wire:?} {output}");
        assert_ne!(output["output"], "");
        assert_eq!(output["turns"], 2, "one call of a tool, then the answer");
        assert_eq!(llmock.requests(), 5);
        llmock.finds_nothing_wrong();
    }
}

#[test]
fn a_run_gives_up_at_once_where_asking_again_is_no_use() {
    for wire in WIRES {
        let llmock = Llmock::start();
        for (asked, status) in (1..).zip([400, 401, 403, 404, 422]) {
            llmock.behave(&json!([{"type": "fail", "status": status}]));
            let world = wire.world(&llmock);
            let run = world
                .neuron(&["run", &format!("Prompt {status}"), "--json"])
                .exits(1);
            assert_eq!(run.json()["state"], "failed", "{wire:?} {status}");
            assert_eq!(llmock.requests(), asked, "{wire:?} {status}");
        }
        llmock.finds_nothing_wrong();
    }
}

/// Asks until there is an answer, as the doors do. Returns the answer with the number of attempts.
async fn streamed(
    client: &dyn DynProvider,
    request: &CompletionRequest,
) -> (CompletionResponse, u32) {
    let policy = RetryPolicy {
        initial_interval: Duration::from_millis(100), // Only so that it does not take long.
        ..RetryPolicy::default()
    };
    let jitter = Jitter::new(&RunId::new("streamed").unwrap(), None, StepId::new(1, 0));
    let mut attempt = 1;
    loop {
        let error = match client.complete_stream_dyn(request).await {
            Err(error) => error,
            Ok(stream) => match stream.receiver.collect::<Vec<_>>().await.pop() {
                Some(StreamEvent::MessageComplete(response)) => return (*response, attempt),
                Some(StreamEvent::Error(error)) => error,
                other => panic!("the stream ended with {other:?}"),
            },
        };
        let failure = StepFailure::from(error);
        let delay = next_delay(&policy, ToolEffects::Idempotent, &jitter, attempt, &failure);
        let delay = delay.unwrap_or_else(|| panic!("given up: {failure:?}"));
        tokio::time::sleep(delay).await; // As a door would.
        attempt += 1;
    }
}

async fn a_broken_stream_is_asked_for_again(faults: &Value) {
    for (wire, attempts) in attempts_at_a_broken_stream(faults, LONG).await {
        assert_eq!(attempts, 2, "{wire:?}");
    }
}

/// Returns how many attempts each client needs, with this limit of a stream's silence.
async fn attempts_at_a_broken_stream(faults: &Value, idle: Duration) -> Vec<(Wire, u32)> {
    let mut needed = Vec::new();
    for wire in WIRES {
        let llmock = Llmock::start();
        let client = wire.client(&llmock.url(), idle);
        let request = CompletionRequest::new(
            RequestHead {
                model: "some-model".into(),
                max_tokens: Some(100),
                ..RequestHead::default()
            },
            vec![Message::user("Tell me something.")],
        );
        let whole = client.complete_dyn(&request).await.unwrap();
        llmock.behave(faults);

        let (answer, attempts) = streamed(&*client, &request).await;

        needed.push((wire, attempts));
        assert_eq!(answer.message.text(), whole.message.text(), "{wire:?}");
        assert_eq!(answer.stop_reason, whole.stop_reason, "{wire:?}");
        llmock.finds_nothing_wrong();
    }
    needed
}

#[tokio::test]
async fn a_truncated_stream_is_asked_for_again() {
    a_broken_stream_is_asked_for_again(
        &json!([{"type": "stream_fault", "kind": "truncate", "after_chunks": 3}]),
    )
    .await;
}

#[tokio::test]
async fn a_stream_that_is_cut_off_is_asked_for_again() {
    a_broken_stream_is_asked_for_again(
        &json!([{"type": "stream_fault", "kind": "disconnect", "after_chunks": 3}]),
    )
    .await;
}

#[tokio::test]
async fn a_stream_with_a_malformed_event_is_asked_for_again() {
    a_broken_stream_is_asked_for_again(
        &json!([{"type": "stream_fault", "kind": "malformed", "after_chunks": 3}]),
    )
    .await;
}

#[tokio::test]
async fn a_stream_that_stalls_is_given_up_and_asked_for_again() {
    const IDLE: Duration = Duration::from_secs(2); // A slow machine makes more attempts of it.
    let stall = json!([
        {"type": "stream_fault", "kind": "stall", "after_chunks": 3, "stall_seconds": 86_400},
    ]);
    for (wire, attempts) in attempts_at_a_broken_stream(&stall, IDLE).await {
        assert!(attempts >= 2, "{wire:?}");
    }
}

#[tokio::test]
async fn a_stream_is_asked_for_again_when_the_server_says_so() {
    a_broken_stream_is_asked_for_again(
        &json!([{"type": "fail", "status": 429, "retry_after": 0.7}]),
    )
    .await;
}

/// Returns the texts and calls of an answer, without the ids that the fake makes up each time.
fn said(answer: &CompletionResponse) -> Value {
    let calls = answer
        .message
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolUse { name, input, .. } => Some(json!([name, input])),
            _ => None,
        });
    json!([
        answer.message.text(),
        calls.collect::<Vec<_>>(),
        answer.stop_reason,
    ])
}

#[tokio::test]
async fn another_fake_streams_what_it_answers_without_a_stream() {
    let aimock = Aimock::start(&json!({"fixtures": [
        {"match": {"userMessage": "text"}, "response": {"content": "Grüße, 世界 🌍! That is all there is to say."}},
        {"match": {"userMessage": "calls"}, "response": {"content": "Both at once.", "toolCalls": [
            {"name": "get_weather", "arguments": {"city": "Paris"}},
            {"name": "get_weather", "arguments": {"city": "Oslo"}},
        ]}},
    ]}));
    let wires = [
        WIRES[0],
        WIRES[1],
        Wire {
            kind: "anthropic",
            base_path: "",
        },
        Wire {
            kind: "ollama",
            base_path: "",
        },
    ];
    for wire in wires {
        let client = wire.client(&aimock.url(), LONG);
        for prompt in ["text", "calls"] {
            let request = CompletionRequest::new(
                RequestHead {
                    model: "some-model".into(),
                    max_tokens: Some(100),
                    ..RequestHead::default()
                },
                vec![Message::user(prompt)],
            );
            let whole = client.complete_dyn(&request).await.unwrap();
            let (answer, attempts) = streamed(&*client, &request).await;
            assert_eq!(attempts, 1);
            assert_eq!(said(&answer), said(&whole), "{wire:?} {prompt}");
            assert_eq!(
                said(&answer)[1].as_array().unwrap().len(),
                if prompt == "calls" { 2 } else { 0 }
            );
        }
    }
}
