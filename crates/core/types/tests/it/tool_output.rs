use neuron_types::{ContentItem, ToolAnnotations, ToolDefinition, ToolEffects, ToolOutput};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::strategies;

fn only_text(output: &ToolOutput) -> &str {
    let [ContentItem::Text(text)] = output.content.as_slice() else {
        panic!("{output:?} is not one text");
    };
    text
}

#[test]
fn a_string_is_its_own_text() {
    let output = ToolOutput::from_value(json!("two\nlines"));
    assert_eq!(output, ToolOutput::text("two\nlines"));
}

#[test]
fn nothing_is_an_empty_text() {
    assert_eq!(ToolOutput::from_value(Value::Null), ToolOutput::text(""));
}

#[test]
fn an_object_is_json_text_and_structured_content() {
    let value = json!({"lines": 42, "path": "a.txt"});
    let output = ToolOutput::from_value(value.clone());
    assert_eq!(only_text(&output), r#"{"lines":42,"path":"a.txt"}"#);
    assert_eq!(output.structured_content, Some(value));
    assert!(!output.is_error);
}

#[test]
fn anything_else_is_json_text() {
    for (value, text) in [
        (json!(true), "true"),
        (json!(-7), "-7"),
        (json!(0.5), "0.5"),
        (json!(["a", 1]), r#"["a",1]"#),
    ] {
        assert_eq!(ToolOutput::from_value(value), ToolOutput::text(text));
    }
}

#[test]
fn an_error_is_a_text_that_is_marked() {
    let output = ToolOutput::error("there is no such file");
    assert_eq!(only_text(&output), "there is no such file");
    assert!(output.is_error);
}

#[test]
fn effects_are_what_the_annotations_promise_and_a_write_without_a_promise() {
    let effects = |read_only_hint, idempotent_hint| {
        let annotations = ToolAnnotations {
            read_only_hint,
            idempotent_hint,
            destructive_hint: Some(false),
            ..ToolAnnotations::default()
        };
        ToolDefinition {
            annotations: Some(annotations),
            ..ToolDefinition::default()
        }
        .effects()
    };
    assert_eq!(effects(Some(true), None), ToolEffects::ReadOnly);
    assert_eq!(effects(Some(true), Some(false)), ToolEffects::ReadOnly);
    assert_eq!(effects(None, Some(true)), ToolEffects::Idempotent);
    assert_eq!(effects(Some(false), Some(true)), ToolEffects::Idempotent);
    assert_eq!(effects(Some(false), Some(false)), ToolEffects::Write);
    assert_eq!(effects(None, None), ToolEffects::Write);
    assert_eq!(ToolDefinition::default().effects(), ToolEffects::Write);
}

proptest! {
    #[test]
    fn whatever_is_not_a_string_can_be_parsed_from_the_text(value in strategies::json()) {
        let output = ToolOutput::from_value(value.clone());
        match value {
            Value::Null => prop_assert_eq!(only_text(&output), ""),
            Value::String(text) => prop_assert_eq!(only_text(&output), text),
            other => {
                let parsed: Value = serde_json::from_str(only_text(&output)).unwrap();
                prop_assert_eq!(parsed, other);
            }
        }
    }
}
