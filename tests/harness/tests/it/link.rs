//! A link between a client and a model server.

use std::{sync::mpsc, thread};

use neuron_harness::{FakeModel, Link, Reply, http};
use serde_json::json;

#[test]
fn what_a_link_passes_depends_on_its_state() {
    let server = FakeModel::forgetful(|request| Reply::ok(json!({"number": request.number})));
    let link = Link::to(&server.address());
    let url = format!("http://{}", link.address());
    let ask = || http::json(&http::try_ask(&url, "POST /", "{}")?);

    assert_eq!(ask(), Some(json!({"number": 1})));

    link.cut();
    assert_eq!(ask(), None);

    link.hold();
    let (answers, answer) = mpsc::channel();
    let asking = url.clone();
    let asked = thread::spawn(move || {
        let answer = http::try_ask(&asking, "POST /", "{}");
        answers.send(answer.as_deref().and_then(http::json))
    });
    assert!(answer.try_recv().is_err());
    link.mend();
    assert_eq!(answer.recv().unwrap(), Some(json!({"number": 2})));
    asked.join().unwrap().unwrap();

    // A link without any connection before.
    let link = Link::to(&server.address());
    let url = format!("http://{}", link.address());
    let ask = || http::json(&http::try_ask(&url, "POST /", "{}")?);
    link.swallow();
    let asking = url.clone();
    let lost = thread::spawn(move || http::try_ask(&asking, "POST /", "{}"));
    while link.lost() == 0 {
        thread::yield_now();
    }
    link.mend();
    assert_eq!(
        ask(),
        Some(json!({"number": 3})),
        "nothing came of the one that was lost"
    );
    assert_eq!(link.lost(), 1, "it is told nothing");
    drop(link);
    let lost = lost.join().unwrap();
    assert!(lost.is_none_or(|answer| answer.is_empty()));
    assert!(server.requests().is_empty(), "it keeps none");
}
