//! What fuzzing found worth keeping still does no harm. See `fuzz/README.md`.

use std::path::Path;

use neuron_provider_http::fuzzing::{check_decoder, replay};
use neuron_provider_http::{NdjsonDecoder, SseDecoder};

fn corpus(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus");
    assert!(replay(&folder.join(target), check).unwrap() > 0);
}

#[test]
fn server_sent_events() {
    corpus("sse", |input| {
        check_decoder(input, SseDecoder::default, SseDecoder::capacity);
    });
}

#[test]
fn lines_of_json() {
    corpus("ndjson", |input| {
        check_decoder(input, NdjsonDecoder::default, NdjsonDecoder::capacity);
    });
}
