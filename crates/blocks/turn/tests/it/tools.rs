use futures::executor::block_on;
use neuron_turn::{Effect, EffectTool};
use neuron_types::{ContentItem, ToolContext, ToolDyn, ToolEffects, ToolError};
use serde_json::{Value, json};

/// Arguments that each of the tools takes: no tool looks at what it does not know.
fn arguments() -> Value {
    json!({
        "scope": "user", "key": "city", "value": [1], "agent": "scout", "input": "Go.", "state": {"a": 1},
        "target": "nightly", "payload": null,
    })
}

#[test]
fn each_tool_is_found_by_its_name_and_no_other_is() {
    for tool in EffectTool::ALL {
        assert_eq!(EffectTool::named(tool.as_str()), Some(tool));
        assert_eq!(tool.name(), tool.as_str());
        assert_eq!(tool.definition().name, tool.as_str());
    }
    assert_eq!(EffectTool::named("bash"), None);
}

#[test]
fn a_tool_says_what_it_needs_and_changes_nothing() {
    for tool in EffectTool::ALL {
        let definition = tool.definition();
        assert_eq!(definition.effects(), ToolEffects::ReadOnly);
        let schema = &definition.input_schema;
        let required = schema["required"].as_array().unwrap();
        assert!(!required.is_empty());
        for name in required {
            let name = name.as_str().unwrap();
            assert!(schema["properties"].get(name).is_some(), "{name}");
            // Whatever is required is missed.
            let mut arguments = arguments();
            arguments.as_object_mut().unwrap().remove(name);
            let error = tool.effect(arguments).unwrap_err();
            let ToolError::ModelRetry(hint) = error else {
                panic!("{error:?}");
            };
            assert!(hint.contains(name), "{hint}");
        }
    }
}

#[test]
fn a_call_answers_a_sentence_and_has_its_effect_for_programs() {
    for tool in EffectTool::ALL {
        let context = ToolContext::default();
        let output = block_on(tool.call_dyn(arguments(), &context)).unwrap();
        let text = ContentItem::Text(tool.answer().to_owned());
        assert_eq!((output.content, output.is_error), (vec![text], false));
        let effect = tool.effect(arguments()).unwrap();
        let structured = json!({ "effect": effect });
        assert_eq!(output.structured_content, Some(structured));
    }
}

#[test]
fn a_name_that_is_no_text_is_rejected() {
    let input = json!({"agent": 7, "input": "Go."});
    EffectTool::Delegate.effect(input).unwrap_err();
    EffectTool::Delegate.effect(json!("scout")).unwrap_err();
}

#[test]
fn a_result_of_another_form_asks_for_nothing() {
    for result in [
        json!(null),
        json!({}),
        json!({"effect": {"payload": 1}}),
        json!({"effect": {"kind": 1}}),
        json!([{"effect": {"kind": "page"}}]),
    ] {
        assert_eq!(Effect::custom(&result), None, "{result}");
    }
}
