//! Any content, as each wire writes it, is read as it was meant.

use proptest::{collection, prelude::*, strategy::ValueTree as _, test_runner::TestRunner};
use serde_json::{Map, Value};

use crate::{
    asked::{executor, request, scope},
    outcome::{Answered, check_ids, check_seen},
    said::Said,
    server::Server,
    wire::WIRES,
};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            fields(inner).prop_map(Value::from),
        ]
    })
}

fn fields(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    collection::btree_map(any_text(), value, 0..3).prop_map(|map| map.into_iter().collect())
}

fn any_text() -> impl Strategy<Value = String> {
    collection::vec(any::<char>(), 0..12).prop_map(|letters| letters.into_iter().collect())
}

fn any_said() -> impl Strategy<Value = Said> {
    let call = ("[a-z_]{1,8}", fields(any_json()));
    let content = (
        any_text(),
        any_text(),
        collection::vec(call, 0..4),
        // A prompt of no tokens is one that was not counted.
        (1..1000_u64, 0..1000_u64),
    );
    let form = (
        1..6_usize,
        any::<bool>(),
        any::<bool>(),
        0..3_usize,
        0..8_usize,
        1..40_usize,
    );
    (content, form).prop_map(|(content, form)| {
        let (text, thinking, calls, tokens) = content;
        let (piece, escapes, ids, ends, keep_alive, chunk) = form;
        Said {
            text,
            thinking,
            calls,
            tokens,
            piece,
            escapes,
            ids: ids.then(|| "call".to_owned()),
            ends,
            keep_alive,
            chunk,
        }
    })
}

proptest! {
    #[test]
    fn what_a_server_writes_is_read_whole_and_in_pieces(said in any_said()) {
        for wire in WIRES {
            let expected = said.answered(wire);
            let context = format!("{wire:?}");

            let whole = wire.whole(&said.whole(wire)).unwrap();
            prop_assert_eq!(&Answered::of(&whole).like(&expected), &expected, "{}, whole", context);
            check_ids(&whole, false, format_args!("{context}, whole"));

            let body = said.streamed(wire);
            let parts: Vec<_> = body.chunks(said.chunk).collect();
            let (seen, end) = wire.stream(&parts);
            let answer = end.unwrap();
            prop_assert_eq!(&Answered::of(&answer).like(&expected), &expected, "{}", context);
            check_ids(&answer, false, format_args!("{context}"));
            check_seen(&seen, &answer, format_args!("{context}"));
        }
    }
}

#[tokio::test]
async fn what_a_server_writes_is_asked_for_once() {
    let mut runner = TestRunner::deterministic();
    for wire in WIRES {
        let server = Server::start().await;
        let provider = wire.provider(&server.url);
        for _ in 0..8 {
            let said = any_said().new_tree(&mut runner).unwrap().current();
            let bodies = [
                (said.streamed(wire), wire.streams()),
                (said.whole(wire), "application/json"),
            ];
            for (body, content_type) in &bodies {
                let headers = [("content-type".to_owned(), (*content_type).to_owned())];
                server.answer(200, &headers.into(), body);
                let answer = executor(&provider).call_model(&scope(), &request()).await;
                let expected = said.answered(wire);
                let answered = Answered::of(&answer.unwrap()).like(&expected);
                assert_eq!(answered, expected, "{wire:?} {said:?}");
                assert_eq!(server.requests(), 1, "{wire:?} {said:?}");
            }
        }
    }
}
