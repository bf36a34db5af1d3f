//! Servers that send nothing, or nothing more.

use std::time::Duration;

use futures::StreamExt as _;
use neuron_patience::patience;
use neuron_types::{FailureKind, Provider as _, ProviderError, StreamEvent};
use tokio::time;
use wiremock::ResponseTemplate;

use super::faults::{SAID, client, head, raw, unended};
use crate::{
    Api, FakeApi, KEY, LONG, hello,
    raw::{hold, serve},
};

const SHORT: Duration = Duration::from_millis(50); // What takes a day is late, on any machine.

fn check(error: &ProviderError) {
    assert_eq!(error.kind(), FailureKind::Timeout, "{error}");
    assert!(error.is_retryable());
}

pub async fn a_stalled_stream_is_a_timeout<A: Api>() {
    let url = serve(head::<A>() + &unended::<A>().concat(), hold()).await;
    let client = client::<A>(&url);
    let mut events = client
        .complete_stream(&hello::<A>())
        .await
        .unwrap()
        .receiver;
    let mut text = String::new();
    while text != SAID {
        let event = time::timeout(patience(), events.next()).await;
        if let StreamEvent::TextDelta(piece) = event.expect("it comes").unwrap() {
            text += &piece;
        }
    }
    // Nothing else ends it: the clock advances to the end of the silence.
    time::pause();
    let mut rest: Vec<StreamEvent> = events.collect().await;
    time::resume();
    let end = rest.pop();
    let Some(StreamEvent::Error(error)) = end else {
        panic!("no error: {end:?}");
    };
    check(&error);
    assert!(error.to_string().contains("for 86400s"), "{error}");
}

pub async fn an_answer_that_takes_too_long_is_a_timeout<A: Api>() {
    let slow = ResponseTemplate::new(200).set_delay(LONG); // Never waited for.
    let api = FakeApi::<A>::answering(slow).await;
    let client = A::build(A::builder(Some(&api.base_url()), Some(KEY), SHORT)).unwrap();
    check(&client.complete(&hello::<A>()).await.unwrap_err());
    check(&client.complete_stream(&hello::<A>()).await.unwrap_err());
}

pub async fn an_answer_is_there_at_its_end_whatever_the_server_does_then<A: Api>() {
    let body = A::events(&A::answer(SAID), 4).concat();
    let late = A::error_event(&A::error("late", "late", "late"));
    for rest in ["", A::MARKER, &format!("{}{late}", A::MARKER)] {
        // The server holds the connection, and may be silent for long.
        let body = format!("{body}{rest}");
        let streamed = time::timeout(patience(), raw::<A>(&body, hold())).await;
        let end = streamed.expect("the answer ends").end;
        assert_eq!(end.unwrap().message.text(), SAID);
    }
}
