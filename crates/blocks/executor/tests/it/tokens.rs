//! Answers that are emitted while they come.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt as _, stream};
use neuron_config::ScriptModel;
use neuron_executor::{Executor, NoSink};
use neuron_types::{
    CompletionRequest, CompletionResponse, FailureKind, Message, Provider, ProviderError,
    RequestHead, StepFailure, StepId, StreamEvent, StreamHandle, TokenUsage,
};

use neuron_testing::{
    effects::{eventually, scope},
    tokens::{Reader, Says, Streaming, answer},
};

fn request() -> CompletionRequest {
    CompletionRequest::new(RequestHead::new("m"), vec![Message::user("hi")])
}

/// The result of the first call of the second turn, and what a sink received of it.
async fn watched(executor: Executor) -> (Result<CompletionResponse, StepFailure>, Vec<String>) {
    let reader = Arc::new(Reader::default());
    let executor = executor.with_sink(reader.clone());
    let mut scope = scope();
    scope.step.position = 0;
    let result = executor.call_model(&scope, &request()).await;
    (result, reader.told())
}

#[tokio::test]
async fn stamps_each_piece_and_answers_what_the_stream_ends_with() {
    let whole = answer("Hi there");
    let model = Streaming::new([Says::Events(vec![
        StreamEvent::ThinkingDelta("hm".into()),
        StreamEvent::SignatureDelta("signed".into()),
        StreamEvent::TextDelta("Hi ".into()),
        StreamEvent::TextDelta("there".into()),
        StreamEvent::Usage(TokenUsage::default()),
        StreamEvent::ToolUseStart {
            id: "c1".into(),
            name: "ls".into(),
        },
        StreamEvent::ToolUseInputDelta {
            id: "c1".into(),
            delta: "{}".into(),
        },
        StreamEvent::ToolUseEnd { id: "c1".into() },
        StreamEvent::MessageComplete(Box::new(whole.clone())),
    ])]);
    let (result, told) = watched(model.executor()).await;
    assert_eq!(result.unwrap(), whole);
    assert_eq!(
        told,
        [
            "2.1.0 (hm)",
            "2.1.1 Hi ",
            "2.1.2 there",
            "2.1.3 ls c1",
            "2.1.4 {}",
            "2.1.5 end of c1"
        ]
    );
    assert_eq!(model.streams(), 0);
}

#[tokio::test]
async fn asks_for_a_stream_where_nobody_wants_tokens_too() {
    let model = Streaming::new([Says::All(&["in ", "two"]), Says::All(&["in ", "two"])]);
    for executor in [
        model.executor(),
        model.executor().with_sink(Arc::new(NoSink)),
    ] {
        let mut scope = scope();
        scope.step.position = 0;
        let answer = executor.call_model(&scope, &request()).await.unwrap();
        assert_eq!(answer.message.text(), "in two");
    }
    assert_eq!(model.streams(), 0);
}

#[tokio::test]
async fn tells_no_summaries() {
    let reader = Arc::new(Reader::default());
    let executor = Streaming::default().executor().with_sink(reader.clone());
    let mut scope = scope();
    scope.step = StepId::new(2, StepId::SUMMARY);
    let answer = executor.call_model(&scope, &request()).await.unwrap();
    assert_eq!(answer.message.text(), "in one piece");
    assert_eq!(reader.told(), Vec::<String>::new());
}

#[tokio::test]
async fn tells_an_answer_that_came_in_one_piece_block_by_block() {
    let model = ScriptModel::parse(
        r#"{"turns": [{"text": "Let me see.", "tool_calls": [
            {"name": "ls", "input": {"dir": "."}, "id": "c1"}]}]}"#,
    );
    let executor = Executor::builder().provider("m", model.unwrap()).build();
    let (result, told) = watched(executor).await;
    assert_eq!(result.unwrap().message.text(), "Let me see.");
    assert_eq!(
        told,
        [
            "2.1.0 Let me see.",
            "2.1.1 ls c1",
            r#"2.1.2 {"dir":"."}"#,
            "2.1.3 end of c1"
        ]
    );
}

#[tokio::test]
async fn a_failure_in_the_stream_is_the_providers() {
    let model = Streaming::new([Says::Fails(&["Hi"], FailureKind::Overloaded)]);
    let (result, told) = watched(model.executor()).await;
    let failure = result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Overloaded);
    assert!(failure.retryable);
    assert_eq!(failure.message, "as told");
    assert_eq!(told, ["2.1.0 Hi"]);
}

#[tokio::test]
async fn a_stream_without_an_end_is_no_answer() {
    let model = Streaming::new([Says::Events(vec![StreamEvent::TextDelta("Hi".into())])]);
    let (result, _) = watched(model.executor()).await;
    let failure = result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Network);
    assert!(failure.retryable);
}

#[tokio::test]
async fn a_cancellation_drops_the_stream() {
    let model = Streaming::new([Says::Hangs(&["Hi"])]);
    let reader = Arc::new(Reader::default());
    let executor = model.executor().with_sink(reader.clone());
    let mut scope = scope();
    scope.step.position = 0;
    let request = request();
    let (result, ()) = tokio::join!(executor.call_model(&scope, &request), async {
        eventually(|| reader.told() == ["2.1.0 Hi"]).await;
        assert_eq!(model.streams(), 1);
        scope.cancellation.cancel();
    });
    assert_eq!(result.unwrap_err().kind, FailureKind::Cancelled);
    assert_eq!(model.streams(), 0);
}

/// A model that says something every so often, so many times, and then is done.
struct Slow {
    every: Duration,
    pieces: usize,
}

impl Provider for Slow {
    async fn complete(&self, _: &CompletionRequest) -> Result<CompletionResponse, ProviderError> {
        unreachable!("it is asked for a stream")
    }

    async fn complete_stream(&self, _: &CompletionRequest) -> Result<StreamHandle, ProviderError> {
        let every = self.every;
        let pieces = stream::iter(0..self.pieces).then(move |_| async move {
            tokio::time::sleep(every).await; // The clock is paused.
            StreamEvent::TextDelta("x".into())
        });
        let whole = StreamEvent::MessageComplete(Box::new(answer("x")));
        Ok(StreamHandle {
            receiver: pieces.chain(stream::iter([whole])).boxed(),
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_bounds_the_silence_of_a_model_and_not_its_answer() {
    let every = Duration::from_secs(50); // The timeout is 60 s, and the clock is paused.
    let asked = |pieces| async move {
        let executor = Executor::builder()
            .provider("m", Slow { every, pieces })
            .build();
        executor.call_model(&scope(), &request()).await
    };
    assert!(asked(5).await.is_ok());
    let failure = asked(20).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert_eq!(
        failure.message,
        "the model's answer was not whole within 360s"
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_falls_silent_times_out() {
    let model = Streaming::new([Says::Hangs(&["Hi"])]);
    let (result, _) = watched(model.executor()).await;
    let failure = result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert_eq!(
        failure.message,
        "nothing more came of the model's answer within 60s"
    );
    assert_eq!(model.streams(), 0);
}

#[tokio::test]
async fn the_answer_of_the_next_model_supersedes_what_came_of_the_one_before() {
    let first = Streaming::new([Says::Fails(&["Hi"], FailureKind::Network)]);
    let second = Streaming::new([Says::All(&["Hello ", "there"])]);
    let executor = Executor::builder()
        .provider("m", first)
        .provider("n", second)
        .build();
    let reader = Arc::new(Reader::default());
    let executor = executor.with_sink(reader.clone());
    let request = request().with_head(|head| {
        head.provider = Some("m".into());
        head.fallback_models = vec!["n/large".into()];
    });
    let mut scope = scope();
    scope.step.position = 0;
    let answer = executor.call_model(&scope, &request).await.unwrap();
    assert_eq!(answer.message.answered_by(), Some("n/large"));
    assert_eq!(reader.told(), ["2.1.0 Hi", "2.1.0 Hello ", "2.1.1 there"]);
}
