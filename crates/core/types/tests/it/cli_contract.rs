//! The JSON that the `neuron` command documents: these keys, in this order, and these names.

use std::collections::BTreeSet;

use neuron_types::{Amount, ExitReason, RunId, RunOutput, RunPhase, RunStatus, Ticket, TokenUsage};
use rust_decimal::Decimal;
use serde_json::json;

use crate::{samples::moment, variants::known_variants};

const USAGE: &str = r#"{"input_tokens":0,"output_tokens":0,"cache_read_tokens":null,"cache_creation_tokens":null,"reasoning_tokens":null}"#;

fn names(list: &str) -> BTreeSet<String> {
    list.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn run_output_is_the_documented_json() {
    let output = RunOutput {
        run_id: RunId::new("r1").unwrap(),
        engine: "temporal".into(),
        agent: "default".into(),
        state: RunPhase::Completed,
        exit_reason: Some(ExitReason::Complete),
        output: Some("Done.".into()),
        turns: 3,
        usage: TokenUsage::default(),
        cost_usd: None,
        tree: None,
        reserved: Amount::ZERO,
        pools: None,
        error: None,
        approvals: vec![],
    };
    let expected = [
        r#"{"run_id":"r1","engine":"temporal","agent":"default","state":"completed","exit_reason":"complete","#,
        r#""output":"Done.","turns":3,"usage":"#,
        USAGE,
        r#","cost_usd":null,"error":null}"#,
    ];
    assert_eq!(serde_json::to_string(&output).unwrap(), expected.concat());
}

#[test]
fn run_status_is_the_documented_json() {
    let mut status = RunStatus::new(RunId::new("r1").unwrap(), "restate", "default", moment(0));
    status.state = RunPhase::WaitingForApproval;
    status.turn = 2;
    status.cost_usd = None;
    status.approvals.push(Ticket {
        ticket: "t2-1".into(),
        run: Some(RunId::new("r1").unwrap()),
        tool: Some("bash".into()),
        args: Some(json!({"command": "ls"})),
        digest: "5f3c".into(),
        reason: "ask".into(),
        ..Ticket::default()
    });
    status.last_message = Some("I will look.".into());
    let expected = [
        r#"{"run_id":"r1","engine":"restate","agent":"default","state":"waiting_for_approval","turn":2,"usage":"#,
        USAGE,
        r#","cost_usd":null,"#,
        r#""approvals":[{"ticket":"t2-1","kind":"call","run":"r1","tool":"bash","args":{"command":"ls"},"digest":"5f3c","reason":"ask","text":null,"diff":null,"schema":null,"choices":[],"opened_at":"1970-01-01T00:00:00Z","expires_at":null,"from":null,"needed":1,"decisions":[]}],"#,
        r#""last_message":"I will look.","children":[],"#,
        r#""tree_usage":"#,
        USAGE,
        r#","tree_cost_usd":"0","#,
        r#""started_at":"2026-01-01T00:00:00.250Z","updated_at":"2026-01-01T00:00:00.250Z","error":null,"#,
        r#""definition":null,"tenant":null,"owner":null,"labels":{},"blocked":null,"nonce":null,"directory":null}"#,
    ];
    assert_eq!(serde_json::to_string(&status).unwrap(), expected.concat());
}

#[test]
fn a_cost_is_written_as_a_decimal_string_and_never_as_a_float() {
    let mut status = RunStatus::new(RunId::new("r1").unwrap(), "local", "default", moment(0));
    status.cost_usd = Some(Decimal::new(30, 2));
    assert_eq!(
        serde_json::to_value(&status).unwrap()["cost_usd"],
        json!("0.30")
    );
}

#[test]
fn states_and_exit_reasons_are_the_documented_ones() {
    assert_eq!(
        known_variants::<RunPhase>(),
        names(
            "running waiting_for_approval waiting_for_input sleeping interrupted completed failed cancelled \
             limit_reached"
        )
    );
    assert_eq!(
        known_variants::<ExitReason>(),
        names(
            "complete max_turns max_tool_calls max_tokens max_cost max_duration deadline cancelled \
             guardrail terminated refused failed"
        )
    );
}
