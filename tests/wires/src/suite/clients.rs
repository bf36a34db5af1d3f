//! How a client is built, and what it tells of itself.

use neuron_types::{FailureKind, Provider as _};

use super::faults::SAID;
use crate::{Api, FakeApi, KEY, Settings, hello};

pub async fn key_and_headers_are_sent_to_the_path<A: Api>() {
    let api = FakeApi::<A>::with_body(&A::answer(SAID)).await;
    let client = api.client_with(Settings {
        header: Some(("x-team", "a")),
        ..Settings::default()
    });
    client.complete(&hello::<A>()).await.unwrap();
    let sent = &api.requests().await[0];
    let (name, before) = A::KEY_HEADER;
    assert_eq!(sent.headers[name], format!("{before}{KEY}"));
    assert_eq!(sent.headers["x-team"], "a");
    let holders = sent.headers.values();
    let holders = holders.filter(|value| value.to_str().unwrap_or_default().contains(KEY));
    assert_eq!(holders.count(), 1, "the key is nowhere else");
}

pub async fn a_key_is_asked_for_where_one_is_needed<A: Api>() {
    let build = |base_url, key| {
        let settings = Settings {
            base_url,
            key,
            ..Settings::default()
        };
        A::build(A::builder(settings))
    };
    for base_url in A::KEYED {
        for key in [None, Some(""), Some("\n"), Some(" \n")] {
            let error = build(*base_url, key).unwrap_err();
            assert_eq!(error.kind(), FailureKind::Authentication);
            assert!(error.to_string().contains(A::KEY_VARIABLE), "{error}");
        }
        assert!(build(*base_url, Some(KEY)).is_ok());
    }
    for base_url in A::KEYLESS {
        assert!(build(*base_url, None).is_ok());
    }
}

pub async fn without_a_key_none_is_sent<A: Api>() {
    let api = FakeApi::<A>::with_body(&A::answer(SAID)).await;
    let client = api.client_with(Settings {
        key: Some(""),
        ..Settings::default()
    });
    client.complete(&hello::<A>()).await.unwrap();
    assert!(
        !api.requests().await[0]
            .headers
            .contains_key(A::KEY_HEADER.0)
    );
}

pub async fn debug_shows_no_key<A: Api>() {
    let settings = Settings {
        key: Some(KEY),
        ..Settings::default()
    };
    let client = A::build(A::builder(settings)).unwrap();
    let shown = format!("{:?} {client:?}", A::builder(settings));
    assert!(!shown.contains("secret"), "{shown}");
    assert!(shown.contains(A::HOST), "{shown}");
}
