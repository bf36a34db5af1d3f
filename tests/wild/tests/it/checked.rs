//! A look at a live server finds how it differs, whichever API it speaks.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use neuron_provider_http::{
    Candidate, Check, Checkup, Cure, Examined, Finding, MAX_REQUESTS, Verdict,
};
use neuron_provider_openai::{OpenAiChat, TokenLimitField};
use neuron_types::{DynProvider, ProviderError};
use neuron_wires::raw::{hold, serve};
use serde_json::{Map, Value, json};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate, matchers::any};

use crate::{
    said::Said,
    wire::{WIRES, Wire},
};

const LONG: Duration = Duration::from_secs(600); // Longer than any answer takes.

/// How a server differs from what its API says.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Odd {
    #[default]
    Nothing,
    NoPictures,
    NoTools,
    OneCall,
    NoUsage,
    SameIds,
    LongIds,
    NoStream,
    NoForm,
    RefusesSchema,
    RefusesResults,
    Busy,
    NoKey,
    Mute,
}

/// A server that answers what a checkup asks.
struct Model {
    wire: Wire,
    odd: Odd,
    answers: Arc<AtomicUsize>,
}

impl Respond for Model {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let number = self.answers.fetch_add(1, Ordering::SeqCst);
        let body: Value = request.body_json().unwrap();
        let text = body.to_string();
        let refused = |status, why: &str| {
            let error = json!({"type": "error", "error": {"type": "invalid_request_error", "message": why}});
            ResponseTemplate::new(status).set_body_json(error)
        };
        let has_results = text.contains("2100000\"");
        let is_two = text.contains("both calls");
        match self.odd {
            Odd::Busy => return refused(429, "slow down").insert_header("retry-after-ms", "1"),
            Odd::NoKey => return refused(401, "no such key"),
            Odd::NoPictures if text.contains("iVBOR") => {
                return refused(400, "images are not supported");
            }
            Odd::RefusesSchema if text.contains("$defs") || text.contains("\"at\"") => {
                return refused(400, "tools.0.input_schema");
            }
            Odd::RefusesResults if has_results => return refused(400, "unknown role"),
            _ => {}
        }
        let call = |city: &str| {
            let input = Map::from_iter([("city".to_owned(), json!(city))]);
            ("population".to_owned(), input)
        };
        let calls = match has_results || self.odd == Odd::NoTools {
            true => Vec::new(),
            false if is_two && self.odd != Odd::OneCall => vec![call("Paris"), call("Rome")],
            false if text.contains("Call population") => vec![call("Paris")],
            false => Vec::new(),
        };
        let form = "{\"city\":\"Paris\",\"inhabitants\":2100000}";
        let words = match () {
            () if self.odd == Odd::Mute || !calls.is_empty() => "",
            () if text.contains("keys city") && self.odd != Odd::NoForm => form,
            () if text.contains("iVBOR") => "Red.",
            () => "pong",
        };
        let ids = match self.odd {
            Odd::SameIds => "call".to_owned(),
            Odd::LongIds => format!("functions.population:{number}"),
            _ => format!("call_{number}"),
        };
        let said = Said {
            text: words.to_owned(),
            thinking: String::new(),
            calls,
            tokens: match self.odd {
                Odd::NoUsage => (0, 0),
                _ => (20, 5),
            },
            piece: 3,
            escapes: false,
            ids: Some(ids),
            ends: 1,
            keep_alive: usize::MAX,
            chunk: 1,
        };
        let is_streamed = body["stream"] == true && self.odd != Odd::NoStream;
        let (body, kind) = match is_streamed {
            true => (said.streamed(self.wire), self.wire.streams()),
            false => (said.whole(self.wire), "application/json"),
        };
        ResponseTemplate::new(200).set_body_raw(body, kind)
    }
}

async fn examined(wire: Wire, odd: Odd) -> Examined {
    let server = MockServer::start().await;
    let answers = Arc::default();
    let model = Model { wire, odd, answers };
    Mock::given(any()).respond_with(model).mount(&server).await;
    let checkup = Checkup {
        model: "some-model".to_owned(),
        candidates: Vec::new(),
        timeout: LONG,
    };
    let url = format!("{}/v1", server.uri());
    let told = Mutex::new(Vec::new());
    let client = |_: &[usize]| Ok::<_, ProviderError>(wire.provider(&url));
    let found = |finding: &Finding| told.lock().unwrap().push(finding.clone());
    let examined = checkup.examine(client, found).await.unwrap();
    assert_eq!(*told.lock().unwrap(), examined.findings, "told as it goes");
    let asked = server.received_requests().await.unwrap().len();
    assert_eq!(examined.requests, asked, "{wire:?} {odd:?}");
    assert!(asked <= MAX_REQUESTS, "{wire:?} {odd:?}");
    examined
}

/// The checks that did not go as the API says.
fn odd_ones(examined: &Examined) -> Vec<(Check, Verdict)> {
    let findings = examined.findings.iter();
    let odd = findings.filter(|finding| finding.verdict != Verdict::Ok);
    odd.map(|finding| (finding.check, finding.verdict))
        .collect()
}

#[tokio::test]
async fn a_server_that_does_as_its_api_says_passes_every_check() {
    for wire in WIRES {
        let examined = examined(wire, Odd::Nothing).await;
        assert_eq!(odd_ones(&examined), [], "{wire:?}: {examined:#?}");
        assert!(examined.is_fine() && examined.settings.is_empty());
        assert_eq!(examined.requests, 10);
        assert_eq!(examined.usage.input_tokens, 200);
    }
}

#[tokio::test]
async fn each_difference_is_found_and_no_other() {
    use {Check as C, Verdict as V};
    for wire in WIRES {
        for (odd, expected, is_fine) in [
            (Odd::NoPictures, vec![(C::Picture, V::Differs)], true),
            (Odd::NoUsage, vec![(C::Usage, V::Differs)], true),
            (
                Odd::OneCall,
                vec![(C::TwoCalls, V::Differs), (C::StreamedCalls, V::Differs)],
                true,
            ),
            (Odd::LongIds, vec![(C::Ids, V::Differs)], true),
            (Odd::SameIds, vec![(C::Ids, V::Differs)], true),
            (
                Odd::NoStream,
                vec![
                    (C::StreamedAnswer, V::Differs),
                    (C::StreamedCalls, V::Differs),
                ],
                true,
            ),
            (Odd::NoForm, vec![(C::Form, V::Differs)], true),
            (Odd::RefusesSchema, vec![(C::ToolSchema, V::Fails)], false),
            (
                Odd::RefusesResults,
                vec![(C::Results, V::Fails), (C::OtherIds, V::Fails)],
                false,
            ),
            (
                Odd::NoTools,
                vec![
                    (C::Call, V::Fails),
                    (C::TwoCalls, V::Fails),
                    (C::StreamedCalls, V::Fails),
                    (C::Results, V::NotAsked),
                    (C::Ids, V::NotAsked),
                ],
                false,
            ),
        ] {
            // There a whole answer is a stream of one piece.
            let is_stream = wire.is_lines() && odd == Odd::NoStream;
            let expected = if is_stream { Vec::new() } else { expected };
            let examined = examined(wire, odd).await;
            assert_eq!(
                odd_ones(&examined),
                expected,
                "{wire:?} {odd:?}: {examined:#?}"
            );
            assert_eq!(examined.is_fine(), is_fine, "{wire:?} {odd:?}");
        }
    }
}

#[tokio::test]
async fn a_server_that_lets_nobody_in_is_asked_once() {
    for wire in WIRES {
        let examined = examined(wire, Odd::NoKey).await;
        assert_eq!(examined.requests, 1, "{wire:?}");
        assert_eq!(examined.findings[0].verdict, Verdict::Fails);
        assert!(examined.findings[0].says.starts_with("authentication: "));
        let rest = examined.findings[1..].iter();
        assert!(rest.into_iter().all(|it| it.verdict == Verdict::NotAsked));
        assert!(!examined.is_fine());
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_or_not_now_fails() {
    for wire in WIRES {
        for odd in [Odd::Busy, Odd::Mute] {
            let examined = examined(wire, odd).await;
            assert_eq!(
                examined.findings[0].verdict,
                Verdict::Fails,
                "{wire:?} {odd:?}"
            );
            assert!(!examined.is_fine());
        }
    }
}

#[tokio::test]
async fn what_never_helps_is_tried_within_the_bound_of_requests() {
    let server = MockServer::start().await;
    let busy = json!({"error": {"message": "no max_tokens here"}});
    let template = ResponseTemplate::new(400).set_body_json(busy);
    Mock::given(any())
        .respond_with(template)
        .mount(&server)
        .await;
    let candidate = Candidate {
        lines: vec!["a = 1".to_owned()],
        cure: Cure::Refused(&["max_tokens"]),
    };
    let checkup = Checkup {
        model: "some-model".to_owned(),
        candidates: vec![candidate; 40],
        timeout: LONG,
    };
    let url = server.uri();
    let client = |_: &[usize]| Ok::<Arc<dyn DynProvider>, ProviderError>(Wire::Chat.provider(&url));
    let examined = checkup.examine(client, |_| ()).await.unwrap();
    assert_eq!(examined.requests, MAX_REQUESTS);
    assert_eq!(
        server.received_requests().await.unwrap().len(),
        MAX_REQUESTS
    );
    assert!(examined.settings.is_empty() && !examined.is_fine());
}

/// A server that rejects `max_tokens` without naming it.
struct Vague(Model);

impl Respond for Vague {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let body: Value = request.body_json().unwrap();
        match body.get("max_tokens") {
            Some(_) => {
                let error = json!({"detail": "Unprocessable Entity"});
                ResponseTemplate::new(422).set_body_json(error)
            }
            None => self.0.respond(request),
        }
    }
}

#[tokio::test]
async fn settings_are_tried_where_a_server_does_not_say_what_it_refuses() {
    let server = MockServer::start().await;
    let model = Model {
        wire: Wire::Chat,
        odd: Odd::Nothing,
        answers: Arc::default(),
    };
    let mounted = Mock::given(any()).respond_with(Vague(model));
    mounted.mount(&server).await;
    let candidate = |line: &str, words| Candidate {
        lines: vec![line.to_owned()],
        cure: Cure::Refused(words),
    };
    let checkup = Checkup {
        model: "some-model".to_owned(),
        candidates: vec![
            candidate("role", &["system"]),
            candidate("limit", &["max_tokens"]),
        ],
        timeout: LONG,
    };
    let url = server.uri();
    let client = |adopted: &[usize]| {
        let field = match adopted.contains(&1) {
            true => TokenLimitField::MaxCompletionTokens,
            false => TokenLimitField::MaxTokens,
        };
        let builder = OpenAiChat::builder().base_url(&url);
        let client: Arc<dyn DynProvider> = Arc::new(builder.token_limit_field(field).build()?);
        Ok::<_, ProviderError>(client)
    };
    let examined = checkup.examine(client, |_| ()).await.unwrap();
    assert_eq!(examined.settings, ["limit"]);
    assert_eq!(examined.requests, MAX_REQUESTS);
    let expected = [(Check::Answer, Verdict::NeedsSettings)];
    assert_eq!(odd_ones(&examined), expected, "{examined:#?}");
}

#[tokio::test]
async fn an_answer_that_does_not_come_to_its_end_is_given_up() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let piece = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n";
    let url = serve(format!("{head}{piece}"), hold()).await;
    let checkup = Checkup {
        model: "some-model".to_owned(),
        candidates: Vec::new(),
        timeout: Duration::from_millis(200), // The answer never ends, however long this is.
    };
    let client = |_: &[usize]| Ok::<_, ProviderError>(Wire::Chat.provider(&url));
    let examined = checkup.examine(client, |_| ()).await.unwrap();
    assert_eq!(examined.requests, 1);
    let says = &examined.findings[0].says;
    assert!(says.starts_with("timeout: "), "{says}");
}
