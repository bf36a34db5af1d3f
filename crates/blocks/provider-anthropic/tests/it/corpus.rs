//! What fuzzing found worth keeping still does no harm. See `fuzz/README.md`.

use neuron_provider_anthropic::fuzzing;
use neuron_provider_http::fuzzing::{check_answer, check_stream};

neuron_wires::corpora! {
    whole_answers: "anthropic_answer", |input| check_answer(fuzzing::answer(input));
    streams: "anthropic_stream", |input| check_stream(input, fuzzing::stream);
}
