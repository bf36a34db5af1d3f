use std::{sync::Arc, time::Duration};

use neuron_local::{Journal, JournaledContext, LocalDurableContext};
use neuron_testing::tokens::{Reader, Says, Streaming};
use neuron_types::{ActivityOptions, DurableContext, DurableError, FailureKind, RunId};
use tempfile::TempDir;

use crate::{
    journal::input,
    room::{eventually, model_options, request},
};

/// The delay before a step is retried.
const PAUSE: Duration = Duration::from_millis(1); // It may take longer.

fn quick() -> ActivityOptions {
    let mut options = model_options(1);
    options.retry_policy.initial_interval = PAUSE;
    options
}

fn fails_once() -> Streaming {
    Streaming::new([
        Says::Fails(&["Hello", " wo"], FailureKind::Network),
        Says::All(&["Good ", "day"]),
    ])
}

/// A step whose first attempt breaks off.
async fn answers_anew(door: &impl DurableContext, reader: &Reader) {
    let answer = door.execute_llm_call(&request(1), &quick()).await.unwrap();
    assert_eq!(answer.message.text(), "Good day");
    assert_eq!(
        reader.told(),
        ["1.1.0 Hello", "1.1.1  wo", "1.2.0 Good ", "1.2.1 day"]
    );
}

fn run_id() -> RunId {
    RunId::new("r").unwrap()
}

#[tokio::test]
async fn in_memory_a_retry_begins_the_answer_anew() {
    let reader = Arc::new(Reader::default());
    let door =
        LocalDurableContext::new(fails_once().executor(), run_id()).with_sink(reader.clone());
    answers_anew(&door, &reader).await;
}

#[tokio::test]
async fn in_memory_a_cancelled_run_drops_the_stream() {
    let model = Streaming::new([Says::Hangs(&["Hi"])]);
    let reader = Arc::new(Reader::default());
    let door = LocalDurableContext::new(model.executor(), run_id()).with_sink(reader.clone());
    let handle = door.handle();
    let (request, options) = (request(1), quick());
    let (result, ()) = tokio::join!(door.execute_llm_call(&request, &options), async {
        eventually(|| !reader.told().is_empty()).await;
        handle.cancel(None);
    });
    assert!(matches!(result, Err(DurableError::Cancelled { .. })));
    assert_eq!(model.streams(), 0);
}

#[tokio::test]
async fn the_journal_holds_the_answer_and_a_replay_tells_no_tokens() {
    let home = TempDir::new().unwrap();
    let journal = Journal::open(home.path()).await.unwrap();
    journal
        .create_run(&run_id(), input(), "local")
        .await
        .unwrap();
    let open = async |model: &Streaming, reader: &Arc<Reader>| {
        JournaledContext::open(&journal, &run_id(), model.executor())
            .await
            .unwrap()
            .with_sink(reader.clone())
    };
    let (model, reader) = (fails_once(), Arc::new(Reader::default()));
    let door = open(&model, &reader).await;
    answers_anew(&door, &reader).await;
    drop(door);

    let (silent, again) = (Streaming::default(), Arc::new(Reader::default()));
    let door = open(&silent, &again).await;
    let answer = door.execute_llm_call(&request(1), &quick()).await.unwrap();
    assert_eq!(answer.message.text(), "Good day");
    assert_eq!(answer.usage.output_tokens, 7);
    assert_eq!(again.told(), Vec::<String>::new());
}

#[tokio::test]
async fn an_interrupted_journaled_run_drops_the_stream() {
    let home = TempDir::new().unwrap();
    let journal = Journal::open(home.path()).await.unwrap();
    journal
        .create_run(&run_id(), input(), "local")
        .await
        .unwrap();
    let model = Streaming::new([Says::Hangs(&["Hi"])]);
    let reader = Arc::new(Reader::default());
    let door = JournaledContext::open(&journal, &run_id(), model.executor())
        .await
        .unwrap()
        .with_sink(reader.clone());
    let interrupt = door.interrupt_handle();
    let (request, options) = (request(1), quick());
    let (result, ()) = tokio::join!(door.execute_llm_call(&request, &options), async {
        eventually(|| !reader.told().is_empty()).await;
        interrupt.interrupt();
    });
    assert!(matches!(result, Err(DurableError::Suspended)));
    assert_eq!(model.streams(), 0);
}
