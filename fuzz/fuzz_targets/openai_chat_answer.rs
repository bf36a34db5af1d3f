#![no_main]

use neuron_provider_http::fuzzing::check_answer;
use neuron_provider_openai::fuzzing;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    check_answer(fuzzing::chat_answer(input));
});
