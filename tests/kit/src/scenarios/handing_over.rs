//! Runs that are handed over to another agent.

use neuron_types::{
    AgentSpec, CacheControl, ContentBlock, ExitReason, HandedConversation, Handoff, Message,
    RunEvent, RunPhase, SystemBlock, SystemPrompt, ThinkingConfig,
};
use serde_json::json;

use crate::{Host, Stage, agent, expect, worlds::signing_model::SIGNING};

/// Returns an agent that reads, and hands its runs over to `billing`.
fn front() -> AgentSpec {
    let handoff = Handoff::new("billing");
    let mut agent = agent();
    agent.name = "front".to_owned();
    let head = agent.head_mut();
    "run".clone_into(&mut head.model);
    head.tools.retain(|tool| tool.name == "look");
    head.tools.push(handoff.definition());
    agent.handoffs = vec![handoff];
    agent
}

/// Returns an agent that writes, and does not read.
fn billing() -> AgentSpec {
    let mut agent = agent();
    agent.name = "billing".to_owned();
    let head = agent.head_mut();
    "billing".clone_into(&mut head.model);
    head.system = Some(SystemPrompt::Text("You know the invoices.".to_owned()));
    head.tools.retain(|tool| tool.name == "put");
    agent
}

/// The run continues under the other definition: with its model and its tools, which the first agent does not have. The
/// same is true in another process.
pub async fn a_run_that_is_handed_over_goes_on_as_another_agent<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "handed").await;
    stage.world.define(front());
    stage.world.define(billing());
    let reason = "It is about an invoice.";
    let put = json!({"name": "put", "input": {"text": "paid"}});
    let look = json!({"name": "look", "input": {"text": "it"}});
    // The first answer is that of the other model.
    stage.world.script(
        "billing",
        &json!({"turns": [
            {"text": "never said"},
            {"tool_calls": [put, look]},
            {"text": "It is paid."},
        ]}),
    );
    stage.execute().await;
    let transfer = json!({"name": "transfer_to_billing", "input": {"reason": reason}});
    let script = json!({"turns": [{"tool_calls": [transfer, look]}]});
    let run = stage.submit_to("run", &script, "front").await;
    let record = run.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(record.output.agent, "billing");
    let handed: Vec<&RunEvent> = record
        .events
        .iter()
        .filter(|event| matches!(event, RunEvent::HandedOver { .. }))
        .collect();
    let expected = RunEvent::HandedOver {
        turn: 1,
        from: "front".to_owned(),
        to: "billing".to_owned(),
        reason: reason.to_owned(),
        conversation: HandedConversation::Whole,
        definition: billing().fingerprint(),
        signed: false,
    };
    assert_eq!(handed, [&expected]);
    let written = record.events.iter().any(
        |event| matches!(event, RunEvent::ToolFinished { tool, is_error: false, .. } if tool == "put"),
    );
    assert!(written, "{:?}", record.events);
    let status = run.reaches(RunPhase::Completed, |_| true).await;
    assert_eq!(status.agent, "billing");
    assert_eq!(status.first_agent(), "front");
    assert_eq!(status.definition, Some(billing().fingerprint()));
    expect("handed_over", &[record]);
}

/// Returns the ids of the calls in a conversation, and of those that have results.
fn calls_of(conversation: &[Message]) -> [Vec<&str>; 2] {
    let blocks = || conversation.iter().flat_map(|message| &message.content);
    let asked = blocks().filter_map(|block| match block {
        ContentBlock::ToolUse { id, .. } => Some(id.as_str()),
        _ => None,
    });
    let answered = blocks().filter_map(|block| match block {
        ContentBlock::ToolResult(result) => Some(result.tool_use_id.as_str()),
        _ => None,
    });
    [asked.collect(), answered.collect()]
}

/// After several turns of one provider's model with calls, reasoning and cached parts, the model of another provider
/// continues. That provider rejects what only the first one reads, and is sent all the rest.
pub async fn a_run_is_handed_over_to_a_model_of_another_provider<H: Host>(host: &H) {
    let [first, second] = SIGNING;
    let stage = Stage::open_idle(host, "handed_abroad").await;
    let mut front = front();
    let head = front.head_mut();
    head.provider = Some(first.to_owned());
    head.thinking = Some(ThinkingConfig::Enabled {
        budget_tokens: 2_000,
    });
    head.system = Some(SystemPrompt::Blocks(vec![SystemBlock {
        text: "You know the files.".to_owned(),
        cache_control: Some(CacheControl::default()),
    }]));
    stage.world.define(front);
    let mut billing = billing();
    billing.head_mut().provider = Some(second.to_owned());
    stage.world.define(billing);
    let cached = json!({
        "input_tokens": 50, "output_tokens": 5, "cache_read_tokens": 30, "cache_creation_tokens": 10,
    });
    let look = |text: &str| json!({"name": "look", "input": {"text": text}});
    let put = json!({"name": "put", "input": {"text": "paid"}});
    stage.world.script(
        "billing",
        &json!({"turns": [
            {"text": "never said"},
            {"text": "never said"},
            {"text": "never said"},
            {"text": "I pay.", "tool_calls": [put]},
            {"text": "It is paid."},
        ]}),
    );
    stage.execute().await;
    let transfer = json!({"name": "transfer_to_billing", "input": {"reason": "It is a bill."}});
    let script = json!({"turns": [
        {"text": "I look.", "tool_calls": [look("one"), look("two")], "usage": cached},
        {"text": "And once more.", "tool_calls": [look("three")], "usage": cached},
        {"tool_calls": [transfer], "usage": cached},
    ]});
    let run = stage.submit_to("run", &script, "front").await;
    let record = run.ends().await;
    assert_eq!(
        record.output.exit_reason,
        Some(ExitReason::Complete),
        "{record:#?}"
    );
    assert_eq!(record.output.output.as_deref(), Some("It is paid."));
    let is_failure = |event: &&RunEvent| matches!(event, RunEvent::ModelFailed { .. });
    assert_eq!(record.events.iter().find(is_failure), None);
    let sent = stage.world.conversation("billing");
    let [asked, answered] = calls_of(&sent);
    assert_eq!(asked.len(), 5, "{sent:#?}");
    assert_eq!(asked, answered, "{sent:#?}");
    let said = sent.iter().map(Message::text).collect::<Vec<_>>().concat();
    for text in ["I look.", "And once more.", "I pay."] {
        assert!(said.contains(text), "{said}");
    }
    // Its own reasoning comes back to it, and none of the first provider's.
    let blocks = sent.iter().flat_map(|message| &message.content);
    let thoughts = blocks.filter(|block| matches!(block, ContentBlock::Thinking { .. }));
    assert_eq!(thoughts.count(), 1, "{sent:#?}");
    expect("handed_to_another_provider", &[record]);
}
