use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
};

use neuron_tool::ToolError;
use serde_json::json;

use crate::workspace::Workspace;

fn mode(place: &Workspace, path: &str) -> u32 {
    fs::metadata(place.path(path)).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn makes_the_file_and_its_directories() {
    let place = Workspace::new();
    let input = json!({"path": "a/b/c.txt", "content": "grüß"});
    assert_eq!(
        place.ok("write_file", input).await,
        "wrote 6 bytes to a/b/c.txt"
    );
    assert_eq!(place.read("a/b/c.txt"), "grüß");
}

#[tokio::test]
async fn a_new_file_has_the_permissions_of_any_new_file() {
    let place = Workspace::new();
    place
        .ok("write_file", json!({"path": "a", "content": ""}))
        .await;
    place.write("b", "");
    assert_eq!(mode(&place, "a"), mode(&place, "b"));
}

#[tokio::test]
async fn replaces_a_file_and_keeps_its_permissions() {
    let place = Workspace::new();
    place.write("run.sh", "old and longer");
    fs::set_permissions(place.path("run.sh"), Permissions::from_mode(0o750)).unwrap();
    place
        .ok("write_file", json!({"path": "run.sh", "content": "new"}))
        .await;
    assert_eq!(place.read("run.sh"), "new");
    assert_eq!(mode(&place, "run.sh"), 0o750);
}

#[tokio::test]
async fn leaves_nothing_else_behind() {
    let place = Workspace::new();
    place
        .ok("write_file", json!({"path": "a", "content": "1"}))
        .await;
    place
        .ok("write_file", json!({"path": "a", "content": "2"}))
        .await;
    assert_eq!(place.ok("list_files", json!({})).await, "a\n");
}

#[tokio::test]
async fn who_has_the_file_open_goes_on_reading_the_old_content() {
    let place = Workspace::new();
    place.write("a", "old");
    let mut old = fs::File::open(place.path("a")).unwrap();
    place
        .ok("write_file", json!({"path": "a", "content": "new"}))
        .await;
    assert_eq!(std::io::read_to_string(&mut old).unwrap(), "old");
    assert_eq!(place.read("a"), "new");
}

#[tokio::test]
async fn writes_through_a_link_that_stays_inside() {
    let place = Workspace::new();
    place.write("real", "old");
    symlink("real", place.path("link")).unwrap();
    place
        .ok("write_file", json!({"path": "link", "content": "new"}))
        .await;
    assert_eq!(place.read("real"), "new");
    assert!(place.path("link").is_symlink());
}

#[tokio::test]
async fn refuses_what_is_not_a_file_to_replace() {
    let place = Workspace::new();
    place.write("dir/file", "");
    let input = json!({"path": "dir", "content": ""});
    assert_eq!(
        place.hint("write_file", input).await,
        "dir is not a file; use the path of a file"
    );
    let input = json!({"path": "dir/file/new", "content": ""});
    let error = place.call("write_file", input).await.unwrap_err();
    assert!(matches!(error, ToolError::ExecutionFailed(_)), "{error}");

    fs::set_permissions(place.path("dir/file"), Permissions::from_mode(0o444)).unwrap();
    let input = json!({"path": "dir/file", "content": "new"});
    let error = place.call("write_file", input).await.unwrap_err();
    assert!(matches!(error, ToolError::PermissionDenied(_)), "{error}");
    assert_eq!(place.read("dir/file"), "");
}

#[tokio::test]
async fn a_cancelled_run_writes_nothing() {
    let place = Workspace::new();
    place.ctx.cancellation_token.cancel();
    let input = json!({"path": "a", "content": "b"});
    let error = place.call("write_file", input).await.unwrap_err();
    assert!(matches!(error, ToolError::Cancelled));
    assert!(!place.path("a").exists());
}

#[tokio::test]
async fn says_what_it_would_write_over() {
    let place = Workspace::new();
    place.write("old", "one\n");
    place.write("binary", b"\xff\xfe");
    let preview = async |path: &str| {
        let input = serde_json::json!({"path": path, "content": "two\n"});
        place.preview("write_file", input).await.unwrap().unwrap()
    };
    let old = preview("old").await;
    let diff = "--- old\n+++ old\n@@ -1 +1 @@\n-one\n+two\n";
    assert_eq!(old.diff.as_deref(), Some(diff));
    let new = preview("dir/new").await;
    assert!(new.diff.as_deref().unwrap().starts_with("--- /dev/null\n"));
    assert_ne!(new.fingerprint, old.fingerprint);
    let binary = preview("binary").await;
    assert_eq!(
        binary.text.as_deref(),
        Some("replaces all of binary, which is no text")
    );
    assert!(binary.fingerprint.is_some() && binary.diff.is_none());
    assert!(!place.path("dir").exists());
}

#[tokio::test]
async fn writes_nothing_over_a_file_that_came_or_changed_since_it_was_approved() {
    let place = Workspace::new();
    let input = || serde_json::json!({"path": "a", "content": "mine\n"});
    let seen = place.preview("write_file", input()).await.unwrap().unwrap();
    place.write("a", "somebody's\n");
    let error = place.call_approved("write_file", input(), &seen).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("a changed since the call was approved"),
        "{error}"
    );
    assert_eq!(place.read("a"), "somebody's\n");
    std::fs::remove_file(place.path("a")).unwrap();
    let made = place.call_approved("write_file", input(), &seen).await;
    assert!(!made.unwrap().is_error);
    assert_eq!(place.read("a"), "mine\n");
}

#[tokio::test]
async fn keeps_the_line_ends_of_the_file_whichever_the_model_writes() {
    let place = Workspace::with(&neuron_tool::BuiltinOptions {
        max_file_bytes: 40,
        ..neuron_tool::BuiltinOptions::default()
    });
    let long = "x\r\n".repeat(20);
    for (before, content, after) in [
        (Some("a\r\nb\r\n"), "a\nc\nd\n", "a\r\nc\r\nd\r\n"),
        (Some("a\r\nb\r\n"), "a\r\nc\n", "a\r\nc\r\n"),
        (Some("a\nb\n"), "a\r\nc\r\n", "a\nc\n"),
        (Some("a\r\nb\nc\n"), "a\nb\nx\nc\n", "a\r\nb\nx\nc\n"),
        (Some(long.as_str()), "a\nb\n", "a\r\nb\r\n"),
        (Some("a"), "b\r\nc\n", "b\r\nc\n"),
        (None, "b\r\nc\n", "b\r\nc\n"),
    ] {
        for shown in [false, true] {
            drop(fs::remove_file(place.path("a")));
            if let Some(before) = before {
                place.write("a", before);
            }
            let input = || json!({"path": "a", "content": content});
            let seen = place.preview("write_file", input()).await.unwrap().unwrap();
            if let Some(diff) = &seen.diff {
                assert_eq!(
                    *diff,
                    neuron_tool::unified_diff("a", before, after),
                    "{before:?}"
                );
            }
            if shown && seen.fingerprint.is_some() {
                let made = place.call_approved("write_file", input(), &seen).await;
                assert!(!made.unwrap().is_error);
            } else {
                let bytes = after.len();
                assert_eq!(
                    place.ok("write_file", input()).await,
                    format!("wrote {bytes} bytes to a")
                );
            }
            assert_eq!(place.read("a"), after, "{before:?}");
        }
    }
}
