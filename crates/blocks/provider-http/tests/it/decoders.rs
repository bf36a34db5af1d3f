use neuron_provider_http::{EventDecoder, EventTooLarge, NdjsonDecoder, SseDecoder};
use proptest::prelude::*;

type Seen = Vec<(String, Vec<u8>)>;

fn decode<'a, D: EventDecoder>(
    mut decoder: D,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Seen, EventTooLarge> {
    let mut seen = Seen::new();
    for mut chunk in chunks {
        while decoder.advance(&mut chunk)? {
            seen.push(owned(&decoder));
        }
        assert!(chunk.is_empty(), "bytes are left over");
    }
    if decoder.finish() {
        seen.push(owned(&decoder));
    }
    assert!(!decoder.finish(), "the last event came twice");
    Ok(seen)
}

fn owned(decoder: &impl EventDecoder) -> (String, Vec<u8>) {
    let event = decoder.event();
    (event.name.to_owned(), event.data.to_vec())
}

fn sse(text: &str) -> Vec<(String, String)> {
    texts(decode(SseDecoder::default(), [text.as_bytes()]))
}

fn ndjson(text: &str) -> Vec<String> {
    texts(decode(NdjsonDecoder::default(), [text.as_bytes()]))
        .into_iter()
        .map(|(_, data)| data)
        .collect()
}

fn texts(seen: Result<Seen, EventTooLarge>) -> Vec<(String, String)> {
    seen.unwrap()
        .into_iter()
        .map(|(name, data)| (name, String::from_utf8(data).unwrap()))
        .collect()
}

fn event(name: &str, data: &str) -> (String, String) {
    (name.to_owned(), data.to_owned())
}

#[test]
fn names_and_data_make_events() {
    let events = sse("event: ping\ndata: {}\n\ndata: [DONE]\n\n");

    assert_eq!(events, [event("ping", "{}"), event("", "[DONE]")]);
}

#[test]
fn every_line_end_ends_a_line() {
    for end in ["\n", "\r\n", "\r"] {
        let text = "event: a\ndata: 1\n\ndata: 2\n\n".replace('\n', end);
        assert_eq!(sse(&text), [event("a", "1"), event("", "2")], "{end:?}");
    }
    assert_eq!(
        sse("data: 1\r\r\ndata: 2\n\r"),
        [event("", "1"), event("", "2")]
    );
}

#[test]
fn data_of_several_lines_is_joined() {
    assert_eq!(
        sse("data: a\nevent: e\ndata:  b\ndata\ndata:c\n\n"),
        [event("e", "a\n b\n\nc")]
    );
}

#[test]
fn comments_and_other_fields_are_read_over() {
    let text = ": keep-alive\n\n: one\ndata: 1\nid: 7\nretry: 9\n: two\nother: x\nnot a field\n\n";

    assert_eq!(sse(text), [event("", "1")]);
}

#[test]
fn a_byte_order_mark_is_read_over_at_the_start_only() {
    assert_eq!(sse("\u{feff}data: 1\n\n"), [event("", "1")]);
    assert_eq!(sse("\u{feff}\n\ndata: 1\n\n"), [event("", "1")]);
    assert_eq!(sse("data: 1\n\n\u{feff}data: 2\n\n"), [event("", "1")]);
}

#[test]
fn a_name_without_data_is_no_event_and_does_not_stay() {
    assert_eq!(sse("event: lost\n\ndata: 1\n\n"), [event("", "1")]);
}

#[test]
fn empty_data_is_an_event() {
    assert_eq!(sse("data\n\ndata:\n\n"), [event("", ""), event("", "")]);
}

#[test]
fn a_last_event_needs_no_end() {
    for end in ["\n", "", "\r", "\r\n"] {
        assert_eq!(
            sse(&format!("event: e\ndata: 1{end}")),
            [event("e", "1")],
            "{end:?}"
        );
    }
    assert_eq!(sse("data: 1\n\nevent: e\n"), [event("", "1")]);
    assert_eq!(sse("\u{feff}"), []);
}

#[test]
fn lines_of_json_are_events() {
    assert_eq!(
        ndjson("{\"a\":1}\r\n\n  \r\n{\"b\":\"\\n\"}\n{\"c\":"),
        [r#"{"a":1}"#, r#"{"b":"\n"}"#, r#"{"c":"#]
    );
}

#[test]
fn an_event_above_the_limit_is_refused_before_it_is_held() {
    let small = || SseDecoder::with_limit(64);
    let fits = format!("data: {}\n\n", "x".repeat(58));
    let lines = "data: 1234567890\n".repeat(8);

    assert_eq!(decode(small(), [fits.as_bytes()]).unwrap().len(), 1);
    let too_large = EventTooLarge { limit: 64 };
    for text in [
        format!("data: {}", "x".repeat(59)),
        format!(":{}", "x".repeat(64)),
        lines,
    ] {
        assert_eq!(decode(small(), [text.as_bytes()]), Err(too_large), "{text}");
    }
    let line = "x".repeat(65);
    assert_eq!(
        decode(NdjsonDecoder::with_limit(64), line.as_bytes().chunks(7)),
        Err(too_large)
    );
}

#[test]
fn the_memory_follows_the_largest_event_and_not_the_stream() {
    let event = format!("data: {}\n\n", "x".repeat(1000));
    let mut decoder = SseDecoder::default();
    for _ in 0..10_000 {
        let mut chunk = event.as_bytes();
        while decoder.advance(&mut chunk).unwrap() {}
    }

    assert!(
        decoder.capacity() <= 2 * event.len(),
        "{}",
        decoder.capacity()
    );
}

/// Bytes that look like a stream more often than noise does.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            &b"\n"[..], b"\r", b"\r\n", b"\n\n", b"data:", b"data: ", b"event: ", b":", b"id: 1",
            b"retry: 2", b"{\"a\":1}", b"[DONE]", b"\xEF\xBB\xBF", b"\xEF\xBB", "ä€𝄞".as_bytes(),
        ]).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// `bytes` cut at these places.
fn cut<'a>(mut bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    for cut in cuts {
        let (chunk, rest) = bytes.split_at(cut.index(bytes.len() + 1));
        chunks.push(chunk);
        bytes = rest;
    }
    chunks.push(bytes);
    chunks
}

proptest! {
    #[test]
    fn any_split_gives_the_same_events(
        bytes in stream(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let whole = decode(SseDecoder::default(), [bytes.as_slice()]);
        prop_assert_eq!(&decode(SseDecoder::default(), cut(&bytes, &cuts)), &whole);
        prop_assert_eq!(&decode(SseDecoder::default(), bytes.chunks(1)), &whole);

        let whole = decode(NdjsonDecoder::default(), [bytes.as_slice()]);
        prop_assert_eq!(&decode(NdjsonDecoder::default(), cut(&bytes, &cuts)), &whole);
        prop_assert_eq!(&decode(NdjsonDecoder::default(), bytes.chunks(1)), &whole);
    }

    #[test]
    fn what_is_written_is_read(
        events in prop::collection::vec(("[a-z_.]{0,12}", "[^\r\n]{0,40}(\n[^\r\n]{0,9}){0,3}"), 0..12),
        end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
    ) {
        let mut text = String::new();
        for (name, data) in &events {
            if !name.is_empty() {
                text += &format!("event: {name}{end}");
            }
            for line in data.split('\n') {
                text += &format!("data: {line}{end}");
            }
            text += end;
        }

        prop_assert_eq!(sse(&text), events);
    }
}
