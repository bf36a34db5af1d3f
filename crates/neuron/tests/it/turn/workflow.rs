use std::time::Duration;

use neuron::{
    prelude::*,
    turn::{Effect, EffectTool, TurnInput},
    types::{Conversation, Message},
    workflow::{Door, DurableContext, EFFECT_SIGNAL, Served as _, WorkflowError},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Seen, clerk};

/// The result of the effects of a turn.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Came {
    said: String,
    answers: Vec<String>,
    left: Vec<Effect>,
    signalled: Option<Value>,
}

/// Runs a turn, carries its effects out, and looks whether a signal came.
#[neuron::workflow(name = "desk")]
async fn desk<D: DurableContext>(door: &Door<D>, question: String) -> Result<Came, WorkflowError> {
    let history = Conversation::from(vec![Message::user("Hi."), Message::assistant("Hello.")]);
    let output = door
        .turn("lead", &history, &TurnInput::text(question))
        .await?;
    let said = output.text();
    let carried_out = door.carry_out(output.effects).await?;
    let answers = carried_out
        .answers
        .iter()
        .filter_map(|answer| answer.text());
    Ok(Came {
        said,
        answers: answers.map(ToOwned::to_owned).collect(),
        left: carried_out.left,
        signalled: door
            .wait_for_signal(EFFECT_SIGNAL, Some(Duration::ZERO))
            .await?,
    })
}

/// A script. The history has the first answer.
const LEAD: &str = r#"{"turns": [
    {"text": "Hello."},
    {"tool_calls": [
        {"name": "delegate", "input": {"agent": "scout", "input": "Look around."}},
        {"name": "delegate", "input": {"agent": "nobody", "input": "Hide."}},
        {"name": "write_memory", "input": {"scope": "desk", "key": "seen", "value": true}},
        {"name": "signal", "input": {"target": "d1", "payload": {"n": 1}}},
        {"name": "signal", "input": {"target": "no run", "payload": 2}}
    ]},
    {"text": "It is under way."}
]}"#;

fn came() -> Came {
    Came {
        said: "It is under way.".into(),
        answers: vec!["All is quiet.".into()],
        left: vec![
            Effect::Delegate {
                agent: "nobody".into(),
                input: json!("Hide."),
            },
            Effect::WriteMemory {
                scope: "desk".into(),
                key: "seen".into(),
                value: json!(true),
            },
            Effect::Signal {
                target: "no run".into(),
                payload: json!(2),
            },
        ],
        signalled: Some(json!({"n": 1})),
    }
}

#[tokio::test]
async fn a_workflow_starts_runs_for_delegations_sends_signals_and_is_left_the_rest() {
    let home = tempfile::tempdir().unwrap();
    for local in [Local::memory(), Local::open(home.path()).await.unwrap()] {
        let lead = Seen::new(LEAD);
        let scout = Seen::new(r#"{"turns": [{"text": "All is quiet."}]}"#);
        let lead_agent: Agent = clerk(&lead)
            .spec(|spec| spec.name = "lead".into())
            .tools(EffectTool::all())
            .build()
            .unwrap();
        let scout: Agent = clerk(&scout)
            .spec(|spec| spec.name = "scout".into())
            .build()
            .unwrap();
        let desk = Desk::with(&[&lead_agent, &scout]).unwrap();
        let run = desk
            .on(&local)
            .start("d1", &"What is it?".to_owned())
            .await
            .unwrap();
        assert_eq!(run.result().await.unwrap(), came());
        // The conversation before comes first.
        let requests = lead.requests();
        let said = requests[0].messages.iter().map(Message::text);
        assert_eq!(said.collect::<Vec<_>>(), ["Hi.", "Hello.", "What is it?"]);
    }
}

#[tokio::test]
async fn a_turn_that_fails_ends_a_workflow_that_does_not_look_at_why() {
    let lead = Seen::new(
        r#"{"turns": [{"text": ""}, {"text": "", "fail": [{"kind": "overloaded", "message": "later"}]}]}"#,
    );
    let lead_agent: Agent = clerk(&lead)
        .spec(|spec| spec.name = "lead".into())
        .build()
        .unwrap();
    let desk = Desk::with(&[&lead_agent]).unwrap();
    let failure = desk.run(&"What is it?".to_owned()).await.unwrap_err();
    let said = failure.to_string();
    assert!(said.contains("the turn of the agent lead failed"), "{said}");
    assert_eq!(lead.requests().len(), 1, "it is not tried again");
}
