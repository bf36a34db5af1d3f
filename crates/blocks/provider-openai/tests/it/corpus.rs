//! What fuzzing found worth keeping still does no harm. See `fuzz/README.md`.

use std::path::Path;

use neuron_provider_http::fuzzing::{check_answer, check_stream, replay};
use neuron_provider_openai::fuzzing;

fn corpus(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus");
    assert!(replay(&folder.join(target), check).unwrap() > 0);
}

#[test]
fn whole_answers_of_chat_completions() {
    corpus("openai_chat_answer", |input| {
        check_answer(fuzzing::chat_answer(input));
    });
}

#[test]
fn streams_of_chat_completions() {
    corpus("openai_chat_stream", |input| {
        check_stream(input, fuzzing::chat_stream);
    });
}

#[test]
fn whole_answers_of_responses() {
    corpus("openai_responses_answer", |input| {
        check_answer(fuzzing::responses_answer(input));
    });
}

#[test]
fn streams_of_responses() {
    corpus("openai_responses_stream", |input| {
        check_stream(input, fuzzing::responses_stream);
    });
}
