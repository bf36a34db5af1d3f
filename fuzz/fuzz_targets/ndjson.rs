#![no_main]

use neuron_provider_http::{NdjsonDecoder, fuzzing::check_decoder};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    check_decoder(input, NdjsonDecoder::default, NdjsonDecoder::capacity);
    check_decoder(input, || NdjsonDecoder::with_limit(32), |_| 0);
});
