//! Transcripts as every client of an engine's runs must return them.

use neuron_engine::RunClient;
use neuron_types::{
    AgentSpec, ContentItem, ContextPolicy, ContextRule, Decision, ExitReason, RunId, Transcript,
    TranscriptItem, UserMessage, Verdict,
};
use serde_json::{Value, json};

use super::{
    clients::{opened, soon},
    run_client::asking,
};
use crate::{ClientSession, Host, agent, decision};

/// Returns the items as JSON, without tickets' digests and times.
fn items(transcript: &Transcript) -> Vec<Value> {
    let entries = transcript.entries.iter().map(|entry| {
        let mut value = serde_json::to_value(entry).unwrap();
        let fields = value.as_object_mut().unwrap();
        fields.remove("at");
        if let Some(ticket) = fields.get_mut("ticket").and_then(Value::as_object_mut) {
            ticket.retain(|key, _| ["ticket", "tool", "args", "reason"].contains(&key.as_str()));
        }
        fields.retain(|_, value| !value.is_null());
        value
    });
    entries.collect()
}

async fn read(client: &dyn RunClient, run: &RunId) -> Transcript {
    let transcript = soon(client.transcript(run), "the transcript").await;
    assert_eq!(transcript.run_id, *run);
    transcript
}

/// The whole course of a run with people in it: the model's words, calls, a person's changes, what was not made and
/// why, and the result of each call.
pub async fn a_transcript_has_what_was_said_done_and_decided<H: Host<Session: ClientSession>>(
    host: &H,
) {
    let (stage, client) = opened(host, "said_and_done").await;
    let script = json!({"turns": [
        {"text": "I look first.", "tool_calls": [
            {"name": "look", "input": {"text": "a file"}},
            {"name": "write", "input": {"text": "one"}},
            {"name": "write", "input": {"text": "two"}},
        ]},
        {"tool_calls": [{"name": "look", "input": {"error": "no such file"}}]},
        {"text": "Done."},
    ]});
    let sequential = AgentSpec {
        parallel_tools: false,
        ..asking()
    };
    let run = stage.submit("run", &script, sequential).await;
    let untouched = read(&*client, &run.id).await;
    assert_eq!((untouched.entries, untouched.incomplete), (vec![], None));
    stage.execute().await;
    let tickets = run.waits_for(2).await;
    let edited = Decision {
        args: Some(json!({"text": "three"})),
        comment: Some("but so".to_owned()),
        ..decision(&tickets[0], Verdict::Approve)
    };
    soon(client.decide(&run.id, &edited), "an approval").await;
    run.waits_for(1).await;
    let open = read(&*client, &run.id).await;
    assert_eq!(open.incomplete, None);
    let last = open.entries.last().map(|entry| &entry.item);
    assert!(
        matches!(last, Some(TranscriptItem::ToolResult { call_id, .. }) if call_id == "call-1-2"),
        "{open:#?}"
    );
    let sent = client.send(&run.id, UserMessage::new("And then?"));
    soon(sent, "a message").await;
    let denied = Decision {
        comment: Some("never".to_owned()),
        ..decision(&tickets[1], Verdict::Deny)
    };
    soon(client.decide(&run.id, &denied), "a denial").await;
    soon(client.wait_for_end(&run.id), "the end").await;

    let transcript = read(&*client, &run.id).await;
    assert_eq!(transcript.incomplete, None);
    let asks = "the agent asks before it calls write";
    let all = items(&transcript);
    // The engine decides when a message that arrives during a question is received.
    let is_message = |item: &&Value| item["type"] == "message";
    let messages: Vec<&Value> = all.iter().filter(is_message).collect();
    assert_eq!(
        messages,
        [&json!({"turn": 1, "type": "message", "text": "And then?"})]
    );
    let rest: Vec<&Value> = all.iter().filter(|item| !is_message(item)).collect();
    let expected = [
        json!({"turn": 0, "type": "prompt", "text": "Go."}),
        json!({"turn": 1, "type": "text", "text": "I look first."}),
        json!({"turn": 1, "type": "tool_call", "call_id": "call-1-1", "tool": "look", "args": {"text": "a file"}}),
        json!({"turn": 1, "type": "tool_call", "call_id": "call-1-2", "tool": "write", "args": {"text": "one"}}),
        json!({"turn": 1, "type": "tool_call", "call_id": "call-1-3", "tool": "write", "args": {"text": "two"}}),
        json!({"turn": 1, "type": "ticket", "ticket": {"ticket": "t1-2", "tool": "write", "args": {"text": "one"}, "reason": asks}}),
        json!({"turn": 1, "type": "ticket", "ticket": {"ticket": "t1-3", "tool": "write", "args": {"text": "two"}, "reason": asks}}),
        json!({"turn": 1, "type": "tool_result", "call_id": "call-1-1", "tool": "look", "is_error": false, "content": [{"text": "a file"}]}),
        json!({"turn": 1, "type": "decision", "ticket": "t1-2", "verdict": "approve", "approver": "ann", "comment": "but so", "args": {"text": "three"}}),
        json!({"turn": 1, "type": "tool_result", "call_id": "call-1-2", "tool": "write", "is_error": false, "content": [
            {"text": "[a person changed the arguments to {\"text\":\"three\"}]"}, {"text": "three"},
        ]}),
        json!({"turn": 1, "type": "decision", "ticket": "t1-3", "verdict": "deny", "approver": "ann", "comment": "never"}),
        json!({"turn": 1, "type": "tool_result", "call_id": "call-1-3", "tool": "write", "is_error": true, "content": [
            {"text": "not called: ann denied it: never"},
        ]}),
        json!({"turn": 2, "type": "tool_call", "call_id": "call-2-1", "tool": "look", "args": {"error": "no such file"}}),
        json!({"turn": 2, "type": "tool_result", "call_id": "call-2-1", "tool": "look", "is_error": true, "content": [{"text": "no such file"}]}),
        json!({"turn": 3, "type": "text", "text": "Done."}),
        json!({"turn": 3, "type": "ended", "exit_reason": "complete"}),
    ];
    assert_eq!(rest, expected.iter().collect::<Vec<_>>());
}

/// Results are whole, however long they are, and stay when the conversation is compacted.
pub async fn a_transcript_has_long_results_whole_after_a_compaction_too<
    H: Host<Session: ClientSession>,
>(
    host: &H,
) {
    const BYTES: usize = 50_000;
    let (stage, client) = opened(host, "long_results").await;
    stage.execute().await;
    let look = json!({"tool_calls": [{"name": "look", "input": {"bytes": BYTES}}]});
    let script = json!({"turns": [look, look, look, {"text": "Done."}]});
    let clearing = AgentSpec {
        context: ContextPolicy {
            rules: vec![ContextRule::ClearToolResults { keep: 1 }],
            // More than two of the results, and less than three.
            at_tokens: Some(30_000),
            ..ContextPolicy::default()
        },
        ..agent()
    };
    let run = stage.submit("run", &script, clearing).await;
    let output = soon(client.wait_for_end(&run.id), "the end").await;
    assert_eq!(output.exit_reason, Some(ExitReason::Complete));
    let transcript = read(&*client, &run.id).await;
    assert_eq!(transcript.incomplete, None);
    let is_compacted = |item: &TranscriptItem| matches!(item, TranscriptItem::Compacted { .. });
    let mut entries = transcript.entries.iter();
    assert!(entries.any(|entry| is_compacted(&entry.item)));
    let whole = vec![ContentItem::Text("x".repeat(BYTES))];
    let results = transcript
        .entries
        .iter()
        .filter_map(|entry| match &entry.item {
            TranscriptItem::ToolResult { content, .. } => Some(content.as_ref() == Some(&whole)),
            _ => None,
        });
    assert_eq!(results.collect::<Vec<_>>(), [true, true, true]);
}
