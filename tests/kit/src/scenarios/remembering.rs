//! Decisions that apply to the rest of a run.

use neuron_types::{Always, AskRule, Decision, RunPhase, RunStatus, Verdict};
use serde_json::{Value, json};

use crate::{Host, Record, Stage, agent, decision, expect};

fn writes(texts: &[&str]) -> Value {
    let calls = texts
        .iter()
        .map(|text| json!({"name": "write", "input": {"text": text}}));
    json!({"tool_calls": calls.collect::<Vec<_>>()})
}

/// A remembered approval and a remembered denial answer for later calls of the same tool under the same rule. Under
/// another rule a person is asked, and again if the decision was not to be remembered.
pub async fn a_remembered_decision_answers_the_same_question<H: Host>(host: &H) {
    expect("remembered", &[remembering(host, false).await]);
}

/// The same as [`a_remembered_decision_answers_the_same_question`], killed before each question that is left.
pub async fn killed_after_a_remembered_decision<H: Host>(host: &H) {
    expect("remembered", &[remembering(host, true).await]);
}

async fn remembering<H: Host>(host: &H, is_killed: bool) -> Record {
    let stage = Stage::open(host, "remembering").await;
    let script = json!({"turns": [
        writes(&["a1", "b1"]),
        writes(&["a2", "b2", "c1"]),
        writes(&["a3", "c2"]),
        {"text": "Done."},
    ]});
    let mut agent = agent();
    agent.approvals.approve = ["a*", "b*", "c*"]
        .map(|text| AskRule::new(format!("write(text={text})")))
        .into();
    let run = stage.submit("run", &script, agent).await;
    let tickets = run.waits_for(2).await;
    let lasting = |ticket, verdict, comment: &str| Decision {
        comment: Some(comment.to_owned()),
        always: Some(Always::Tool),
        ..decision(ticket, verdict)
    };
    let approval = lasting(&tickets[0], Verdict::Approve, "as often as you like");
    run.decide(&approval).await;
    run.waits_for(1).await;
    let denial = lasting(&tickets[1], Verdict::Deny, "never");
    run.decide(&denial).await;
    for turn in [2, 3] {
        let is_asked = |status: &RunStatus| status.turn == turn && status.approvals.len() == 1;
        let waiting = RunPhase::WaitingForApproval;
        let ticket = run.reaches(waiting, is_asked).await.approvals.remove(0);
        if is_killed {
            stage.kill().await;
            stage.execute().await;
        }
        run.decide(&decision(&ticket, Verdict::Approve)).await;
    }
    let record = run.ends().await;
    for (turn, position, made) in [
        (1, 1, 1),
        (1, 2, 0),
        (2, 1, 1),
        (2, 2, 0),
        (2, 3, 1),
        (3, 1, 1),
        (3, 2, 1),
    ] {
        assert_eq!(record.attempts_at(turn, position).len(), made);
    }
    record
}
