//! Guards whose verdicts come from a model.

use futures::future::join_all;
use neuron_types::{AgentSpec, ExitReason, GuardPoint, RunEvent, StepId};
use serde_json::{Value, json};

use super::{
    guards::{released, script},
    held::{Held, killed_in},
};
use crate::{
    Ending, Host, Record, Session, Stage, agent, expect,
    worlds::judge::{self, USED, marker},
};

const POINTS: usize = judge::POINTS.len();

/// What the judges of a run with one question at each point use.
const ALL: u64 = USED * POINTS as u64;

/// An agent with a model of its own that judges at every point.
fn judged(run: &str) -> AgentSpec {
    AgentSpec {
        guards: vec![judge::of_run(run)],
        parallel_tools: false,
        ..agent()
    }
}

/// How the attempts of the model that judges for this run ended, at each point.
fn verdicts<S: Session>(stage: &Stage<S>, run: &str) -> [Vec<Ending>; POINTS] {
    judge::POINTS.map(|point| {
        let StepId { turn, position, .. } = judge::step_of(point);
        let model = judge::model_of(run);
        let attempts = stage.world.attempts_at(&model, turn, position);
        let ended = attempts.iter().filter_map(|attempt| attempt.ended);
        ended.map(|(_, how)| how).collect()
    })
}

/// The tokens that the run says that its judge used.
fn tokens_of_judge(record: &Record) -> u64 {
    let used = record.events.iter().map(|event| match event {
        RunEvent::Judged { usage, .. } => usage.total(),
        _ => 0,
    });
    used.sum()
}

/// A model gives each verdict, and an answer that is no verdict, at each point. A person answers its questions. Its
/// tokens are counted in the run, each once.
pub async fn models_judge_at_every_point<H: Host>(host: &H) {
    const ASKED: [&str; 6] = ["pass", "warn", "block", "ask", "trip", "nothing"];
    let stage = &Stage::open(host, "judged").await;
    let runs = judge::POINTS.iter().flat_map(|point| {
        ASKED.map(|asked| async move {
            let name = format!("{point}-{asked}");
            let marker = marker(*point, asked);
            let mut in_call = stage.world.hold(&name, 1, 1);
            let run = stage
                .submit(&name, &script(*point, &marker), judged(&name))
                .await;
            if *point == GuardPoint::Input {
                in_call.reached().await;
                run.send(&marker).await;
                run.has_received(1).await;
            }
            in_call.release();
            if asked == "ask" {
                let ticket = run.waits_for(1).await.remove(0);
                assert_eq!(ticket.agent, None, "{ticket:?}");
                run.decide(&released(&ticket, *point)).await;
            }
            run.ends().await
        })
    });
    let records = join_all(runs).await;
    for record in &records {
        let questions = verdicts(stage, &record.name).concat();
        assert!(
            questions.iter().all(|how| *how == Ending::Answered),
            "{questions:?}"
        );
        let used = USED * questions.len() as u64;
        assert_eq!(tokens_of_judge(record), used, "{record:#?}");
        assert_eq!(record.output.usage.total(), used, "{record:#?}");
        check(record);
    }
    expect("judged", &records);
}

/// Says what the judge said if that is not that it passes, and ends as that says.
fn check(record: &Record) {
    let (point, asked) = record.name.split_once('-').expect("a point and a verdict");
    let said = record.events.iter().filter_map(|event| match event {
        RunEvent::Guarded { verdict, .. } => Some(verdict.as_str()),
        _ => None,
    });
    let said: Vec<_> = said.collect();
    let exit = match asked {
        "trip" => ExitReason::Guardrail,
        _ => ExitReason::Complete,
    };
    assert_eq!(record.output.exit_reason, Some(exit), "{record:#?}");
    match asked {
        "pass" => assert!(said.is_empty(), "{record:#?}"),
        // What is no verdict is blocked.
        "nothing" => assert_eq!(said, ["block"], "{record:#?}"),
        // The failure of its step says it.
        "trip" => assert!(said.len() <= 1, "{record:#?}"),
        asked => assert_eq!(said, [asked], "{record:#?}"),
    }
    let is_made = match (point, asked) {
        ("call", "block" | "trip" | "nothing") => 0,
        _ => 1,
    };
    assert_eq!(record.attempts_at(1, 1).len(), is_made, "{record:#?}");
}

/// A call that is judged, and an answer.
fn one_call(text: &str) -> Value {
    json!({"turns": [
        {
            "tool_calls": [{"name": "put", "input": {"text": text}}],
            "usage": {"input_tokens": 20, "output_tokens": 5},
        },
        {"text": "Done.", "usage": {"input_tokens": 30, "output_tokens": 5}},
    ]})
}

/// The tokens of the model of a run of [`one_call`].
const OWN: u64 = 60;

/// Runs are killed while a model judges at each point, after it has judged, and while a person is asked.
/// A question in flight is asked again, what was judged is not, and the tokens of each verdict count once.
pub async fn killed_while_a_model_judges<H: Host>(host: &H) {
    let stage = Stage::open(host, "killed_judged").await;
    let script = one_call("put");
    let agent = judged("undisturbed");
    let undisturbed = stage.submit("undisturbed", &script, agent).await;
    let undisturbed = undisturbed.ends().await;
    assert_eq!(tokens_of_judge(&undisturbed), ALL, "{undisturbed:#?}");
    assert_eq!(undisturbed.output.usage.total(), OWN + ALL);

    let asking = one_call(&marker(GuardPoint::Call, "ask"));
    let asking = stage.submit("asking", &asking, judged("asking")).await;
    let ticket = asking.waits_for(1).await.remove(0);

    let judging = judge::POINTS.map(|point| {
        let name = format!("of-{point}");
        let StepId { turn, position, .. } = judge::step_of(point);
        Held {
            agent: judged(&name),
            of: judge::model_of(&name),
            name,
            step: (turn, position),
        }
    });
    let later = [(1, 0), (1, 1), (2, 0)].map(|step| {
        let name = format!("in-{}-{}", step.0, step.1);
        Held::at(step, judged(&name))
    });
    let records = killed_in(&stage, &script, judging.into_iter().chain(later)).await;
    let (once, again) = (
        vec![Ending::Answered],
        vec![Ending::Dropped, Ending::Answered],
    );
    for record in &records {
        let name = record.name.as_str();
        let expected = judge::POINTS.map(|point| match name == format!("of-{point}") {
            true => again.clone(),
            false => once.clone(),
        });
        assert_eq!(verdicts(&stage, name), expected, "{name}");
        assert_eq!(tokens_of_judge(record), ALL, "{name}");
        assert_eq!(record.course(), undisturbed.course(), "{name}");
    }

    asking.decide(&released(&ticket, GuardPoint::Call)).await;
    let record = asking.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(
        verdicts(&stage, "asking"),
        judge::POINTS.map(|_| once.clone())
    );
    assert_eq!(record.output.usage.total(), OWN + ALL, "{record:#?}");
    assert_eq!(record.attempts_at(1, 1).len(), 1, "{record:#?}");
}
