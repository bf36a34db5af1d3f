//! An answer with more calls than a client accepts.

use neuron_provider_http::{MAX_CALLS, NoAnswer};
use neuron_types::{CompletionResponse, FailureKind};
use serde_json::{Map, json};

use crate::{outcome::Answered, said::Said, wire::WIRES};

fn said(calls: usize) -> Said {
    let call = |place| {
        let input = Map::from_iter([("n".to_owned(), json!(place))]);
        ("look".to_owned(), input)
    };
    Said {
        text: String::new(),
        thinking: String::new(),
        calls: (0..calls).map(call).collect(),
        tokens: (1, 1),
        piece: 3,
        escapes: false,
        ids: Some("call".to_owned()),
        ends: 1,
        keep_alive: usize::MAX,
        chunk: 1,
    }
}

#[test]
fn as_many_calls_as_an_answer_may_have_are_read() {
    for wire in WIRES {
        let said = said(MAX_CALLS);
        let expected = said.answered(wire);
        for answer in [
            wire.stream(&[&said.streamed(wire)]).1,
            wire.whole(&said.whole(wire)),
        ] {
            let answered = Answered::of(&answer.unwrap()).like(&expected);
            assert!(answered == expected, "{wire:?}");
        }
    }
}

#[test]
fn one_call_more_is_no_answer_and_says_why() {
    let is_refused = |end: Result<CompletionResponse, NoAnswer>| match end {
        Err(NoAnswer::Failed(failure)) => {
            let message = failure.message.unwrap();
            failure.kind == FailureKind::MalformedAnswer
                && message.contains("more than 1000 calls of tools")
        }
        _ => false,
    };
    for wire in WIRES {
        let said = said(MAX_CALLS + 1);
        let streamed = wire.stream(&[&said.streamed(wire)]).1;
        assert!(is_refused(streamed), "{wire:?}, streamed");
        assert!(is_refused(wire.whole(&said.whole(wire))), "{wire:?}, whole");
    }
}
