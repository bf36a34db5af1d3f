//! The inputs of runs.

use neuron_types::{AgentRef, AgentSpec, Message, RunRequest, SessionName};
use serde_json::json;

use crate::{Host, Stage, agent, expect};

/// A prompt that does not fit the agent's input type fails the run before the model is called, whether the agent is
/// named or a definition is given.
pub async fn a_prompt_that_states_no_input_fails_the_run_at_once<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "inputs").await;
    let script = json!({"turns": [{"text": "Paid."}]});
    let typed = |model: &str| {
        let mut typed = AgentSpec {
            input: Some(json!({
                "type": "object",
                "required": ["cents"],
                "properties": {"cents": {"type": "integer"}},
            })),
            ..agent()
        };
        model.clone_into(&mut typed.head_mut().model);
        typed
    };
    stage.world.define(typed("named"));
    stage.execute().await;
    let mut records = Vec::new();
    for (name, agent, prompt) in [
        ("fits", AgentRef::from(typed("fits")), r#"{"cents": 1}"#),
        (
            "misfit",
            AgentRef::from(typed("misfit")),
            r#"{"cents": "1"}"#,
        ),
        ("no-json", AgentRef::from(typed("no-json")), "Pay it."),
        ("named", AgentRef::from("tester"), "{}"),
    ] {
        let request = RunRequest::new(agent, Message::user(prompt));
        let run = stage.submit_request(name, &script, request).await;
        records.push(run.ends().await);
    }
    expect("inputs", &records);
}

/// The conversation of the session that a run names comes before its preamble and its prompt, in every way in which the
/// agent is given. A session that another run has fails the run with a sentence that states that.
pub async fn a_run_goes_on_with_the_session_that_it_names<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "sessions").await;
    let script = json!({"turns": [{"text": "One."}, {"text": "Two."}, {"text": "Three."}]});
    stage.world.define(agent_of("named"));
    stage.execute().await;
    let mut records = Vec::new();
    for (name, agent, session) in [
        ("named", AgentRef::from("tester"), "notes"),
        ("defined", AgentRef::from(agent_of("defined")), "notes"),
        ("held", AgentRef::from(agent_of("held")), "plans"),
    ] {
        let mut request = RunRequest::new(agent, Message::user("And now?"))
            .tenant("acme")
            .session(SessionName::new(session).unwrap());
        request.preamble = vec![Message::user("Hello."), Message::assistant("Hello!")].into();
        let run = stage.submit_request(name, &script, request).await;
        records.push(run.ends().await);
    }
    expect("sessions", &records);
}

fn agent_of(model: &str) -> AgentSpec {
    let mut agent = agent();
    model.clone_into(&mut agent.head_mut().model);
    agent
}
