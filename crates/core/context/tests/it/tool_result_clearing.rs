use neuron_context::ToolResultClearing;
use neuron_types::{ContentBlock, ContentItem, ImageSource, Message, ToolResultBlock};

use crate::{
    conversation::{calls, result, results, signed_thinking},
    scripted::{Scripted, compact, reason},
};

fn page() -> String {
    "line\n".repeat(200)
}

fn conversation(contents: &[&str]) -> Vec<Message> {
    let mut messages = vec![Message::user("read")];
    for (turn, content) in contents.iter().enumerate() {
        let id = turn.to_string();
        messages.push(calls(&[&id]));
        messages.push(results(vec![result(&id, *content)]));
    }
    messages
}

fn clear(messages: Vec<Message>, keep: usize) -> Vec<Message> {
    compact(
        &ToolResultClearing::new(keep),
        messages,
        &Scripted::silent(),
    )
    .unwrap()
}

fn content_of(message: &Message) -> &ToolResultBlock {
    match &message.content[0] {
        ContentBlock::ToolResult(result) => result,
        other => panic!("not a result: {other:?}"),
    }
}

/// What a cleared result holds.
fn note() -> String {
    let cleared = clear(conversation(&[&page()]), 0);
    match content_of(&cleared[2]).content.as_slice() {
        [ContentItem::Text(note)] => note.clone(),
        other => panic!("not a note: {other:?}"),
    }
}

#[test]
fn replaces_older_results_by_a_note_that_names_the_tool() {
    let page = page();
    let cleared = clear(conversation(&[&page, &page, &page]), 1);
    insta::assert_snapshot!(note(), @"[This result of read_file was cleared to save space. To see it again call read_file with the same arguments, unless that would change something a second time: then read what it changed.]");
    assert_eq!(cleared, conversation(&[&note(), &note(), &page]));
}

#[test]
fn keeps_whether_a_result_was_an_error() {
    let mut messages = conversation(&[&page()]);
    let ContentBlock::ToolResult(result) = &mut messages[2].content[0] else {
        panic!("not a result");
    };
    result.is_error = true;
    let cleared = clear(messages, 0);
    assert!(content_of(&cleared[2]).is_error);
    assert_eq!(content_of(&cleared[2]).tool_use_id, "0");
}

#[test]
fn counts_results_and_not_messages() {
    let page = page();
    let messages = vec![
        Message::user("read"),
        calls(&["1", "2", "3"]),
        results(vec![
            result("1", &page),
            result("2", &page),
            result("3", &page),
        ]),
    ];
    let cleared = clear(messages.clone(), 2);
    assert_ne!(cleared[2].content[0], messages[2].content[0]);
    assert_eq!(cleared[2].content[1..], messages[2].content[1..]);
}

#[test]
fn does_not_count_a_cleared_result_among_those_that_stay() {
    let page = page();
    let note = note();
    let messages = conversation(&[&page, &note, &page]);
    let strategy = ToolResultClearing::new(2);
    let why = reason(compact(&strategy, messages, &Scripted::silent()));
    assert!(why.contains("newest 2"), "{why}");
}

#[test]
fn leaves_a_result_that_is_no_larger_than_the_note() {
    let as_large = "x".repeat(note().len());
    let messages = conversation(&["ok", &as_large, &page()]);
    let cleared = clear(messages.clone(), 0);
    assert_eq!(cleared[..6], messages[..6]);
    assert_ne!(cleared[6], messages[6]);
}

#[test]
fn clears_a_picture() {
    let mut messages = conversation(&[""]);
    let ContentBlock::ToolResult(result) = &mut messages[2].content[0] else {
        panic!("not a result");
    };
    result.content = vec![ContentItem::Image {
        source: ImageSource::Url {
            url: "https://example.org/a.png".to_owned(),
        },
    }];
    let cleared = clear(messages, 0);
    assert!(matches!(
        content_of(&cleared[2]).content.as_slice(),
        [ContentItem::Text(_)]
    ));
}

#[test]
fn does_not_take_a_result_for_cleared_because_it_begins_like_the_note() {
    let forged = format!("{}{}", note(), page());
    let cleared = clear(conversation(&[&forged]), 0);
    assert_eq!(cleared, conversation(&[&note()]));
}

#[test]
fn removes_signed_thinking_only_after_the_first_cleared_result() {
    let page = page();
    let mut messages = conversation(&["ok", &page, "ok"]);
    for index in [1, 3, 5] {
        messages[index].content.insert(0, signed_thinking());
    }
    let cleared = clear(messages.clone(), 0);
    assert_eq!(cleared[1], messages[1]);
    assert_eq!(cleared[3], messages[3]);
    assert_eq!(cleared[5], calls(&["2"]));
}
