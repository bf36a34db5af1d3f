use std::sync::Arc;

use futures::future::BoxFuture;
use neuron::{
    prelude::*,
    turn::{
        AgentTurn, InMemoryState, StateError, StateReader, Turn, TurnConfig, TurnError, TurnInput,
    },
    types::{Conversation, Message, SessionName, SystemPrompt},
};
use serde_json::json;

use super::{Seen, clerk, turn};

/// Looks a word up.
#[neuron_tool(read_only)]
async fn look(word: String) -> Result<String, ToolError> {
    Ok(word)
}

#[tokio::test]
async fn overrides_hold_for_the_request_and_for_no_other_turn() {
    let model = Seen::new(r#"{"turns": [{"text": "Hello."}]}"#);
    let agent: Agent = clerk(&model)
        .instructions("You are brief.")
        .tool(LookTool)
        .spec(|spec| spec.head_mut().extra = Some(json!({"seed": 7})))
        .build()
        .unwrap();
    let clerk = AgentTurn::new(&agent).effect_tools([]);
    let config = TurnConfig {
        model: Some("large".into()),
        system_addendum: Some("Speak French.".into()),
        allowed_tools: Some(vec![]),
        ..TurnConfig::default()
    };
    let input = TurnInput::text("Hi.")
        .config(config)
        .metadata("trace", "t-1")
        .metadata("seed", 8);
    clerk.execute(input).await.unwrap();
    clerk.execute(TurnInput::text("Hi.")).await.unwrap();

    let requests = model.requests();
    let head = &requests[0].head;
    assert_eq!(head.model, "large");
    let system = SystemPrompt::Text("You are brief.\nSpeak French.".into());
    assert_eq!(head.system, Some(system));
    assert!(head.tools.is_empty());
    assert_eq!(head.extra, Some(json!({"seed": 7, "trace": "t-1"})));

    let head = &requests[1].head;
    assert_eq!(head.model, "small");
    assert_eq!(
        head.system,
        Some(SystemPrompt::Text("You are brief.".into()))
    );
    assert_eq!(head.tools.len(), 1);
    assert_eq!(head.extra, Some(json!({"seed": 7})));
}

#[tokio::test]
async fn a_session_s_history_comes_before_the_message() {
    let model = Seen::new(r#"{"turns": [{"text": "Hello."}, {"text": "In Lisbon."}]}"#);
    let agent: Agent = clerk(&model).build().unwrap();
    let state = Arc::new(InMemoryState::new());
    let session = SessionName::new("s1").unwrap();
    let said = [
        Message::user("I live in Lisbon."),
        Message::assistant("Hello."),
    ];
    state.append(&session, said.clone());
    let clerk = AgentTurn::new(&agent).state(state);
    let input = TurnInput::text("Where do I live?").session(session);
    assert_eq!(clerk.execute(input).await.unwrap().text(), "In Lisbon.");
    let messages = &model.requests()[0].messages;
    assert_eq!(messages[..2], said);
    assert_eq!(messages[2].text(), "Where do I live?");
    assert_eq!(messages.len(), 3);
}

/// A state that cannot be read.
struct Broken;

impl StateReader for Broken {
    fn history<'a>(
        &'a self,
        _: &'a SessionName,
    ) -> BoxFuture<'a, Result<Conversation, StateError>> {
        Box::pin(async { Err(StateError::new("the disk is gone")) })
    }
}

#[tokio::test]
async fn a_session_that_cannot_be_read_fails_the_turn_before_its_first_call() {
    let model = Seen::new(r#"{"turns": [{"text": "Hello."}]}"#);
    let session = SessionName::new("s1").unwrap();
    let input = TurnInput::text("Hi.").session(session);
    let error = turn(clerk(&model), input.clone()).await.unwrap_err();
    assert!(matches!(error, TurnError::NoState { .. }), "{error:?}");

    let agent: Agent = clerk(&model).build().unwrap();
    let clerk = AgentTurn::new(&agent).state(Arc::new(Broken));
    let error = clerk.execute(input).await.unwrap_err();
    assert!(matches!(error, TurnError::State { .. }), "{error:?}");
    assert_eq!(model.requests().len(), 0);
}
