//! Answers in a terminal while they arrive, from a server that streams.

use crate::{
    model_server::{ModelServer, Part},
    support::eventually,
    terminal::{ends_with, in_terminal},
};

const RUN: [&str; 4] = ["run", "--id", "r1", "hi"];

#[test]
fn an_answer_is_shown_while_it_comes_and_once() {
    let server = ModelServer::start([vec![
        Part::Text("Hello "),
        Part::Wait,
        Part::Text("world,\nthis is "),
        Part::Text("all."),
        Part::End,
    ]]);
    let home = server.home();
    let mut session = in_terminal(home.command(&RUN));
    session.exp_string("Hello ").unwrap();
    server.go_on();
    let rest = ends_with(session, 0);
    assert!(rest.contains("world,\r\nthis is all.\r\n"), "{rest:?}");
    assert!(rest.contains("run r1 completed: 1 turn"), "{rest:?}");
    assert_eq!(rest.matches("world").count(), 1, "{rest:?}");
    assert!(!rest.contains("Hello"), "{rest:?}");
    assert_eq!(server.streamed(), [true]);
    // The repeated answer does not come from a stream.
    let again = ends_with(in_terminal(home.command(&["resume", "r1"])), 0);
    assert!(
        again.contains("Hello world,\r\nthis is all.\r\n"),
        "{again:?}"
    );
}

#[test]
fn an_answer_that_broke_off_begins_anew() {
    let server = ModelServer::start([
        vec![Part::Text("Half an ans"), Part::Cut],
        vec![Part::Text("A whole answer."), Part::End],
    ]);
    let home = server.home();
    let mut session = in_terminal(home.command(&RUN));
    session.exp_string("Half an ans\r\n").unwrap();
    session
        .exp_string("  model call: attempt 1 failed (network: ")
        .unwrap();
    session.exp_string("; the answer starts again").unwrap();
    session.exp_string("A whole answer.\r\n").unwrap();
    let rest = ends_with(session, 0);
    assert!(rest.contains("run r1 completed: 1 turn"), "{rest:?}");
    assert!(!rest.contains("answer."), "{rest:?}");
}

#[test]
fn what_the_model_says_before_its_calls_is_shown_once() {
    let server = ModelServer::start([
        vec![Part::Text("Let me see."), Part::Bash("touch made")],
        vec![Part::Text("Done."), Part::End],
    ]);
    let home = server.home();
    let all = ends_with(in_terminal(home.command(&RUN)), 0);
    assert_eq!(all.matches("Let me see.").count(), 1, "{all:?}");
    assert_eq!(all.matches("Done.").count(), 1, "{all:?}");
    let order = [
        "Let me see.",
        "✓ bash",
        "Done.",
        "run r1 completed: 2 turns",
    ];
    let found: Vec<_> = order.iter().map(|part| all.find(part)).collect();
    assert!(found.is_sorted() && found[0].is_some(), "{found:?} {all:?}");
    assert!(home.exists("made"));
}

#[test]
fn ctrl_c_in_an_answer_closes_the_connection_and_leaves_the_run_resumable() {
    let server = ModelServer::start([
        vec![Part::Text("Half an ans"), Part::Hang],
        vec![Part::Text("A whole answer."), Part::End],
    ]);
    let home = server.home();
    let mut session = in_terminal(home.command(&RUN));
    session.exp_string("Half an ans").unwrap();
    session.send_control('c').unwrap();
    let rest = ends_with(session, 130);
    // The message is on a line of its own, which may have shown the progress before.
    let begins = ["\r\n", "\u{1b}[2K"].map(|begin| format!("{begin}run r1 was interrupted"));
    assert!(begins.iter().any(|begin| rest.contains(begin)), "{rest:?}");
    eventually("the end of the connection", || server.left() == 1);
    let resumed = ends_with(in_terminal(home.command(&["resume", "r1"])), 0);
    assert_eq!(resumed.matches("A whole answer.").count(), 1, "{resumed:?}");
}

#[test]
fn answers_are_shown_to_programs_when_they_are_whole() {
    let answer = || vec![Part::Text("Hello "), Part::Text("world."), Part::End];
    let server = ModelServer::start([answer(), answer()]);
    let home = server.home();
    home.neuron(&["run", "hi"])
        .exits(0)
        .prints("Hello world.\n");
    let json = ends_with(in_terminal(home.command(&["run", "--json", "hi"])), 0);
    assert_eq!(json.matches("Hello world.").count(), 1, "{json:?}");
    assert_eq!(server.streamed(), [true, true]);
}
