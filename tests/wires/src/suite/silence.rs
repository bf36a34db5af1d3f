//! Servers that say nothing, or nothing more.

use std::time::Duration;

use futures::StreamExt as _;
use neuron_patience::patience;
use neuron_types::{FailureKind, Provider as _, ProviderError, StreamEvent};
use tokio::time;
use wiremock::ResponseTemplate;

use super::faults::{SAID, client, head, patient, unended};
use crate::{
    Api, FakeApi, Settings, hello,
    raw::{hold, serve},
    read,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60); // Longer than any test takes.
const SHORT: Duration = Duration::from_millis(50); // What takes a day is late, on any machine.

fn check(error: &ProviderError) {
    assert_eq!(error.kind(), FailureKind::Timeout, "{error}");
    assert!(error.is_retryable());
}

pub async fn a_stalled_stream_is_a_timeout<A: Api>() {
    let url = serve(head::<A>() + &unended::<A>().concat(), hold()).await;
    let client = patient::<A>(&url);
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
    // Nothing else ends it: the clock goes on to the end of the silence.
    time::pause();
    let mut rest: Vec<StreamEvent> = events.collect().await;
    time::resume();
    let end = rest.pop();
    let Some(StreamEvent::Error(error)) = end else {
        panic!("no error: {end:?}");
    };
    check(&error);
}

pub async fn a_server_that_never_answers_is_a_timeout<A: Api>() {
    let url = serve("", hold()).await;
    let client = client::<A>(&url, SHORT);
    check(&client.complete_stream(&hello::<A>()).await.unwrap_err());
}

pub async fn an_answer_that_takes_too_long_is_a_timeout<A: Api>() {
    let slow = ResponseTemplate::new(200).set_delay(DAY); // Nobody waits for it.
    let api = FakeApi::<A>::answering(slow).await;
    let client = api.client_with(Settings {
        timeout: Some(SHORT),
        idle: Some(SHORT),
        ..Settings::default()
    });
    check(&client.complete(&hello::<A>()).await.unwrap_err());
    check(&client.complete_stream(&hello::<A>()).await.unwrap_err());
}

pub async fn the_end_is_not_waited_for_forever<A: Api>() {
    let body = A::events(&A::answer(SAID), 4).concat();
    for marker in ["", A::MARKER] {
        // The server goes on to hold the connection, and may be silent for a day.
        let url = serve(format!("{}{body}{marker}", head::<A>()), hold()).await;
        let client = client::<A>(&url, DAY);
        let request = hello::<A>();
        let streamed = time::timeout(patience(), read(&client, &request)).await;
        let end = streamed.expect("the answer ends").end;
        assert_eq!(end.unwrap().message.text(), SAID);
    }
}
