//! What fuzzing found worth keeping still does no harm. See `fuzz/README.md`.

use neuron_provider_http::fuzzing::{check_answer, check_stream};
use neuron_provider_ollama::fuzzing;

neuron_wires::corpora! {
    whole_answers: "ollama_answer", |input| check_answer(fuzzing::answer(input));
    streams: "ollama_stream", |input| check_stream(input, fuzzing::stream);
}
