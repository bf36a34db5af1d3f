#![no_main]

use neuron_provider_http::fuzzing::check_stream;
use neuron_provider_ollama::fuzzing;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    check_stream(input, fuzzing::stream);
});
