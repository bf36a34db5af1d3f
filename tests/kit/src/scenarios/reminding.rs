//! Reminders of the model, and the size of the conversation in its reports.

use neuron_types::{AgentSpec, ContextPolicy, ContextRule, Reminder, ReminderTrigger};
use serde_json::{Value, json};

use super::held::{Held, killed_in};
use crate::{Host, Stage, agent, expect};

/// Returns a script of a model that counts twice the estimated tokens: about 2,300 for each of the long results.
fn script() -> Value {
    let turn = |input_tokens: u32, call: Value| {
        json!({
            "text": "I go on.",
            "tool_calls": [call],
            "usage": {"input_tokens": input_tokens, "output_tokens": 20},
        })
    };
    let reads = json!({"name": "look", "input": {"bytes": 4_500}});
    json!({"turns": [
        turn(600, reads.clone()),
        turn(2_900, reads.clone()),
        turn(5_250, reads),
        turn(3_300, json!({"name": "put", "input": {}})),
        {"text": "Done.", "usage": {"input_tokens": 3_400, "output_tokens": 20}},
    ]})
}

/// Returns an agent with two sizes. By the estimates alone, the conversation would reach neither of them.
fn reminded() -> AgentSpec {
    let reminder = |text: &str, when| Reminder {
        text: text.to_owned(),
        when,
    };
    AgentSpec {
        context: ContextPolicy {
            rules: vec![ContextRule::ClearToolResults { keep: 1 }],
            at_tokens: Some(7_000),
            reminders: vec![
                reminder("Keep to the plan.", ReminderTrigger::EveryTurns(2)),
                reminder(
                    "Are you getting closer?",
                    ReminderTrigger::EveryToolCalls(3),
                ),
                reminder("Be brief from now on.", ReminderTrigger::AtTokens(4_600)),
            ],
        },
        ..agent()
    }
}

/// Reminders of every kind appear once each time they are due, and a conversation is as large as the model reports:
/// larger than estimated.
pub async fn reminders_go_by_what_the_model_counts<H: Host>(host: &H) {
    let stage = Stage::open(host, "reminders").await;
    let run = stage.submit("run", &script(), reminded()).await;
    expect("reminders", &[run.ends().await]);
}

/// Runs that are killed before and after they were reminded, and after their conversation was made smaller.
pub async fn killed_between_reminders<H: Host>(host: &H) {
    let stage = Stage::open(host, "killed_between_reminders").await;
    let script = script();
    let undisturbed = stage.submit("undisturbed", &script, reminded()).await;
    let undisturbed = undisturbed.ends().await;
    let runs = [(2, 1), (3, 0), (3, 1), (4, 0), (4, 1)].map(|step| Held::at(step, reminded()));
    for record in killed_in(&stage, &script, runs).await {
        assert_eq!(record.course(), undisturbed.course(), "{}", record.name);
    }
}
