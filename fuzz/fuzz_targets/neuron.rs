#![no_main]

//! All fuzz targets. `NEURON_FUZZ` names the one that is fuzzed.

use std::{env, sync::LazyLock};

use neuron_provider_anthropic::fuzzing as anthropic;
use neuron_provider_http::{
    NdjsonDecoder, SseDecoder,
    fuzzing::{check_answer, check_decoder, check_stream},
};
use neuron_provider_ollama::fuzzing as ollama;
use neuron_provider_openai::fuzzing as openai;
use neuron_policy::fuzzing as policy;
use neuron_types::fuzzing as types;

type Check = fn(&[u8]);

const TARGETS: &[(&str, Check)] = &[
    ("sse", |input| {
        check_decoder(input, SseDecoder::default, SseDecoder::capacity);
        check_decoder(input, || SseDecoder::with_limit(32), |_| 0);
    }),
    ("ndjson", |input| {
        check_decoder(input, NdjsonDecoder::default, NdjsonDecoder::capacity);
        check_decoder(input, || NdjsonDecoder::with_limit(32), |_| 0);
    }),
    ("anthropic_answer", |input| {
        check_answer(anthropic::answer(input))
    }),
    ("anthropic_stream", |input| {
        check_stream(input, anthropic::stream)
    }),
    ("ollama_answer", |input| check_answer(ollama::answer(input))),
    ("ollama_stream", |input| check_stream(input, ollama::stream)),
    ("openai_chat_answer", |input| {
        check_answer(openai::chat_answer(input))
    }),
    ("openai_chat_stream", |input| {
        check_stream(input, openai::chat_stream)
    }),
    ("openai_responses_answer", |input| {
        check_answer(openai::responses_answer(input))
    }),
    ("openai_responses_stream", |input| {
        check_stream(input, openai::responses_stream)
    }),
    ("shell_reader", policy::check_shell),
    ("call_pattern", policy::check_pattern),
    ("canonical_json", types::check_canonical),
    ("agent_file", neuron_config::fuzzing::check_agent_file),
    ("mcp_frame", neuron_mcp::fuzzing::check_frame),
    ("journal_row", neuron_local::fuzzing::check_row),
    ("decision", neuron_approvers::fuzzing::check_decision),
];

static TARGET: LazyLock<Check> = LazyLock::new(|| {
    let wanted = env::var("NEURON_FUZZ").unwrap_or_default();
    let target = TARGETS.iter().find(|(name, _)| *name == wanted);
    let names: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
    target
        .unwrap_or_else(|| panic!("set NEURON_FUZZ to one of {}", names.join(", ")))
        .1
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| TARGET(input));
