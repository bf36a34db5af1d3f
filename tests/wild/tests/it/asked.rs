//! The clients, through the executor, against a real server.

use std::{fmt, sync::Arc};

use neuron_executor::{Executor, StepScope};
use neuron_types::{
    AgentSpec, CompletionRequest, CompletionResponse, DynProvider, FailureKind, Message,
    RequestHead, RunId, StepFailure,
};
use tokio_util::sync::CancellationToken;

use crate::{
    case::{Case, cases},
    outcome::{Answered, Outcome, check_ids},
    server::Server,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_has_its_outcome_however_it_was_asked_for_and_whatever_its_type() {
    let mut asking = Vec::new();
    for case in cases() {
        asking.push((case.name.clone(), tokio::spawn(ask_for(case))));
    }
    let mut failed = Vec::new();
    for (name, asked) in asking {
        if asked.await.is_err() {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

async fn ask_for(case: Case) {
    let server = Server::start().await;
    let provider = case.wire.provider(&server.url);
    let bodies = [
        ("in pieces", case.streamed(), case.wire.streams()),
        ("whole", case.whole(), "application/json"),
    ];
    for (form, body, own_type) in bodies {
        let Some(body) = body else { continue };
        for content_type in [own_type, "text/plain"] {
            let mut headers = case.headers.clone();
            headers
                .entry("content-type".to_owned())
                .or_insert_with(|| content_type.to_owned());
            server.answer(case.status, &headers, &body);
            let context = format!("{}, {form} as {content_type}", case.name);
            ask(&case, &server, &provider, &context).await;
        }
    }
}

/// Asks for it in pieces, as the executor does, and whole.
async fn ask(case: &Case, server: &Server, provider: &Arc<dyn DynProvider>, context: &str) {
    let request = request();
    let answer = executor(provider).call_model(&scope(), &request).await;
    let requests = match &case.outcome {
        Outcome::Failed(failed) if failed.failure == FailureKind::MalformedAnswer => 3,
        _ => 1,
    };
    check(case, answer, format_args!("{context}, asked for in pieces"));
    assert_eq!(
        server.requests(),
        requests,
        "{context}, asked for in pieces"
    );

    let answer = provider.complete_dyn(&request).await;
    let answer = answer.map_err(StepFailure::from);
    check(case, answer, format_args!("{context}, asked for whole"));
    assert_eq!(server.requests(), 1, "{context}, asked for whole");
}

pub(crate) fn executor(provider: &Arc<dyn DynProvider>) -> Executor {
    let executor = Executor::builder();
    executor
        .shared_provider("wild", Arc::clone(provider))
        .build()
}

fn check(
    case: &Case,
    answer: Result<CompletionResponse, StepFailure>,
    context: fmt::Arguments<'_>,
) {
    match (answer, &case.outcome) {
        (Ok(response), Outcome::Answered(expected)) => {
            let answered = Answered::of(&response).like(expected);
            assert_eq!(&answered, expected, "{context}");
            check_ids(&response, case.repeats_ids, context);
        }
        (Err(failure), Outcome::Failed(expected)) => {
            assert_eq!(failure.kind, expected.failure, "{context}: {failure}");
            let says = failure.message.contains(&expected.says);
            assert!(says, "{context}: {failure}");
        }
        (answer, expected) => panic!("{context}: {answer:?} and not {expected:?}"),
    }
}

pub(crate) fn request() -> CompletionRequest {
    let head = RequestHead {
        provider: Some("wild".into()),
        model: "m1".into(),
        max_tokens: Some(100),
        ..RequestHead::default()
    };
    CompletionRequest::new(head, vec![Message::user("go")])
}

pub(crate) fn scope() -> StepScope {
    let options = AgentSpec::default().model_options(1);
    let run = RunId::new("run-1").unwrap();
    StepScope::new(run, &options, 1, CancellationToken::new())
}
