use futures::executor::block_on;
use neuron_turn::{Effect, EffectFailed, EffectHandler, InMemoryState, StateReader, carry_out};
use neuron_types::{Message, SessionName, WasmBoxedFuture};
use serde_json::json;

fn write(key: &str, value: u32) -> Effect {
    Effect::WriteMemory {
        scope: "user".into(),
        key: key.into(),
        value: json!(value),
    }
}

fn signal() -> Effect {
    Effect::Signal {
        target: "a".into(),
        payload: json!(1),
    }
}

#[test]
fn effects_are_carried_out_in_order_and_the_rest_is_left() {
    let state = InMemoryState::new();
    let delete = Effect::DeleteMemory {
        scope: "user".into(),
        key: "b".into(),
    };
    let effects = [
        write("a", 1),
        signal(),
        write("b", 2),
        write("a", 3),
        delete,
    ];
    let left = block_on(carry_out(effects, &[&state])).unwrap();
    assert_eq!(left, [signal()]);
    let read = |key| block_on(state.read("user", key)).unwrap();
    assert_eq!((read("a"), read("b")), (Some(json!(3)), None));
    assert_eq!(block_on(state.read("project", "a")).unwrap(), None);
}

/// Carries no signal out.
struct Deaf;

impl EffectHandler for Deaf {
    fn handle<'a>(&'a self, effect: &'a Effect) -> WasmBoxedFuture<'a, Result<bool, EffectFailed>> {
        let result = match effect {
            Effect::Signal { .. } => Err(EffectFailed::new("nobody listens")),
            _ => Ok(false),
        };
        Box::pin(std::future::ready(result))
    }
}

#[test]
fn a_failure_ends_it_with_the_effects_before_it_carried_out() {
    let state = InMemoryState::new();
    let effects = [write("a", 1), signal(), write("a", 2)];
    block_on(carry_out(effects, &[&Deaf, &state])).unwrap_err();
    assert_eq!(state.value("user", "a"), Some(json!(1)));
}

#[test]
fn a_conversation_is_read_as_it_was_said_and_another_is_empty() {
    let state = InMemoryState::new();
    let session = SessionName::new("s1").unwrap();
    state.append(&session, [Message::user("Hi.")]);
    state.append(&session, [Message::assistant("Hello.")]);
    let history = block_on(state.history(&session)).unwrap();
    assert_eq!(
        history[..],
        [Message::user("Hi."), Message::assistant("Hello.")]
    );
    let other = SessionName::new("s2").unwrap();
    assert!(block_on(state.history(&other)).unwrap().is_empty());
}
