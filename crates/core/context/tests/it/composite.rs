use neuron_context::{Composite, SlidingWindow, Summarization, ToolResultClearing};
use neuron_types::{
    CompletionRequest, CompletionResponse, ContextError, ContextStrategy, DurableError, Message,
    ModelHandle, RequestSize, TokenCalibration,
};

use crate::{
    conversation::{calls, result, results},
    scripted::{Scripted, compact},
};

/// Ten tool turns, each with a result of 1,000 tokens.
fn conversation() -> Vec<Message> {
    let mut messages = vec![Message::user("read")];
    for turn in 0..10 {
        let id = turn.to_string();
        messages.push(calls(&[&id]));
        messages.push(results(vec![result(&id, "x".repeat(4_000))]));
    }
    messages
}

fn clearing(keep: usize, at_tokens: u64) -> ToolResultClearing {
    ToolResultClearing {
        at_tokens,
        ..ToolResultClearing::new(keep)
    }
}

fn summarizing(keep: usize, at_tokens: u64) -> Summarization {
    Summarization {
        at_tokens,
        ..Summarization::new(keep)
    }
}

#[test]
fn leaves_out_the_second_where_the_first_is_enough() {
    let chain = Composite::new(clearing(1, 5_000), summarizing(2, 5_000));
    let new = compact(&chain, conversation(), &Scripted::silent()).unwrap();
    assert_eq!(new.len(), conversation().len());
}

#[test]
fn gives_what_the_first_saved_to_the_second() {
    let chain = Composite::new(clearing(5, 3_000), summarizing(4, 3_000));
    let model = Scripted::saying("Goal: read.");
    let new = compact(&chain, conversation(), &model).unwrap();
    assert_eq!(new.len(), 6);
    let asked = model.requests.lock().unwrap()[0].messages[0].text();
    assert!(asked.contains("was cleared"), "{asked}");
}

#[test]
fn tries_the_second_where_the_first_has_nothing_to_do() {
    let chain = Composite::new(clearing(99, 5_000), summarizing(2, 5_000));
    let model = Scripted::saying("Goal: read.");
    assert_eq!(compact(&chain, conversation(), &model).unwrap().len(), 4);
}

#[test]
fn says_what_each_said_where_all_are_not_enough() {
    let window = SlidingWindow {
        at_tokens: 1_000,
        ..SlidingWindow::new(4)
    };
    let chain = Composite::new(clearing(3, 1_000), summarizing(6, 1_000)).then(window);
    let model = Scripted::saying("Goal: read.");
    let error = compact(&chain, conversation(), &model).unwrap_err();
    let why = error.to_string();
    assert!(
        why.contains("newest 3") && why.contains("newest 4"),
        "{why}"
    );
    let ContextError::StillTooLarge {
        messages, tokens, ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(messages.len(), 5);
    assert_eq!(tokens, chain.token_estimate(&messages));
}

/// A model of whose requests the provider counted this.
struct Counted(RequestSize);

impl ModelHandle for Counted {
    async fn complete(
        &self,
        _request: CompletionRequest,
    ) -> Result<CompletionResponse, DurableError> {
        panic!("nothing is summarised")
    }

    fn request_size(&self) -> Option<RequestSize> {
        Some(self.0)
    }
}

fn judge(tokens: u64) -> Result<Vec<Message>, ContextError> {
    use futures::FutureExt as _;
    let calibration = TokenCalibration {
        estimated: 10_000,
        reported: 20_000,
    };
    let model = Counted(RequestSize {
        tokens,
        calibration,
    });
    let window = SlidingWindow {
        at_tokens: 10_000,
        ..SlidingWindow::new(4)
    };
    window
        .compact(conversation(), &model)
        .now_or_never()
        .unwrap()
}

#[test]
fn judges_by_what_the_provider_counted_with_instructions_and_tools() {
    // About 10,000 tokens by the estimate; 2,000 of them stay. The provider counts twice as many.
    assert!(judge(21_000).is_ok());
    let error = judge(28_000).unwrap_err().to_string();
    assert!(error.contains("newest 4 stay"), "{error}");
    let error = judge(41_000).unwrap_err().to_string();
    assert!(error.contains("instructions and tools alone"), "{error}");
}
