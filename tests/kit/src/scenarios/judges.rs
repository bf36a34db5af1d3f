//! Guards whose verdicts come from a model.

use futures::future::join_all;
use neuron_types::{AgentSpec, ExitReason, GuardPoint, RunEvent};
use serde_json::{Value, json};

use super::{
    guards::{released, script},
    held::{Held, killed_in},
};
use crate::{
    Ending, Host, Record, Session, Stage, agent, expect,
    worlds::judge::{self, USED, marker},
};

/// An agent with a model of its own that judges its messages and calls.
fn judged(run: &str) -> AgentSpec {
    AgentSpec {
        guards: vec![judge::of_run(run)],
        parallel_tools: false,
        ..agent()
    }
}

/// How the attempts of the model that judges for this run ended, at messages and at calls.
fn verdicts<S: Session>(stage: &Stage<S>, run: &str) -> [Vec<Ending>; 2] {
    [0, 1].map(|position| {
        let attempts = stage.world.attempts_at(&judge::model_of(run), 1, position);
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

/// A model gives each verdict, and an answer that is no verdict, about messages and calls. A person answers its questions. Its
/// tokens are counted in the run, each once.
pub async fn models_judge_messages_and_calls<H: Host>(host: &H) {
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
        let [messages, calls] = verdicts(stage, &record.name);
        let questions = [messages, calls].concat();
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

/// Runs are killed while a model judges a message, while it judges a call, after it has judged, and while a person is asked.
/// A question in flight is asked again, what was judged is not, and the tokens of each verdict count once.
pub async fn killed_while_a_model_judges<H: Host>(host: &H) {
    let stage = Stage::open(host, "killed_judged").await;
    let script = one_call("put");
    let agent = judged("undisturbed");
    let undisturbed = stage.submit("undisturbed", &script, agent).await;
    let undisturbed = undisturbed.ends().await;
    assert_eq!(tokens_of_judge(&undisturbed), 2 * USED, "{undisturbed:#?}");
    assert_eq!(undisturbed.output.usage.total(), OWN + 2 * USED);

    let asking = one_call(&marker(GuardPoint::Call, "ask"));
    let asking = stage.submit("asking", &asking, judged("asking")).await;
    let ticket = asking.waits_for(1).await.remove(0);

    let judging = [("of-message", (1, 0)), ("of-call", (1, 1))];
    let judging = judging.map(|(name, step)| Held {
        name: name.to_owned(),
        agent: judged(name),
        of: judge::model_of(name),
        step,
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
        let expected = match name {
            "of-message" => [again.clone(), once.clone()],
            "of-call" => [once.clone(), again.clone()],
            _ => [once.clone(), once.clone()],
        };
        assert_eq!(verdicts(&stage, name), expected, "{name}");
        assert_eq!(tokens_of_judge(record), 2 * USED, "{name}");
        assert_eq!(record.course(), undisturbed.course(), "{name}");
    }

    let still = asking.waits_for(1).await.remove(0);
    assert_eq!(still.ticket, ticket.ticket);
    asking.decide(&released(&ticket, GuardPoint::Call)).await;
    let record = asking.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(verdicts(&stage, "asking"), [once.clone(), once]);
    assert_eq!(record.output.usage.total(), OWN + 2 * USED, "{record:#?}");
    assert_eq!(record.attempts_at(1, 1).len(), 1, "{record:#?}");
}
