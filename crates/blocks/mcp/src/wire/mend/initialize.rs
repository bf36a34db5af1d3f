//! What a server says of itself at the start.

use rmcp::model::{Implementation, ProtocolVersion, ServerCapabilities};
use serde_json::{Value, json};

use super::fields::{Fields, fits, text};

/// The lists that a server may have.
const LISTS: [&str; 3] = ["tools", "resources", "prompts"];

/// Returns what can be read of it. A server without a name is called `unknown`, and one without a version speaks the
/// newest that has a start. If a server does not say what it has, the list of its tools shows it. `None` if nothing can
/// be read.
pub(super) fn mend(result: Value) -> Option<Value> {
    let Value::Object(fields) = result else {
        return None;
    };
    let expected = ["protocolVersion", "capabilities", "serverInfo"];
    if !expected.iter().any(|name| fields.contains_key(*name)) {
        return None;
    }
    let newest = ProtocolVersion::LATEST_WITH_INITIALIZE;
    let version = text(&fields, "protocolVersion").unwrap_or(newest.as_str());
    Some(json!({
        "protocolVersion": version,
        "capabilities": capabilities(fields.get("capabilities")),
        "serverInfo": name(fields.get("serverInfo")),
        "instructions": text(&fields, "instructions"),
    }))
}

fn capabilities(said: Option<&Value>) -> Value {
    let Some(Value::Object(said)) = said else {
        return json!({"tools": {}});
    };
    let mut kept = Fields::new();
    for (name, value) in said {
        let one = Value::Object(Fields::from_iter([(name.clone(), value.clone())]));
        match value {
            Value::Null | Value::Bool(false) => {}
            value if fits::<ServerCapabilities>(&one) => {
                kept.insert(name.clone(), value.clone());
            }
            _ if LISTS.contains(&name.as_str()) => {
                kept.insert(name.clone(), json!({}));
            }
            _ => {}
        }
    }
    Value::Object(kept)
}

fn name(said: Option<&Value>) -> Value {
    let said = said.unwrap_or(&Value::Null);
    if fits::<Implementation>(said) {
        return said.clone();
    }
    let called = match said {
        Value::String(name) => Some(name.as_str()),
        said => said.get("name").and_then(Value::as_str),
    };
    let version = match said.get("version") {
        Some(Value::String(version)) => version.clone(),
        Some(Value::Number(version)) => version.to_string(),
        _ => String::new(),
    };
    let called = called.filter(|name| !name.is_empty()).unwrap_or("unknown");
    json!({"name": called, "version": version})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_of_itself_is_kept_and_the_rest_is_filled_in() {
        let read = mend(
            json!({"protocolVersion": null, "instructions": "Ask.", "serverInfo": {"name": "s", "version": 2}}),
        );
        let read = read.unwrap();
        assert_eq!(read["protocolVersion"], "2025-11-25");
        assert_eq!(read["instructions"], "Ask.");
        assert_eq!(read["serverInfo"], json!({"name": "s", "version": "2"}));
        assert_eq!(read["capabilities"], json!({"tools": {}}));
        let read = mend(json!({"protocolVersion": "2025-03-26", "instructions": 1}));
        let read = read.unwrap();
        assert_eq!(read["protocolVersion"], "2025-03-26");
        assert_eq!(read["serverInfo"]["name"], "unknown");
        assert_eq!(read["instructions"], Value::Null);
    }

    #[test]
    fn of_its_capabilities_those_that_fit_are_kept_and_a_list_is_there_unless_it_is_denied() {
        let said = json!({"tools": true, "resources": null, "prompts": false, "logging": {}, "completions": 7});
        let read = mend(json!({"capabilities": said})).unwrap();
        assert_eq!(read["capabilities"], json!({"tools": {}, "logging": {}}));
        for said in [json!(null), json!([]), json!("all")] {
            let read = mend(json!({"capabilities": said})).unwrap();
            assert_eq!(read["capabilities"], json!({"tools": {}}), "{said}");
        }
    }

    #[test]
    fn what_says_nothing_of_it_is_no_answer() {
        for nothing in [json!({}), json!({"ok": true}), json!([]), json!(null)] {
            assert_eq!(mend(nothing), None);
        }
    }
}
