#![no_main]

use neuron_provider_http::{SseDecoder, fuzzing::check_decoder};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    check_decoder(input, SseDecoder::default, SseDecoder::capacity);
    check_decoder(input, || SseDecoder::with_limit(32), |_| 0);
});
