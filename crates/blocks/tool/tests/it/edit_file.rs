use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
};

use neuron_tool::BuiltinOptions;
use serde_json::json;

use crate::workspace::Workspace;

#[tokio::test]
async fn replaces_the_one_occurrence_and_keeps_the_permissions() {
    let place = Workspace::new();
    place.write("a", "let x = 1;\nlet y = 2;\n");
    fs::set_permissions(place.path("a"), Permissions::from_mode(0o700)).unwrap();
    let input = json!({"path": "a", "old_string": "y = 2", "new_string": "y = 3"});
    assert_eq!(
        place.ok("edit_file", input).await,
        "replaced 1 occurrence in a"
    );
    assert_eq!(place.read("a"), "let x = 1;\nlet y = 3;\n");
    let mode = fs::metadata(place.path("a")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[tokio::test]
async fn replaces_all_occurrences_if_told_to() {
    let place = Workspace::new();
    place.write("a", "x x\nx");
    let input = json!({"path": "a", "old_string": "x", "new_string": "yy", "replace_all": true});
    assert_eq!(
        place.ok("edit_file", input).await,
        "replaced 3 occurrences in a"
    );
    assert_eq!(place.read("a"), "yy yy\nyy");
}

#[tokio::test]
async fn says_why_it_changed_nothing() {
    let place = Workspace::with(&BuiltinOptions {
        max_file_bytes: 100,
        ..BuiltinOptions::default()
    });
    place.write("a", "x\ny\nx\n");
    place.write("dos", "x\r\ny\r\n");
    place.write("latin1", b"caf\xe9");
    place.write("large", "x".repeat(101));
    place.write("dir/b", "");
    for (path, old, new, expected) in [
        (
            "a",
            "x",
            "z",
            "old_string occurs 2 times in a, first in lines 1, 3; add the text around the one you mean, \
             or set replace_all",
        ),
        (
            "a",
            "X",
            "z",
            "old_string is not in a; read the file and copy the text exactly, whitespace included",
        ),
        (
            "dos",
            "x\r\ny",
            "x\ny",
            "old_string and new_string differ in their line ends only, and a file keeps its own; nothing would change",
        ),
        (
            "a",
            "",
            "z",
            "old_string is empty; give the text to replace",
        ),
        (
            "a",
            "y",
            "y",
            "old_string and new_string are the same; nothing would change",
        ),
        (
            "b",
            "y",
            "z",
            "b does not exist; list_files shows what does",
        ),
        ("dir", "y", "z", "dir is not a file; use the path of a file"),
        (
            "latin1",
            "caf",
            "z",
            "latin1 is not UTF-8; edit_file edits text",
        ),
        (
            "large",
            "x",
            "z",
            "large has 101 bytes; edit_file edits files of at most 100 bytes",
        ),
    ] {
        let input = json!({"path": path, "old_string": old, "new_string": new});
        assert_eq!(place.hint("edit_file", input).await, expected);
    }
    assert_eq!(place.read("a"), "x\ny\nx\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn edits_of_one_file_at_once_all_count() {
    let place = std::sync::Arc::new(Workspace::new());
    let marks: String = (10..50).map(|mark| format!("<{mark}>\n")).collect();
    place.write("a", &marks);
    let edits: Vec<_> = (10..50)
        .map(|mark| {
            let place = std::sync::Arc::clone(&place);
            tokio::spawn(async move {
                let input = json!({
                    "path": "a",
                    "old_string": format!("<{mark}>"),
                    "new_string": format!("({mark})"),
                });
                place.ok("edit_file", input).await;
            })
        })
        .collect();
    for edit in edits {
        edit.await.unwrap();
    }
    assert_eq!(place.read("a"), marks.replace('<', "(").replace('>', ")"));
}

#[tokio::test]
async fn says_what_it_would_change_and_changes_nothing() {
    let place = Workspace::new();
    place.write("a", "one\ntwo\n");
    let input = json!({"path": "a", "old_string": "two", "new_string": "three"});
    let preview = place.preview("edit_file", input).await.unwrap().unwrap();
    let diff = "--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n";
    assert_eq!(preview.diff.as_deref(), Some(diff));
    assert_eq!(place.read("a"), "one\ntwo\n");
    let never = json!({"path": "a", "old_string": "nowhere", "new_string": "three"});
    let error = place.preview("edit_file", never).await.unwrap_err();
    assert!(
        error.to_string().contains("old_string is not in a"),
        "{error}"
    );
}

#[tokio::test]
async fn an_edit_fails_if_the_file_changed_since_it_was_approved() {
    let place = Workspace::new();
    place.write("a", "one\ntwo\n");
    let input = || json!({"path": "a", "old_string": "two", "new_string": "three"});
    let seen = place.preview("edit_file", input()).await.unwrap().unwrap();
    place.write("a", "other\ntwo\n");
    let error = place.call_approved("edit_file", input(), &seen).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("a changed since the call was approved"),
        "{error}"
    );
    assert_eq!(place.read("a"), "other\ntwo\n");
    place.write("a", "one\ntwo\n");
    let made = place.call_approved("edit_file", input(), &seen).await;
    assert!(!made.unwrap().is_error);
    assert_eq!(place.read("a"), "one\nthree\n");
}

#[tokio::test]
async fn keeps_the_line_ends_of_the_file_whichever_the_model_writes() {
    let place = Workspace::new();
    for (before, old, new, after) in [
        ("a\r\nb\r\n", "b\n", "b\nc\n", "a\r\nb\r\nc\r\n"),
        ("a\r\nb\r\n", "a\nb", "A\nB", "A\r\nB\r\n"),
        ("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"),
        ("a\r\nb\r\n", "a\r\nb", "x\r\ny\nz", "x\r\ny\r\nz\r\n"),
        ("a\nb\n", "a\r\nb\r\n", "a\r\nc\r\n", "a\nc\n"),
        ("a\r\nb\nc\nd\n", "b\r\n", "B\r\nx\r\n", "a\r\nB\nx\nc\nd\n"),
    ] {
        place.write("a", before);
        let input = || json!({"path": "a", "old_string": old, "new_string": new});
        let seen = place.preview("edit_file", input()).await.unwrap().unwrap();
        let diff = neuron_tool::unified_diff("a", Some(before), after);
        assert_eq!(seen.diff, Some(diff), "{before:?}");
        let made = place.call_approved("edit_file", input(), &seen).await;
        assert!(!made.unwrap().is_error);
        assert_eq!(place.read("a"), after, "{before:?} {old:?} {new:?}");
    }
}

#[tokio::test]
async fn names_the_lines_of_texts_with_other_line_ends() {
    let place = Workspace::new();
    place.write("dos", "x\r\ny\r\nz\r\nx\r\ny\r\n");
    let input = json!({"path": "dos", "old_string": "x\ny", "new_string": "z"});
    let hint = place.hint("edit_file", input).await;
    assert!(
        hint.contains("occurs 2 times in dos, first in lines 1, 4;"),
        "{hint}"
    );
}
