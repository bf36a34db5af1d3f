use std::process::Command;

use neuron_tool::{BuiltinOptions, ToolError};
use serde_json::json;

use crate::workspace::Workspace;

#[tokio::test]
async fn answers_with_the_text_as_it_is() {
    let place = Workspace::new();
    place.write("dir/a.txt", "one\r\n\ttwo\n\nfour");
    assert_eq!(
        place.ok("read_file", json!({"path": "dir/a.txt"})).await,
        "one\r\n\ttwo\n\nfour"
    );
    let absolute = place.path("dir/a.txt");
    assert_eq!(
        place.ok("read_file", json!({"path": absolute})).await,
        "one\r\n\ttwo\n\nfour"
    );
}

#[tokio::test]
async fn answers_with_a_range_of_lines() {
    let place = Workspace::new();
    place.write("a", "1\n2\n3\n4\n5");
    for (start, end, expected) in [
        (json!(2), json!(3), "2\n3\n"),
        (json!(4), json!(null), "4\n5"),
        (json!(null), json!(1), "1\n"),
        (json!(5), json!(99), "5"),
    ] {
        let input = json!({"path": "a", "start_line": start, "end_line": end});
        assert_eq!(place.ok("read_file", input).await, expected);
    }
}

#[tokio::test]
async fn a_range_that_is_not_there_is_for_the_model_to_mend() {
    let place = Workspace::new();
    place.write("a", "1\n2\n");
    let hint = place
        .hint("read_file", json!({"path": "a", "start_line": 3}))
        .await;
    assert_eq!(hint, "a has 2 lines; start_line is 3");
    let hint = place
        .hint(
            "read_file",
            json!({"path": "a", "start_line": 2, "end_line": 1}),
        )
        .await;
    assert_eq!(hint, "end_line 1 is before start_line 2; swap them");
}

#[tokio::test]
async fn stops_at_the_limit_of_lines_and_says_how_to_go_on() {
    let place = Workspace::with(&BuiltinOptions {
        max_lines: 2,
        ..BuiltinOptions::default()
    });
    place.write("a", "1\n2\n3\n4\n");
    assert_eq!(
        place.ok("read_file", json!({"path": "a"})).await,
        "1\n2\n[lines 1 to 2; the file goes on: read it with start_line 3]\n"
    );
    assert_eq!(
        place
            .ok("read_file", json!({"path": "a", "start_line": 3}))
            .await,
        "3\n4\n"
    );
    assert_eq!(
        place
            .ok("read_file", json!({"path": "a", "end_line": 2}))
            .await,
        "1\n2\n"
    );
}

#[tokio::test]
async fn stops_at_the_limit_of_bytes_after_a_whole_line() {
    let place = Workspace::with(&BuiltinOptions {
        max_output_bytes: 10,
        ..BuiltinOptions::default()
    });
    place.write("a", "1234\n5678\n9\n");
    assert_eq!(
        place.ok("read_file", json!({"path": "a"})).await,
        "1234\n5678\n[lines 1 to 2; the file goes on: read it with start_line 3]\n"
    );
    place.write("long", format!("x\n{}\nz\n", "ä".repeat(1_000)));
    assert_eq!(
        place.ok("read_file", json!({"path": "long"})).await,
        "x\n[lines 1 to 1; the file goes on: read it with start_line 2]\n"
    );
    place.write("odd", format!("x{}\nz\n", "ä".repeat(1_000)));
    assert_eq!(
        place.ok("read_file", json!({"path": "odd"})).await,
        "xääää\n[line 1 is too long and was cut; read on with start_line 2]\n"
    );
}

#[tokio::test]
async fn a_huge_file_is_cut_and_readable_at_its_end() {
    let place = Workspace::new();
    let lines: String = (1..=200_000).map(|line| format!("line {line}\n")).collect();
    place.write("huge", lines);
    let text = place.ok("read_file", json!({"path": "huge"})).await;
    assert!(text.len() < 70_000, "{}", text.len());
    assert!(text.ends_with("[lines 1 to 2000; the file goes on: read it with start_line 2001]\n"));
    let text = place
        .ok("read_file", json!({"path": "huge", "start_line": 200_000}))
        .await;
    assert_eq!(text, "line 200000\n");
}

#[tokio::test]
async fn refuses_binary_files() {
    let place = Workspace::new();
    place.write("early", b"\x7fELF\x00\x01");
    place.write("late", [vec![b'a'; 20_000], vec![0]].concat());
    assert_eq!(
        place.hint("read_file", json!({"path": "early"})).await,
        "early is a binary file of 6 bytes; read_file reads text"
    );
    let hint = place.hint("read_file", json!({"path": "late"})).await;
    assert!(hint.starts_with("late is a binary file"), "{hint}");
}

#[tokio::test]
async fn shows_text_in_another_encoding_as_far_as_it_can() {
    let place = Workspace::new();
    place.write("latin1", b"caf\xe9\n");
    assert_eq!(
        place.ok("read_file", json!({"path": "latin1"})).await,
        "caf\u{FFFD}\n[bytes that are not UTF-8 are shown as \u{FFFD}]\n"
    );
}

#[tokio::test]
async fn says_what_is_wrong_with_a_path() {
    let place = Workspace::new();
    place.write("dir/a", "");
    assert!(
        Command::new("mkfifo")
            .arg(place.path("pipe"))
            .status()
            .unwrap()
            .success()
    );
    for (path, expected) in [
        ("b", "b does not exist; list_files shows what does"),
        ("dir", "dir is a directory; list_files shows what is in it"),
        (
            "pipe",
            "pipe is neither a file nor a directory and cannot be read",
        ),
        ("", "the path is empty; use . for the working directory"),
    ] {
        assert_eq!(
            place.hint("read_file", json!({"path": path})).await,
            expected
        );
    }
    assert_eq!(
        place.ok("read_file", json!({"path": "dir/a"})).await,
        "[the file is empty]\n"
    );
    let error = place
        .call("read_file", json!({"path": "dir/a/b"}))
        .await
        .unwrap_err();
    assert!(matches!(error, ToolError::ExecutionFailed(_)));
    assert!(error.to_string().contains("cannot open dir/a/b"), "{error}");
}

#[tokio::test]
async fn a_cancelled_run_reads_nothing() {
    let place = Workspace::new();
    place.write("a", "text");
    place.ctx.cancellation_token.cancel();
    let error = place
        .call("read_file", json!({"path": "a"}))
        .await
        .unwrap_err();
    assert!(matches!(error, ToolError::Cancelled));
}

#[tokio::test]
async fn a_missing_working_directory_is_named() {
    let mut place = Workspace::new();
    place.ctx.cwd.push("gone");
    let error = place
        .call("read_file", json!({"path": "a"}))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("cannot use the working directory"),
        "{error}"
    );
}
