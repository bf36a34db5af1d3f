use neuron_context::SlidingWindow;
use neuron_types::{ContentBlock, ContextStrategy, Message, Role};
use serde_json::json;

use crate::{
    conversation::{calls, reasoning_item, result, results, signed_thinking},
    scripted::{Scripted, compact, reason},
};

fn slide(messages: Vec<Message>, keep: usize) -> Vec<Message> {
    compact(&SlidingWindow::new(keep), messages, &Scripted::silent()).unwrap()
}

#[test]
fn keeps_the_first_user_message_and_the_newest() {
    let messages = ["a", "b", "c", "d", "e"].map(Message::user);
    assert_eq!(
        slide(messages.to_vec(), 2),
        ["a", "d", "e"].map(Message::user)
    );
}

#[test]
fn keeps_more_where_a_call_would_lose_its_result() {
    let messages = vec![
        Message::user("a"),
        Message::user("b"),
        calls(&["1", "2"]),
        results(vec![result("1", "x"), result("2", "y")]),
    ];
    let kept = slide(messages.clone(), 1);
    assert_eq!(kept, [&messages[..1], &messages[2..]].concat());
}

#[test]
fn keeps_the_pieces_of_one_answer_together() {
    let messages = vec![
        Message::user("a"),
        Message::assistant("old"),
        Message::user("b"),
        Message::assistant("piece one"),
        Message::assistant("piece two"),
    ];
    let kept = slide(messages.clone(), 1);
    assert_eq!(kept, [&messages[..1], &messages[3..]].concat());
}

#[test]
fn keeps_a_call_that_has_no_result_yet() {
    let messages = vec![
        Message::user("a"),
        Message::user("b"),
        calls(&["1"]),
        Message::user("c"),
    ];
    let kept = slide(messages.clone(), 0);
    assert_eq!(kept, [&messages[..1], &messages[2..]].concat());
}

#[test]
fn removes_signed_thinking_from_what_stays() {
    let mut answer = Message::assistant("done");
    answer.content.insert(0, signed_thinking());
    answer.content.insert(
        0,
        ContentBlock::RedactedThinking {
            data: "b3BhcXVl".to_owned(),
        },
    );
    let with_new_field = json!({"type": "thinking", "thinking": "", "signature": "c2ln", "new": 1});
    answer
        .content
        .insert(0, ContentBlock::Other(with_new_field));
    let messages = vec![Message::user("a"), Message::user("b"), answer];
    assert_eq!(
        slide(messages, 1),
        [Message::user("a"), Message::assistant("done")]
    );
}

#[test]
fn drops_a_message_that_held_nothing_but_signed_thinking() {
    let thought = Message {
        role: Role::Assistant,
        content: vec![signed_thinking(), ContentBlock::Text(" ".to_owned())],
    };
    let messages = vec![
        Message::user("a"),
        Message::user("b"),
        thought,
        Message::user("c"),
    ];
    assert_eq!(slide(messages, 2), ["a", "c"].map(Message::user));
}

#[test]
fn leaves_reasoning_alone_that_is_bound_to_nothing_or_to_its_call() {
    let mut call = calls(&["1"]);
    call.content.insert(0, reasoning_item());
    call.content.insert(
        0,
        ContentBlock::Thinking {
            field: None,
            thinking: "unsigned".to_owned(),
            signature: None,
        },
    );
    let messages = vec![
        Message::user("a"),
        Message::user("b"),
        call,
        results(vec![result("1", "x")]),
    ];
    let kept = slide(messages.clone(), 2);
    assert_eq!(kept, [&messages[..1], &messages[2..]].concat());
}

#[test]
fn says_why_there_is_nothing_to_drop() {
    let strategy = SlidingWindow::new(10);
    let short = vec![Message::user("a"), Message::assistant("b")];
    let why = reason(compact(&strategy, short, &Scripted::silent()));
    assert!(why.contains("newest 10 messages"), "{why}");

    let headless = vec![Message::assistant("b")];
    let why = reason(compact(&strategy, headless, &Scripted::silent()));
    assert!(why.contains("no user message"), "{why}");
}

#[test]
fn compacts_from_its_threshold_on() {
    let strategy = SlidingWindow {
        at_tokens: 500,
        ..SlidingWindow::new(10)
    };
    assert!(!strategy.should_compact(&[], 499));
    assert!(strategy.should_compact(&[], 500));
    assert!(!SlidingWindow::new(10).should_compact(&[], 99_999));
    assert!(SlidingWindow::new(10).should_compact(&[], 100_000));
}
