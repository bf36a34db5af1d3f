//! How a client is built, and what it reports about itself.

use neuron_types::{FailureKind, Provider as _};

use super::faults::SAID;
use crate::{Api, FakeApi, KEY, LONG, hello};

pub async fn key_and_headers_are_sent_to_the_path<A: Api>() {
    let api = FakeApi::<A>::with_body(&A::answer(SAID)).await;
    for key in [KEY, ""] {
        let builder = A::builder(Some(&api.base_url()), Some(key), LONG);
        let client = A::build(builder).unwrap();
        client.complete(&hello::<A>()).await.unwrap();
    }
    let (name, before) = A::KEY_HEADER;
    let sent = api.requests().await;
    assert_eq!(sent[0].headers[name], format!("{before}{KEY}"));
    assert_eq!(sent[0].headers["x-team"], "a");
    let holders = sent[0].headers.values();
    let holders = holders.filter(|value| value.to_str().unwrap_or_default().contains(KEY));
    assert_eq!(holders.count(), 1, "the key is nowhere else");
    assert!(!sent[1].headers.contains_key(name), "there is no key");
}

pub async fn a_key_is_asked_for_where_one_is_needed<A: Api>() {
    let build = |base_url, key| A::build(A::builder(base_url, key, LONG));
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

pub async fn debug_shows_no_key<A: Api>() {
    let builder = || A::builder(None, Some(KEY), LONG);
    let shown = format!("{:?} {:?}", builder(), A::build(builder()).unwrap());
    assert!(!shown.contains("secret"), "{shown}");
    assert!(shown.contains(A::HOST), "{shown}");
}
