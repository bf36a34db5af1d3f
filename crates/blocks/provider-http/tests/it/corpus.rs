//! What fuzzing found worth keeping still does no harm. See `fuzz/README.md`.

use neuron_provider_http::fuzzing::check_decoder;
use neuron_provider_http::{NdjsonDecoder, SseDecoder};

neuron_wires::corpora! {
    server_sent_events: "sse", |input| check_decoder(input, SseDecoder::default, SseDecoder::capacity);
    lines_of_json: "ndjson", |input| check_decoder(input, NdjsonDecoder::default, NdjsonDecoder::capacity);
}
