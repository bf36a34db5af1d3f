//! Which run a call is of, and whose, as a server is sent it.

use neuron_types::RunOrigin;
use rmcp::model::{MetaObject, RequestMetaObject};
use serde_json::{Map, Value, json};

/// What is known of the run, in the request's `_meta`.
pub(crate) fn meta(origin: RunOrigin<'_>) -> RequestMetaObject {
    let texts = origin.texts();
    let mut meta: Map<String, Value> = texts
        .map(|(what, text)| (format!("neuron/{what}"), Value::from(text)))
        .collect();
    let labels = &origin.tags.labels;
    if !labels.is_empty() {
        meta.insert("neuron/labels".to_owned(), json!(labels));
    }
    RequestMetaObject(MetaObject(meta))
}

#[cfg(test)]
mod tests {
    use neuron_types::RunTags;

    use super::*;

    #[test]
    fn what_is_not_known_of_a_run_is_left_out() {
        let tags = RunTags::default();
        let origin = RunOrigin {
            run: "r1.1-1",
            root: "r1",
            tags: &tags,
        };
        let meta = meta(origin);
        let meta = serde_json::to_value(meta).unwrap();
        assert_eq!(meta, json!({"neuron/run": "r1.1-1", "neuron/root": "r1"}));
    }

    #[test]
    fn labels_are_an_object_of_texts() {
        let tags = RunTags {
            tenant: Some("acme".to_owned()),
            owner: Some("ada".to_owned()),
            labels: [("team".to_owned(), "a".to_owned())].into(),
        };
        let origin = RunOrigin {
            run: "r1",
            root: "r1",
            tags: &tags,
        };
        let meta = serde_json::to_value(meta(origin)).unwrap();
        assert_eq!(
            (&meta["neuron/tenant"], &meta["neuron/owner"]),
            (&json!("acme"), &json!("ada"))
        );
        assert_eq!(meta["neuron/labels"], json!({"team": "a"}));
    }
}
