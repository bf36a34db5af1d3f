//! What trace a request is a part of, as headers.

use neuron_types::TraceContext;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// Adds the headers of W3C Trace Context, in the place of any that are there.
pub(crate) fn add(headers: &mut HeaderMap, trace: &TraceContext) {
    let state = HeaderName::from_static("tracestate");
    headers.remove(&state);
    if let Ok(parent) = HeaderValue::try_from(trace.traceparent()) {
        headers.insert(HeaderName::from_static("traceparent"), parent);
    }
    if let Some(Ok(value)) = trace.tracestate().map(HeaderValue::from_str) {
        headers.insert(state, value);
    }
}
