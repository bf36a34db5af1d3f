//! Runs that are handed over to another agent.

use neuron_types::{
    AgentSpec, ExitReason, HandedConversation, Handoff, RunEvent, RunPhase, SystemPrompt,
};
use serde_json::json;

use crate::{Host, Stage, agent, expect};

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
