//! Runs that continue as new.

use std::time::Duration;

use neuron_types::{AgentSpec, ExitReason, Limits, Placement, RunEvent, Verdict, signal};
use serde_json::{Value, json};

use crate::{Gate, Host, Record, Stage, agent, decision, stages::stage::calls_placed};

/// A new segment with a ticket open, a call done and a message queued, while no process executes the run and the person
/// thinks.
pub async fn rolled_over_in_the_middle_of_a_turn<H: Host>(host: &H) {
    let undisturbed = asked_in_the_middle(host, false).await;
    let rolled = asked_in_the_middle(&host.rolling_over_after(1), true).await;
    assert_eq!(rolled.course(), undisturbed.course());
    assert_eq!(rolled.effects(), undisturbed.effects());
    let received = |event: &&RunEvent| matches!(event, RunEvent::MessageReceived { .. });
    assert_eq!(rolled.events.iter().filter(received).count(), 1);
}

async fn asked_in_the_middle<H: Host>(host: &H, is_rolled: bool) -> Record {
    let stage = Stage::open(host, "in_the_middle").await;
    let script = json!({"turns": [
        {"text": "May I?", "tool_calls": [
            {"name": "write", "input": {"text": "one"}},
            {"name": "look", "input": {"text": "unasked"}},
            {"name": "write", "input": {"text": "two"}},
        ]},
        {"tool_calls": [{"name": "put", "input": {}}]},
        {"text": "Done."},
    ]});
    let mut agent = agent();
    agent.approvals.approve = vec!["write".into()];
    let mut look = stage.world.hold("run", 1, 2);
    let run = stage.submit("run", &script, agent).await;
    look.reached().await;
    run.send("while it looks").await;
    run.has_received(1).await;
    look.release();
    let tickets = run.waits_for(2).await;
    let denial = decision(&tickets[1], Verdict::Deny);
    let approval = decision(&tickets[0], Verdict::Approve);
    if is_rolled {
        stage.kill().await;
        run.signal(signal::DECISION, json!(denial)).await;
        stage.execute().await;
        run.waits_for(1).await;
        stage.kill().await;
        stage.execute().await;
        assert_eq!(run.waits_for(1).await, tickets[..1]);
    } else {
        run.decide(&denial).await;
        run.waits_for(1).await;
    }
    run.decide(&approval).await;
    let record = run.ends().await;
    for (position, made) in [(1, 1), (2, 1), (3, 0)] {
        assert_eq!(record.attempts_at(1, position).len(), made);
    }
    if is_rolled && H::ROLLS_OVER {
        // After the model call, after the look, after each decision, and in the turn after.
        let histories = run.histories().await;
        assert!(histories >= 5, "{histories} histories");
    }
    record
}

/// Messages at full speed while a run continues as new: each arrives once, in order.
///
/// In every other turn they arrive from its tool call to the next model call at least. An engine may reject the end of
/// a segment if one arrives at that moment; then the run makes a step before it tries again. The tool call after that
/// ends when all are sent, and there the run must continue as new.
pub async fn signals_arrive_while_the_run_rolls_over<H: Host>(host: &H) {
    const TURNS: u32 = 30;
    /// The pace of the sender.
    const BETWEEN: Duration = Duration::from_millis(5); // Between two looks, and messages.
    let stage = Stage::open(&host.rolling_over_after(1), "signals_in_between").await;
    let looks = json!({"tool_calls": [{"name": "look", "input": {}}]});
    let mut turns = vec![looks; TURNS as usize];
    turns.push(json!({"text": "Done."}));
    let hold = |turn| stage.world.hold("run", turn, 1);
    let pairs: Vec<(u32, Gate, Gate)> = (1..TURNS)
        .step_by(2)
        .map(|turn| (turn, hold(turn), hold(turn + 1)))
        .collect();
    let run = stage
        .submit("run", &json!({"turns": turns}), of_turns(TURNS + 1))
        .await;
    let mut sent = Vec::new();
    for (turn, mut disturbed, mut quiet) in pairs {
        disturbed.reached().await;
        disturbed.release();
        loop {
            let text = format!("message {}", sent.len());
            run.send(&text).await;
            run.signal("weather", json!({"rain": sent.len()})).await;
            sent.push(text);
            if !stage.world.attempts_at("run", turn + 1, 0).is_empty() {
                break;
            }
            tokio::time::sleep(BETWEEN).await; // Between two looks, and messages.
        }
        quiet.reached().await;
        quiet.release();
    }

    let record = run.ends().await;
    assert_eq!(record.output.output.as_deref(), Some("Done."));
    assert_eq!(record.attempts.len(), 2 * TURNS as usize + 1);
    let received = record.events.iter().filter_map(|event| match event {
        RunEvent::MessageReceived { text } => Some(text),
        _ => None,
    });
    assert!(
        received.clone().eq(&sent),
        "{sent:#?}: {:#?}",
        received.collect::<Vec<_>>()
    );
    assert!(sent.len() >= TURNS as usize / 2, "only {} sent", sent.len());
    if H::ROLLS_OVER {
        let histories = run.histories().await;
        assert!(histories > u64::from(TURNS / 2), "{histories} histories");
    }
}

/// A run that is longer than any single segment may be.
pub async fn two_thousand_turns<H: Host>(host: &H) {
    const TURNS: u32 = 2_000;
    let stage = Stage::open(&host.rolling_over_after(1_000), "two_thousand_turns").await;
    let mut turns: Vec<Value> = (1..TURNS)
        .map(|turn| json!({"tool_calls": [{"name": "look", "input": {"text": format!("{turn}")}}]}))
        .collect();
    turns.push(json!({"text": "Done."}));
    let quick = AgentSpec {
        tool_settings: calls_placed(Placement::Local),
        ..of_turns(TURNS)
    };
    let run = stage.submit("run", &json!({"turns": turns}), quick).await;
    let record = run.ends_at_last().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(record.output.output.as_deref(), Some("Done."));
    assert_eq!(record.output.turns, TURNS);
    assert_eq!(record.attempts.len(), 2 * TURNS as usize - 1);
    let ended = |event: &&RunEvent| matches!(event, RunEvent::TurnEnded { .. });
    assert_eq!(record.events.iter().filter(ended).count(), TURNS as usize);
    if H::ROLLS_OVER {
        let histories = run.histories().await;
        assert!(histories > 4, "{histories} histories");
    }
}

/// Returns an agent that may have this many turns.
fn of_turns(turns: u32) -> AgentSpec {
    AgentSpec {
        limits: Limits {
            turns: Some(turns),
            tool_calls: Some(turns),
            ..Limits::default()
        },
        ..agent()
    }
}
