use std::time::Duration;

use neuron_turn::{
    Effect, ExitReason, LogLevel, ToolCallRecord, Trigger, TurnConfig, TurnInput, TurnOutput,
};
use neuron_types::SessionName;
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// Returns what a value is in JSON, from which it comes back.
fn written<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> Value {
    let json = serde_json::to_value(value).unwrap();
    assert_eq!(serde_json::from_value::<T>(json.clone()).unwrap(), *value);
    json
}

#[test]
fn an_input_of_a_message_alone_is_a_message_and_defaults() {
    let input = TurnInput::text("Hi.");
    let message = json!({"role": "user", "content": [{"text": "Hi."}]});
    let expected = json!({"message": message, "trigger": "user", "config": {}});
    assert_eq!(written(&input), expected);
    let short: TurnInput = serde_json::from_value(json!({"message": message})).unwrap();
    assert_eq!(short, input);
}

#[test]
fn an_input_has_its_overrides_in_whole_milliseconds_and_decimal_texts() {
    let config = TurnConfig {
        model: Some("openai/gpt".into()),
        system_addendum: Some("Be brief.".into()),
        max_turns: Some(3),
        max_cost: Some("0.50".parse().unwrap()),
        max_duration: Some(Duration::from_millis(1_500)), // No time: what JSON says.
        allowed_tools: Some(vec!["grep".into()]),
    };
    let input = TurnInput::text("Hi.")
        .trigger(Trigger::Custom("mail".into()))
        .session(SessionName::new("s1").unwrap())
        .config(config)
        .metadata("trace", "t-1");
    let expected = json!({
        "message": {"role": "user", "content": [{"text": "Hi."}]},
        "trigger": {"custom": "mail"},
        "session": "s1",
        "config": {
            "model": "openai/gpt",
            "system_addendum": "Be brief.",
            "max_turns": 3,
            "max_cost": "0.50",
            "max_duration_ms": 1_500,
            "allowed_tools": ["grep"],
        },
        "metadata": {"trace": "t-1"},
    });
    assert_eq!(written(&input), expected);
}

#[test]
fn each_effect_has_its_type_beside_its_fields() {
    let effects = [
        Effect::WriteMemory {
            scope: "user".into(),
            key: "city".into(),
            value: json!({"name": "Lisbon"}),
        },
        Effect::Log {
            level: LogLevel::Warn,
            message: "left out".into(),
        },
        Effect::Custom {
            kind: "page".into(),
            payload: json!(null),
        },
    ];
    let expected = [
        json!({"type": "write_memory", "scope": "user", "key": "city", "value": {"name": "Lisbon"}}),
        json!({"type": "log", "level": "warn", "message": "left out"}),
        json!({"type": "custom", "kind": "page", "payload": null}),
    ];
    for (effect, expected) in effects.iter().zip(expected) {
        assert_eq!(written(effect), expected);
    }
}

#[test]
fn an_output_comes_back_from_its_json() {
    let json = json!({
        "message": {"role": "assistant", "content": [{"text": "Done."}]},
        "exit_reason": {"observer_halt": {"reason": "enough"}},
        "metadata": {
            "tokens_in": 10,
            "tokens_out": 2,
            "cost": "0.1",
            "duration_ms": 40,
            "tools_called": [
                {"id": "c1", "tool": "signal", "input": {}, "is_error": false, "duration_ms": 3}
            ],
        },
        "effects": [{"type": "signal", "target": "a", "payload": 1}],
    });
    let output: TurnOutput = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(written(&output), json);
    let reason = "enough".to_owned();
    assert_eq!(output.exit_reason, ExitReason::ObserverHalt { reason });
    let [ToolCallRecord { tool, .. }] = output.metadata.tools_called.as_slice() else {
        panic!("{output:?}");
    };
    assert_eq!(tool, "signal");
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn effect() -> impl Strategy<Value = Effect> {
    let text = ".{0,8}";
    prop_oneof![
        (text, text, value()).prop_map(|(scope, key, value)| Effect::WriteMemory {
            scope,
            key,
            value
        }),
        (text, text).prop_map(|(scope, key)| Effect::DeleteMemory { scope, key }),
        (text, value()).prop_map(|(agent, input)| Effect::Delegate { agent, input }),
        (text, value()).prop_map(|(agent, state)| Effect::Handoff { agent, state }),
        (text, value()).prop_map(|(target, payload)| Effect::Signal { target, payload }),
        text.prop_map(|message| Effect::Log {
            level: LogLevel::Info,
            message
        }),
        (text, value()).prop_map(|(kind, payload)| Effect::Custom { kind, payload }),
    ]
}

proptest! {
    #[test]
    fn any_effect_comes_back_from_its_json(effect in effect()) {
        written(&effect);
    }

    #[test]
    fn any_custom_effect_is_read_from_a_result_of_the_agreed_form(
        kind in ".{0,8}", payload in value(), rest in value(),
    ) {
        let result = json!({"effect": {"kind": kind, "payload": payload}, "rest": rest});
        prop_assert_eq!(Effect::custom(&result), Some(Effect::Custom { kind, payload }));
    }
}
