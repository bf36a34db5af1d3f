//! What fuzzing found worth keeping still does no harm. See `fuzz/README.md`.

use std::path::Path;

use neuron_provider_anthropic::fuzzing;
use neuron_provider_http::fuzzing::{check_answer, check_stream, replay};

fn corpus(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus");
    assert!(replay(&folder.join(target), check).unwrap() > 0);
}

#[test]
fn whole_answers() {
    corpus("anthropic_answer", |input| {
        check_answer(fuzzing::answer(input));
    });
}

#[test]
fn streams() {
    corpus("anthropic_stream", |input| {
        check_stream(input, fuzzing::stream);
    });
}
