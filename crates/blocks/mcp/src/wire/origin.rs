//! Which run a call is of, and whose, as a server is sent it.

use neuron_types::{RunOrigin, ToolContext};
use rmcp::model::{MetaObject, RequestMetaObject};
use serde_json::{Map, Value, json};

/// Returns the request's `_meta`: the trace that the call is a part of, if there is one, and what is known of its run
/// if the server `is_told`. `None` if there is nothing to send.
pub(crate) fn meta(ctx: &ToolContext, is_told: bool) -> Option<RequestMetaObject> {
    let mut meta = Map::new();
    if let Some(origin) = ctx.origin().filter(|_| is_told) {
        add(&mut meta, origin);
    }
    if let Some(trace) = &ctx.trace {
        meta.insert("traceparent".to_owned(), trace.traceparent().into());
        let state = trace.tracestate();
        meta.extend(state.map(|state| ("tracestate".to_owned(), state.into())));
    }
    (!meta.is_empty()).then_some(RequestMetaObject(MetaObject(meta)))
}

fn add(meta: &mut Map<String, Value>, origin: RunOrigin<'_>) {
    for (what, text) in origin.texts() {
        meta.insert(format!("neuron/{what}"), Value::from(text));
    }
    let labels = &origin.tags.labels;
    if !labels.is_empty() {
        meta.insert("neuron/labels".to_owned(), json!(labels));
    }
}

#[cfg(test)]
mod tests {
    use neuron_types::{RunTags, TraceContext};

    use super::*;

    fn context(tags: RunTags) -> ToolContext {
        ToolContext {
            run_id: "r1.1-1".to_owned(),
            root: "r1".to_owned(),
            tags,
            ..ToolContext::default()
        }
    }

    fn meta_of(ctx: &ToolContext, is_told: bool) -> Value {
        serde_json::to_value(meta(ctx, is_told)).unwrap()
    }

    #[test]
    fn what_is_not_known_of_a_run_is_left_out() {
        let ctx = context(RunTags::default());
        let expected = json!({"neuron/run": "r1.1-1", "neuron/root": "r1"});
        assert_eq!(meta_of(&ctx, true), expected);
        assert_eq!(meta_of(&ctx, false), Value::Null);
    }

    #[test]
    fn labels_are_an_object_of_texts() {
        let tags = RunTags {
            tenant: Some("acme".to_owned()),
            owner: Some("ada".to_owned()),
            labels: [("team".to_owned(), "a".to_owned())].into(),
        };
        let meta = meta_of(&context(tags), true);
        assert_eq!(
            (&meta["neuron/tenant"], &meta["neuron/owner"]),
            (&json!("acme"), &json!("ada"))
        );
        assert_eq!(meta["neuron/labels"], json!({"team": "a"}));
    }

    #[test]
    fn the_trace_is_passed_on_to_whoever_is_told_nothing_else() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let ctx = ToolContext {
            trace: TraceContext::from_headers(parent, Some("a=1")),
            ..context(RunTags::default())
        };
        let expected = json!({"traceparent": parent, "tracestate": "a=1"});
        assert_eq!(meta_of(&ctx, false), expected);
    }
}
