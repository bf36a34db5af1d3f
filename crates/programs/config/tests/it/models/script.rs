use std::time::Duration;

use neuron_config::{ScriptError, ScriptModel};
use neuron_types::{
    CompletionRequest, ContentBlock, ContentItem, FailureKind, Message, Provider, RequestHead,
    Role, StopReason, ToolResultBlock,
};
use serde_json::json;

fn script(turns: &serde_json::Value) -> ScriptModel {
    ScriptModel::parse(&json!({ "turns": turns }).to_string()).unwrap()
}

fn request(messages: Vec<Message>) -> CompletionRequest {
    CompletionRequest::new(RequestHead::new("m"), messages)
}

fn results(answer: &Message) -> Message {
    let content = answer.content.iter().filter_map(|block| match block {
        ContentBlock::ToolUse { id, name, .. } => Some(ContentBlock::ToolResult(ToolResultBlock {
            tool_use_id: id.clone(),
            name: name.clone(),
            content: vec![ContentItem::Text("ok".into())],
            is_error: false,
        })),
        _ => None,
    });
    Message {
        role: Role::User,
        content: content.collect(),
    }
}

#[tokio::test]
async fn answers_with_everything_that_a_turn_says() {
    let model = script(&json!([{
        "text": "Let me look.",
        "tool_calls": [
            { "name": "bash", "input": { "command": "ls" } },
            { "name": "grep", "id": "my-id" },
        ],
        "usage": { "input_tokens": 1200, "output_tokens": 40, "cache_read_tokens": 1000 },
        "cost_usd": "0.01",
    }]));
    let answer = model
        .complete(&request(vec![Message::user("go")]))
        .await
        .unwrap();
    insta::assert_json_snapshot!(answer, @r#"
    {
      "id": "script-1",
      "model": "m",
      "message": {
        "role": "assistant",
        "content": [
          {
            "text": "Let me look."
          },
          {
            "tool_use": {
              "id": "call-1-1",
              "name": "bash",
              "input": {
                "command": "ls"
              }
            }
          },
          {
            "tool_use": {
              "id": "my-id",
              "name": "grep",
              "input": {}
            }
          }
        ]
      },
      "usage": {
        "input_tokens": 1200,
        "output_tokens": 40,
        "cache_read_tokens": 1000,
        "cache_creation_tokens": null,
        "reasoning_tokens": null
      },
      "stop_reason": "tool_use",
      "cost_usd": "0.01"
    }
    "#);
}

#[tokio::test]
async fn stops_for_the_reason_that_a_turn_gives() {
    for (turn, reason) in [
        (json!({"text": "x"}), StopReason::EndTurn),
        (json!({"tool_calls": [{"name": "t"}]}), StopReason::ToolUse),
        (
            json!({"text": "x", "stop_reason": "max_tokens"}),
            StopReason::MaxTokens,
        ),
        (
            json!({"text": "x", "stop_reason": "odd"}),
            StopReason::Other("odd".into()),
        ),
    ] {
        let answer = script(&json!([turn]))
            .complete(&request(vec![]))
            .await
            .unwrap();
        assert_eq!(answer.stop_reason, reason);
    }
}

#[tokio::test]
async fn goes_on_where_the_conversation_is_in_another_process() {
    let turns = json!([
        {"tool_calls": [{"name": "t"}]},
        {"tool_calls": [{"name": "t"}, {"name": "t"}]},
        {"text": "done"},
        {"text": "and more"},
    ]);
    let mut messages = vec![Message::user("go")];
    for expected in ["script-1", "script-2", "script-3"] {
        let answer = script(&turns)
            .complete(&request(messages.clone()))
            .await
            .unwrap();
        assert_eq!(answer.id, expected);
        let results = results(&answer.message);
        messages.extend([answer.message, results]);
    }
    messages.push(Message::user("one more thing"));
    let answer = script(&turns).complete(&request(messages)).await.unwrap();
    assert_eq!(answer.message.text(), "and more");
}

#[tokio::test]
async fn knows_its_turn_in_a_conversation_that_was_cut() {
    let turns = json!([
        {"text": "1"}, {"text": "2"}, {"tool_calls": [{"name": "t"}]}, {"text": "4"}, {"text": "5"},
    ]);
    let third = Message {
        role: Role::Assistant,
        content: vec![ContentBlock::tool_use("call-3-1", "t", json!({}))],
    };
    let mut messages = vec![Message::user("go"), third];
    let answer = script(&turns).complete(&request(messages.clone())).await;
    assert_eq!(answer.unwrap().message.text(), "4");
    messages.extend([Message::assistant("4"), Message::user("more")]);
    let answer = script(&turns).complete(&request(messages)).await;
    assert_eq!(answer.unwrap().message.text(), "5");
}

#[tokio::test]
async fn counts_answers_where_it_made_up_no_ids() {
    let turns = json!([{"tool_calls": [{"name": "t", "id": "call-me"}]}, {"text": "2"}]);
    let model = script(&turns);
    let first = model.complete(&request(vec![])).await.unwrap().message;
    let messages = vec![Message::user("go"), first];
    let answer = model.complete(&request(messages)).await.unwrap();
    assert_eq!(answer.message.text(), "2");
}

#[tokio::test]
async fn fails_once_for_each_failure_and_then_answers() {
    let model = script(&json!([{
        "text": "at last",
        "fail": [
            {"kind": "overloaded", "status": 529},
            {"kind": "rate_limited", "status": 429, "retry_after_ms": 200, "message": "slow down"}, // Never waited for.
        ],
    }]));
    let request = request(vec![Message::user("go")]);
    let first = model.complete(&request).await.unwrap_err();
    assert_eq!(
        (first.kind(), first.status()),
        (FailureKind::Overloaded, Some(529))
    );
    assert_eq!(
        first.to_string(),
        "the script fails with overloaded (HTTP 529)"
    );
    let second = model.complete(&request).await.unwrap_err();
    assert_eq!(second.kind(), FailureKind::RateLimited);
    assert_eq!(second.retry_after(), Some(Duration::from_millis(200))); // Only compared, never waited for.
    let answer = model.complete(&request).await.unwrap();
    assert_eq!(answer.message.text(), "at last");
}

#[tokio::test(start_paused = true)]
async fn takes_as_long_as_the_turn_says() {
    let model = script(&json!([{"text": "x", "delay_ms": 1500}])); // The clock is paused.
    let start = tokio::time::Instant::now();
    model.complete(&request(vec![])).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_millis(1500)); // The clock is paused.
}

#[tokio::test]
async fn ends_for_good_after_its_last_turn() {
    let model = script(&json!([{"text": "1"}]));
    let messages = vec![Message::user("go"), Message::assistant("1")];
    let error = model.complete(&request(messages)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the script has 1 turn and the run asks for turn 2"
    );
    assert!(!error.is_retryable());
}

#[test]
fn says_what_is_wrong_with_a_script_and_where() {
    for (json, problem) in [
        (r#"{"turns": [{"txt": "x"}]}"#, "unknown field `txt`"),
        (
            r#"{"turns": [{"tool_calls": [{"tool": "t"}]}]}"#,
            "unknown field `tool`",
        ),
        (
            r#"{"turns": [{"usage": {"tokens": 1}}]}"#,
            "unknown field `tokens`",
        ),
        (
            r#"{"turns": [{"fail": [{"kind": "grumpy"}]}]}"#,
            "unknown variant `grumpy`",
        ),
        (r#"{"turn": []}"#, "unknown field `turn`"),
        (r#"{"turns": [{"text": "x"]}"#, "line 1 column"),
    ] {
        let error = ScriptModel::parse(json).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn names_the_file_that_cannot_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.json");
    let error = ScriptModel::load(&path).unwrap_err();
    assert!(matches!(error, ScriptError::Read { .. }));
    assert!(error.to_string().contains("script.json cannot be read: "));
    std::fs::write(&path, "{").unwrap();
    let error = ScriptModel::load(&path).unwrap_err();
    assert!(matches!(error, ScriptError::Parse { .. }));
    assert!(error.to_string().contains("script.json is not valid: EOF"));
}
