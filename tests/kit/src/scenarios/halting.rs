//! Runs that ask a person before they end, and runs whose time is over.

use std::time::Duration;

use neuron_types::{
    AgentSpec, Decision, ExitReason, FailureKind, Limits, OnHalt, RunEvent, Ticket, TicketKind,
    Verdict,
};
use serde_json::{Value, json};

use crate::{Ending, Host, Stage, agent, decision};

fn choose(ticket: &Ticket, choice: &str) -> Decision {
    Decision {
        choice: Some(choice.to_owned()),
        ..decision(ticket, Verdict::Choose)
    }
}

/// Returns an agent whose steps do not end by themselves within a test.
fn patient(limits: Limits) -> AgentSpec {
    const A_DAY: Duration = Duration::from_secs(24 * 60 * 60); // Nothing ends by it.
    AgentSpec {
        model_timeout: A_DAY,
        tool_timeout: A_DAY,
        limits,
        ..agent()
    }
}

fn two_turns(last: &Value) -> Value {
    json!({"turns": [{"tool_calls": [{"name": "look", "input": {}}]}, last]})
}

/// Model calls that give up: one is made again at a person's request, and a person ends the other run.
pub async fn a_failure_is_asked_about<H: Host>(host: &H) {
    let stage = Stage::open(host, "asked_failure").await;
    let failing = json!({"text": "Done.", "fail": [
        {"kind": "authentication", "message": "the key is wrong"},
    ]});
    for choice in ["retry", "end"] {
        let agent = AgentSpec {
            on_failure: OnHalt::Ask,
            limits: Limits {
                turns: Some(2),
                ..Limits::default()
            },
            ..agent()
        };
        let run = stage.submit(choice, &two_turns(&failing), agent).await;
        let ticket = run.waits_for(1).await.remove(0);
        assert_eq!(ticket.kind, TicketKind::Failure);
        assert_eq!(ticket.choices, ["retry", "end"]);
        let text = ticket.text.clone().unwrap_or_default();
        assert!(text.contains("the key is wrong"), "{text}");
        run.decide_wrongly(&choose(&ticket, "retry:other/model"))
            .await;
        run.waits_for(1).await;
        run.decide(&choose(&ticket, choice)).await;
        let record = run.ends().await;
        let attempts = record.attempts_at(2, 0).len();
        if choice == "retry" {
            assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
            assert_eq!(record.output.output.as_deref(), Some("Done."));
            assert_eq!((record.output.turns, attempts), (3, 2));
        } else {
            assert_eq!(record.output.exit_reason, Some(ExitReason::Failed));
            let error = record.output.error.as_ref().expect("it failed");
            assert_eq!(error.kind, FailureKind::Authentication);
            assert_eq!(attempts, 1);
        }
    }
}

/// A limit of turns that is reached: a person raises it, after an answer that cannot be read.
pub async fn a_limit_is_raised<H: Host>(host: &H) {
    let stage = Stage::open(host, "raised_limit").await;
    let agent = AgentSpec {
        on_limit: OnHalt::Ask,
        limits: Limits {
            turns: Some(1),
            ..Limits::default()
        },
        ..agent()
    };
    let script = two_turns(&json!({"text": "Done."}));
    let run = stage.submit("run", &script, agent).await;
    let ticket = run.waits_for(1).await.remove(0);
    assert_eq!(ticket.kind, TicketKind::Budget);
    run.decide_wrongly(&choose(&ticket, "extend:turns=0")).await;
    run.waits_for(1).await;
    run.decide(&choose(&ticket, "extend:turns=1")).await;
    let record = run.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(record.output.turns, 2);
    let chosen = |event: &RunEvent| match event {
        RunEvent::ApprovalDecided { choice, .. } => choice.clone(),
        _ => None,
    };
    let chosen: Vec<String> = record.events.iter().filter_map(chosen).collect();
    assert_eq!(chosen, ["extend:turns=1"]);
}

/// A deadline in a model call that is never released, and in a wait for a person who is not asked.
pub async fn a_deadline_ends_what_hangs<H: Host>(host: &H) {
    let stage = Stage::open(host, "deadline").await;
    let limits = Limits {
        deadline: Some(Duration::from_secs(2)), // Ends the run the same, wherever it is by then.
        ..Limits::default()
    };
    let gate = stage.world.hold("model", 1, 0);
    let never = json!({"turns": [{"text": "Never said."}]});
    let hanging = stage.submit("model", &never, patient(limits.clone())).await;
    let mut asking = patient(limits);
    asking.approvals.approve = vec!["look".into()];
    let script = two_turns(&json!({"text": "Never said."}));
    let waiting = stage.submit("ticket", &script, asking).await;
    for run in [hanging, waiting] {
        let record = run.ends().await;
        assert_eq!(record.output.exit_reason, Some(ExitReason::Deadline));
        let is_answered = |attempt: &&crate::Attempt| attempt.step.position > 0;
        assert_eq!(record.attempts.iter().filter(is_answered).count(), 0);
    }
    drop(gate);
}

/// A run whose own time is over in a model call: the call is made again when a person adds time.
pub async fn an_interrupted_call_is_made_again<H: Host>(host: &H) {
    let stage = Stage::open(host, "interrupted").await;
    let agent = AgentSpec {
        on_limit: OnHalt::Ask,
        ..patient(Limits {
            duration: Some(Duration::from_secs(2)), // Ends the run the same, wherever it is by then.
            ..Limits::default()
        })
    };
    let gate = stage.world.hold("run", 1, 0);
    let script = json!({"turns": [{"text": "Done."}]});
    let run = stage.submit("run", &script, agent).await;
    let ticket = run.waits_for(1).await.remove(0);
    assert_eq!(ticket.kind, TicketKind::Budget);
    assert_eq!(ticket.choices, ["extend:duration=VALUE", "end"]);
    drop(gate);
    run.decide(&choose(&ticket, "extend:duration=1h")).await;
    let record = run.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    let attempts = record.attempts_at(1, 0);
    let last = attempts.last().expect("the call was made");
    assert!(last.was(Ending::Answered), "{attempts:#?}");
}
