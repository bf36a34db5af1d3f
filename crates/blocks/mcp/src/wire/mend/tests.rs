use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;

const ALL: [Asked; 8] = [
    Asked::Tools,
    Asked::Resources,
    Asked::Templates,
    Asked::Prompts,
    Asked::Call,
    Asked::Resource,
    Asked::Prompt,
    Asked::Initialize,
];

fn mended(asked: Asked, result: Value) -> Value {
    serde_json::to_value(mend(asked, result).unwrap()).unwrap()
}

fn left_out(result: &Value) -> Vec<(String, String)> {
    let meta = result.get("_meta").cloned().unwrap_or_default();
    let meta = serde_json::from_value(meta).ok();
    let omitted = omitted(meta.as_ref()).into_iter();
    omitted.map(|it| (it.name, it.reason)).collect()
}

#[test]
fn a_call_keeps_what_fits_and_has_the_rest_as_text() {
    let fits = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
    let read = mended(
        Asked::Call,
        json!({"content": [fits, {"type": "x"}, 7, "plain"]}),
    );
    assert_eq!(read["content"][0], fits);
    assert_eq!(read["content"][1]["text"], r#"{"type":"x"}"#);
    assert_eq!(read["content"][2]["text"], "7");
    assert_eq!(read["content"][3]["text"], "plain");
    let odd = mended(Asked::Call, json!({"content": [], "isError": {"a": 1}}));
    assert_eq!(odd["content"][0]["text"], r#"{"isError":{"a":1}}"#);
    assert!(mend(Asked::Call, Value::Null).is_none());
}

#[test]
fn odd_hints_say_nothing_of_the_effects() {
    let hints = json!({"readOnlyHint": "true", "idempotentHint": 1, "openWorldHint": false});
    let tool = json!({"name": "t", "inputSchema": {}, "annotations": hints});
    let read = mended(Asked::Tools, json!({"tools": [tool]}));
    assert_eq!(
        read["tools"][0]["annotations"],
        json!({"openWorldHint": false})
    );
}

#[test]
fn a_resource_without_a_name_is_called_by_its_address() {
    let listed = json!({"resources": [{"uri": "a://1", "size": "big"}, {"name": "lost"}]});
    let read = mended(Asked::Resources, listed);
    assert_eq!(
        read["resources"],
        json!([{"uri": "a://1", "name": "a://1"}])
    );
    let reason = ("lost".to_owned(), "it has no address".to_owned());
    assert_eq!(left_out(&read), [reason]);
    let listed = json!({"resourceTemplates": [{"uriTemplate": "a://{b}", "title": 1}]});
    let read = mended(Asked::Templates, listed);
    assert_eq!(read["resourceTemplates"][0]["name"], "a://{b}");
}

#[test]
fn prompts_are_listed_and_read_as_far_as_they_can_be() {
    let arguments = json!([{"name": "a", "required": "true", "description": 1}]);
    let listed = json!({"prompts": [{"name": "p", "arguments": arguments}, {"name": "q", "arguments": [1]}, 1]});
    let read = mended(Asked::Prompts, listed);
    assert_eq!(
        read["prompts"],
        json!([{"name": "p", "arguments": [{"name": "a", "required": true}]}])
    );
    assert_eq!(left_out(&read).len(), 2);
    let content = json!([{"type": "text", "text": "a"}, {"type": "x"}]);
    let read = mended(
        Asked::Prompt,
        json!({"messages": [{"role": "system", "content": content}, "hi"]}),
    );
    assert_eq!(read["messages"].as_array().unwrap().len(), 3);
    let read = mended(
        Asked::Resource,
        json!({"contents": {"text": "held", "mimeType": 1}}),
    );
    assert_eq!(read["contents"][0]["text"], "held");
}

#[test]
fn a_long_list_of_nothing_is_named_in_short() {
    let read = mended(Asked::Tools, json!({"tools": vec![0; 100_000]}));
    let left_out = left_out(&read);
    assert_eq!(left_out.len(), 1001);
    assert_eq!(left_out[1000].0, "(99000 more)");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z]{0,6}".prop_map(Value::from),
    ];
    let names = prop_oneof![
        Just("tools"),
        Just("resources"),
        Just("prompts"),
        Just("content"),
        Just("contents"),
        Just("messages"),
        Just("name"),
        Just("uri"),
        Just("type"),
        Just("text"),
        Just("isError"),
        Just("structuredContent"),
        Just("inputSchema"),
        Just("annotations"),
        Just("nextCursor"),
        Just("_meta"),
        Just("resultType"),
        Just("arguments"),
        Just("role"),
        Just("protocolVersion"),
        Just("capabilities"),
        Just("serverInfo"),
    ];
    leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((names.clone(), inner), 0..6).prop_map(|fields| {
                let fields = fields.into_iter();
                let fields: Map<_, _> = fields.map(|(name, it)| (name.to_owned(), it)).collect();
                Value::Object(fields)
            }),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_mended_answers_the_request_and_fits_from_then_on(result in any_json()) {
        for asked in ALL {
            let Some(once) = mend(asked, result.clone()) else {
                continue;
            };
            if !matches!(once, ServerResult::CustomResult(_)) {
                prop_assert!(asked.is_answered_by(&once));
                let json = serde_json::to_value(&once).unwrap();
                prop_assert_eq!(mended(asked, json.clone()), json);
            }
        }
    }

    #[test]
    fn what_fits_already_is_not_changed(result in any_json()) {
        if let Ok(fits) = serde_json::from_value::<ServerResult>(result.clone()) {
            for asked in ALL {
                if asked.is_answered_by(&fits) {
                    let fits = serde_json::to_value(&fits).unwrap();
                    prop_assert_eq!(mended(asked, result.clone()), fits);
                }
            }
        }
    }

    #[test]
    fn a_call_has_an_answer_unless_there_is_none(result in any_json()) {
        prop_assert_eq!(mend(Asked::Call, result.clone()).is_none(), result.is_null());
    }
}
