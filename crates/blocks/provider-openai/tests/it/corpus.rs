//! What fuzzing found worth keeping still does no harm. See `fuzz/README.md`.

use neuron_provider_http::fuzzing::{check_answer, check_stream};
use neuron_provider_openai::fuzzing;

neuron_wires::corpora! {
    whole_answers_of_chat_completions: "openai_chat_answer", |input| check_answer(fuzzing::chat_answer(input));
    streams_of_chat_completions: "openai_chat_stream", |input| check_stream(input, fuzzing::chat_stream);
    whole_answers_of_responses: "openai_responses_answer", |input| check_answer(fuzzing::responses_answer(input));
    streams_of_responses: "openai_responses_stream", |input| check_stream(input, fuzzing::responses_stream);
}
