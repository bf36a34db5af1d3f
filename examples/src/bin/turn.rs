//! The turn protocol: a program's own orchestrator. It runs turns, keeps the conversation, and carries out the effects
//! that a turn asks for.
//!
//! ```console
//! cargo run -p neuron-examples --bin turn
//! ```
//!
//! Its model is a script, so it needs no key.

use std::{error::Error, sync::Arc};

use neuron::{
    config::ScriptModel,
    prelude::*,
    turn::{AgentTurn, Effect, InMemoryState, Trigger, Turn, TurnConfig, TurnInput, carry_out},
    types::{Message, SessionName},
};

/// The answers of the model, and the calls that it asks for.
const SCRIPT: &str = r#"{"turns": [
    {"text": "Hello. Where do you live?"},
    {"tool_calls": [
        {"name": "write_memory", "input": {"scope": "user", "key": "city", "value": "Lisbon"}},
        {"name": "delegate", "input": {"agent": "weather", "input": "Will it rain in Lisbon?"}}
    ]},
    {"text": "I have noted it, and somebody looks at the weather."}
]}"#;

/// Runs a turn of any kind: the caller need not know which one it is.
async fn exchange(
    turn: &dyn Turn,
    state: &InMemoryState,
    session: &SessionName,
    text: &str,
) -> Result<(), Box<dyn Error>> {
    let message = Message::user(text);
    let config = TurnConfig {
        system_addendum: Some("Answer in one sentence.".into()),
        max_turns: Some(5),
        ..TurnConfig::default()
    };
    let input = TurnInput::new(message.clone())
        .trigger(Trigger::User)
        .session(session.clone())
        .config(config);
    let output = turn.execute(input).await?;
    println!("{:?}: {}", output.exit_reason, output.text());

    // A turn writes nothing: the orchestrator does, and decides about the other effects.
    state.append(session, [message, output.message]);
    for effect in carry_out(output.effects, &[state]).await? {
        match effect {
            Effect::Delegate { agent, input } => println!("for {agent}: {input}"),
            other => println!("not carried out: {other:?}"),
        }
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let agent: Agent = Agent::builder("clerk")
        .model(Model::of(ScriptModel::parse(SCRIPT)?, "script"))
        .instructions("You help people plan their day.")
        .build()?;
    let state = Arc::new(InMemoryState::new());
    let turn = AgentTurn::new(&agent).state(state.clone());
    let session = SessionName::new("ada")?;

    exchange(&turn, &state, &session, "Hello.").await?;
    exchange(&turn, &state, &session, "I live in Lisbon. Will it rain?").await?;
    let city = state.value("user", "city").unwrap_or_default();
    println!("remembered: {city}");
    Ok(())
}
