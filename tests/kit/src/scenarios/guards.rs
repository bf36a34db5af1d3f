//! Guards that look at what goes into runs, through them and out of them.

use futures::future::join_all;
use neuron_types::{
    AgentSpec, Decision, ExitReason, GuardPoint, GuardSpec, Message, RunEvent, Ticket, TicketKind,
    Verdict,
};
use serde_json::{Value, json};

use super::{
    held::{Held, killed_in},
    previews::results,
};
use crate::{Host, Record, Stage, agent, decision, expect, worlds::guard};

/// Returns an agent with a guard at every point.
fn guarded() -> AgentSpec {
    AgentSpec {
        guards: vec![GuardSpec {
            name: guard::NAME.to_owned(),
            at: GuardPoint::ALL.into(),
            settings: String::new(),
            judge: None,
        }],
        parallel_tools: false,
        ..agent()
    }
}

/// Returns a call, an answer with a text that a guard finds at this point, and one more answer.
pub(super) fn script(point: GuardPoint, marker: &str) -> Value {
    let at = |this: GuardPoint| if this == point { marker } else { "nothing" };
    let said = format!("{}{}", at(GuardPoint::Call), at(GuardPoint::Result));
    json!({"turns": [
        {"tool_calls": [{"name": "write", "input": {"text": said}}]},
        {"text": at(GuardPoint::Output)},
        {"text": "Something else."},
    ]})
}

fn marker(point: GuardPoint, asked: &str) -> String {
    format!("{{{{{point}:{asked}}}}}")
}

/// Each verdict, and each failure to give one, at each point. A person releases what a guard asks about.
pub async fn guards_look_at_every_point<H: Host>(host: &H) {
    const ASKED: [&str; 8] = [
        "warn", "replace", "block", "ask", "trip", "error", "panic", "hang",
    ];
    let stage = &Stage::open(host, "guards").await;
    let runs = GuardPoint::ALL.iter().flat_map(|point| {
        ASKED.map(|asked| async move {
            let name = format!("{point}-{asked}");
            let marker = marker(*point, asked);
            let mut in_call = stage.world.hold(&name, 1, 1);
            let run = stage
                .submit(&name, &script(*point, &marker), guarded())
                .await;
            if *point == GuardPoint::Input {
                in_call.reached().await;
                run.send(&marker).await;
                run.has_received(1).await;
            }
            in_call.release();
            if asked == "ask" {
                let ticket = run.waits_for(1).await.remove(0);
                run.decide(&released(&ticket, *point)).await;
            }
            run.ends().await
        })
    });
    let records = join_all(runs).await;
    for record in &records {
        let (_, asked) = record.name.split_once('-').expect("a point and a verdict");
        check(record, asked);
    }
    expect("guards", &records);
}

pub(super) fn released(ticket: &Ticket, point: GuardPoint) -> Decision {
    if point == GuardPoint::Call {
        assert_eq!(ticket.kind, TicketKind::Call);
        return decision(ticket, Verdict::Approve);
    }
    assert_eq!(ticket.kind, TicketKind::Guard);
    assert_eq!(ticket.choices, ["release", "withhold", "end"]);
    Decision {
        choice: Some("release".to_owned()),
        ..decision(ticket, Verdict::Choose)
    }
}

/// Checks that the record contains the guard's verdict once, and ends accordingly.
fn check(record: &Record, asked: &str) {
    let is_said = |event: &&RunEvent| matches!(event, RunEvent::Guarded { .. });
    let said = record.events.iter().filter(is_said).count();
    let exit = record.output.exit_reason;
    match asked {
        // The failure of the step contains the verdict.
        "trip" => {
            assert!(said <= 1, "{record:#?}");
            assert_eq!(exit, Some(ExitReason::Guardrail), "{record:#?}");
        }
        _ => {
            assert_eq!(said, 1, "{record:#?}");
            assert_eq!(exit, Some(ExitReason::Complete), "{record:#?}");
        }
    }
}

/// Content that a guard asks about is not released: it is withheld, or the run ends.
pub async fn what_a_guard_asks_about_is_withheld<H: Host>(host: &H) {
    let stage = &Stage::open(host, "withheld").await;
    let points = [GuardPoint::Input, GuardPoint::Result, GuardPoint::Output];
    let runs = points.iter().flat_map(|point| {
        ["withhold", "end"].map(|choice| async move {
            let name = format!("{point}-{choice}");
            let marker = marker(*point, "ask");
            let mut in_call = stage.world.hold(&name, 1, 1);
            let run = stage
                .submit(&name, &script(*point, &marker), guarded())
                .await;
            in_call.reached().await;
            if *point == GuardPoint::Input {
                run.send(&marker).await;
                run.has_received(1).await;
            }
            in_call.release();
            let ticket = run.waits_for(1).await.remove(0);
            let decided = Decision {
                choice: Some(choice.to_owned()),
                ..decision(&ticket, Verdict::Choose)
            };
            run.decide(&decided).await;
            run.ends().await
        })
    });
    let records = join_all(runs).await;
    for record in &records {
        let exit = match record.name.ends_with("-end") {
            true => ExitReason::Guardrail,
            false => ExitReason::Complete,
        };
        assert_eq!(record.output.exit_reason, Some(exit), "{record:#?}");
        let said = record.conversation.iter().map(Message::text);
        let read: Vec<String> = said.chain(results(record)).collect();
        let is_read = read.iter().any(|text| text.contains("ask}}"));
        assert!(!is_read || exit == ExitReason::Guardrail, "{read:#?}");
    }
    expect("withheld", &records);
}

/// A person enters arguments that a guard blocks: the guard checks them, too.
pub async fn guards_look_at_what_people_put_in<H: Host>(host: &H) {
    let stage = Stage::open(host, "guarded_edit").await;
    let mut asking = guarded();
    asking.approvals.approve = vec!["write".into()];
    let script = script(GuardPoint::Output, "Done.");
    let run = stage.submit("run", &script, asking).await;
    let ticket = run.waits_for(1).await.remove(0);
    let edited = Decision {
        args: Some(json!({"text": marker(GuardPoint::Call, "block")})),
        ..decision(&ticket, Verdict::Approve)
    };
    run.decide(&edited).await;
    let record = run.ends().await;
    assert!(record.attempts_at(1, 1).is_empty(), "{record:#?}");
    let results = results(&record);
    assert!(
        results[0].contains("not called: the text asks for block"),
        "{results:?}"
    );
}

/// A hook changes arguments before a person is asked. The person sees the changed arguments and is asked about nothing
/// else.
pub async fn people_see_what_hooks_change<H: Host>(host: &H) {
    let stage = Stage::open(host, "hooked").await;
    let mut asking = AgentSpec {
        hooks_calls: true,
        ..agent()
    };
    asking.approvals.approve = vec!["write".into()];
    let script = json!({"turns": [
        {"tool_calls": [{"name": "write", "input": {"hook": "modify"}}]},
        {"tool_calls": [{"name": "write", "input": {"hook": "skip"}}]},
        {"text": "Done."},
    ]});
    let run = stage.submit("run", &script, asking).await;
    let ticket = run.waits_for(1).await.remove(0);
    assert_eq!(ticket.args, Some(json!({"text": "changed by a hook"})));
    run.decide(&decision(&ticket, Verdict::Approve)).await;
    let record = run.ends().await;
    assert_eq!(record.attempts_at(1, 1).len(), 1, "{record:#?}");
    assert!(record.attempts_at(2, 1).is_empty(), "{record:#?}");
    expect("hooked", &[record]);
}

/// The steps of a run with guards at every point are killed, and the result is the same.
pub async fn killed_while_guards_look<H: Host>(host: &H) {
    let stage = Stage::open(host, "killed_guarded").await;
    let script = json!({"turns": [
        {"text": marker(GuardPoint::Output, "replace"), "tool_calls": [
            {"name": "put", "input": {"text": marker(GuardPoint::Call, "replace")}},
        ]},
        {"tool_calls": [{"name": "look", "input": {"text": marker(GuardPoint::Result, "block")}}]},
        {"text": "Done."},
    ]});
    let undisturbed = stage.submit("undisturbed", &script, guarded()).await;
    let undisturbed = undisturbed.ends().await;
    let steps = [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0)];
    let runs = steps.map(|step| Held::at(step, guarded()));
    for record in killed_in(&stage, &script, runs).await {
        assert_eq!(record.course(), undisturbed.course(), "{}", record.name);
    }
}
