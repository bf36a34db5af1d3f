//! The caller drops a request.

use futures::StreamExt as _;
use neuron_patience::patience;
use neuron_types::{Provider as _, StreamEvent};
use tokio::{
    sync::oneshot::{self, Receiver},
    time::timeout,
};

use super::faults::{client, head, unended};
use crate::{
    Api, hello,
    raw::{Then, Watch, serve},
};

/// The address of a server of these bytes, and receivers for the arrival of a request and for the end of its connection.
async fn watched(bytes: String) -> (String, Receiver<()>, Receiver<()>) {
    let (asked, was_asked) = oneshot::channel();
    let (gone, hung_up) = oneshot::channel();
    let url = serve(bytes, Then::Hold(Watch { asked, gone })).await;
    (url, was_asked, hung_up)
}

async fn comes(event: Receiver<()>, otherwise: &str) {
    timeout(patience(), event).await.expect(otherwise).unwrap();
}

pub async fn a_dropped_stream_hangs_up<A: Api>() {
    let (url, _asked, hung_up) = watched(head::<A>() + &unended::<A>().concat()).await;
    let client = client::<A>(&url);
    let mut events = client
        .complete_stream(&hello::<A>())
        .await
        .unwrap()
        .receiver;
    let mut first = events.next().await;
    while let Some(StreamEvent::Usage(_)) = first {
        first = events.next().await;
    }
    let Some(StreamEvent::TextDelta(_) | StreamEvent::ThinkingDelta(_)) = first else {
        panic!("nothing comes: {first:?}");
    };
    drop(events);
    comes(hung_up, "the connection stays open").await;
}

pub async fn a_dropped_call_hangs_up<A: Api>() {
    for max_tokens in [100, 100_000] {
        let (url, was_asked, hung_up) = watched(String::new()).await;
        let client = client::<A>(&url);
        let call = tokio::spawn(async move {
            let request = hello::<A>().with_head(|head| head.max_tokens = Some(max_tokens));
            client.complete(&request).await.map(drop)
        });
        comes(was_asked, "it does not ask").await;
        assert!(!call.is_finished());
        call.abort();
        comes(hung_up, "the connection stays open").await;
    }
}
