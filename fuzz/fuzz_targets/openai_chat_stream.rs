#![no_main]

use neuron_provider_http::fuzzing::check_stream;
use neuron_provider_openai::fuzzing;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    check_stream(input, fuzzing::chat_stream);
});
