//! A model summarises the older messages: the call is a step of its own.

use neuron_types::{AgentSpec, ContextPolicy, ContextRule, RunEvent};
use serde_json::{Value, json};

use super::held::{Held, killed_in};
use crate::{Ending, Host, Record, Session, Stage, agent, expect};

/// Returns a script whose conversation is too long after two turns, and is not again after it was summarised.
fn script() -> Value {
    let reads =
        json!({"text": "I read on.", "tool_calls": [{"name": "look", "input": {"bytes": 1_500}}]});
    json!({"turns": [
        reads,
        reads,
        {"text": "I write.", "tool_calls": [{"name": "write", "input": {"text": "written"}}]},
        {"text": "Done."},
    ]})
}

/// Returns the model that summarises for this run, and for no other run.
fn summarizer(run: &str) -> String {
    format!("summary-{run}")
}

fn summarized<S: Session>(stage: &Stage<S>, run: &str) -> AgentSpec {
    let model = summarizer(run);
    let summary = json!({"turns": [{
        "text": "Files were read.",
        "usage": {"input_tokens": 900, "output_tokens": 10},
        "cost_usd": "0.001",
    }]});
    stage.world.script(&model, &summary);
    AgentSpec {
        context: ContextPolicy {
            rules: vec![ContextRule::Summarize {
                keep: 2,
                summary_prompt: None,
                model: Some(format!("world/{model}")),
            }],
            at_tokens: Some(600),
            ..ContextPolicy::default()
        },
        ..agent()
    }
}

/// Returns how the attempts at summaries for this run ended.
fn summaries<S: Session>(stage: &Stage<S>, run: &str) -> Vec<Ending> {
    let attempts = stage.world.attempts_at(&summarizer(run), 1, 0);
    let ended = attempts.iter().filter_map(|attempt| attempt.ended);
    ended.map(|(_, how)| how).collect()
}

fn is_summarized_once(record: &Record) {
    let compacted = |event: &&RunEvent| matches!(event, RunEvent::ContextCompacted { .. });
    assert_eq!(record.events.iter().filter(compacted).count(), 1);
    assert_eq!(record.output.usage.input_tokens, 900, "it is paid for once");
}

/// While a summary is made, the turn before is over and the next has not begun. The call is made once.
pub async fn a_summary_is_a_step_of_its_own<H: Host>(host: &H) {
    let stage = Stage::open(host, "summary").await;
    let agent = summarized(&stage, "run");
    let mut summary = stage.world.hold(&summarizer("run"), 1, 0);
    let run = stage.submit("run", &script(), agent).await;
    summary.reached().await;
    let read = stage.world.attempts_at("run", 2, 1);
    assert!(read[0].was(Ending::Answered), "{read:#?}");
    assert!(stage.world.attempts_at("run", 3, 0).is_empty());
    summary.release();
    let record = run.ends().await;
    assert_eq!(summaries(&stage, "run"), [Ending::Answered]);
    is_summarized_once(&record);
    expect("summary", &[record]);
}

/// Runs that are killed in the step before the summary, in it, and in the steps after it. A summary stays; a summary in
/// flight is made again, of the same messages.
pub async fn killed_around_a_summary<H: Host>(host: &H) {
    let stage = Stage::open(host, "killed_around_a_summary").await;
    let script = script();
    let agent = summarized(&stage, "undisturbed");
    let undisturbed = stage.submit("undisturbed", &script, agent).await;
    let undisturbed = undisturbed.ends().await;
    is_summarized_once(&undisturbed);

    let places = [
        ("before", "before".to_owned(), (2, 1)),
        ("in", summarizer("in"), (1, 0)),
        ("after", "after".to_owned(), (3, 0)),
        ("later", "later".to_owned(), (4, 0)),
    ];
    let runs = places.map(|(name, of, step)| Held {
        name: name.to_owned(),
        agent: summarized(&stage, name),
        of,
        step,
    });
    let records = killed_in(&stage, &script, runs).await;
    let material = |run: &str| stage.world.conversation(&summarizer(run));
    for record in &records {
        let name = record.name.as_str();
        let expected: &[Ending] = match name {
            "in" => &[Ending::Dropped, Ending::Answered],
            _ => &[Ending::Answered],
        };
        assert_eq!(summaries(&stage, name), expected, "{name}");
        assert_eq!(material(name), material("undisturbed"), "{name}");
        assert_eq!(record.course(), undisturbed.course(), "{name}");
        assert_eq!(record.attempts_at(3, 1).len(), 1, "a write in {name}");
    }
}
