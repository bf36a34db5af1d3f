use std::{fs, os::unix::fs::symlink};

use neuron_tool::{BuiltinOptions, ToolError};
use serde_json::{Value, json};

use crate::workspace::Workspace;

/// `secret` is beside the working directory; `out`, `file` and `new` are links in it that lead outside.
fn place(confine: bool) -> Workspace {
    let place = Workspace::with(&BuiltinOptions {
        confine,
        ..BuiltinOptions::default()
    });
    fs::write(place.outside().join("secret"), "secret\n").unwrap();
    place.write("dir/inside", "inside\n");
    symlink(place.outside(), place.path("out")).unwrap();
    symlink("../secret", place.path("file")).unwrap();
    symlink("../not-there-yet", place.path("new")).unwrap();
    place
}

fn calls(path: &str) -> [(&'static str, Value); 6] {
    [
        ("read_file", json!({"path": path})),
        ("write_file", json!({"path": path, "content": "changed"})),
        (
            "edit_file",
            json!({"path": path, "old_string": "secret", "new_string": "changed"}),
        ),
        ("list_files", json!({"path": path})),
        ("glob", json!({"path": path, "pattern": "**"})),
        ("grep", json!({"path": path, "pattern": "secret"})),
    ]
}

#[tokio::test]
async fn no_tool_leaves_the_working_directory() {
    let place = place(true);
    let absolute = place.outside().join("secret");
    for path in [
        "..",
        "../secret",
        "dir/../../secret",
        absolute.to_str().unwrap(),
        "out",
        "out/secret",
        "file",
        "/",
        "../missing",
        "out/missing",
    ] {
        for (tool, input) in calls(path) {
            let error = place.call(tool, input).await.unwrap_err();
            let ToolError::PermissionDenied(reason) = error else {
                panic!("{tool} {path}: {error}");
            };
            assert_eq!(
                reason,
                format!("{path} is outside the working directory; use a path inside it")
            );
        }
    }
    assert_eq!(fs::read_to_string(absolute).unwrap(), "secret\n");
    assert!(!place.outside().join("missing").exists());
}

#[tokio::test]
async fn nothing_is_created_through_a_link_that_leads_nowhere() {
    let place = place(true);
    for (tool, input) in calls("new") {
        place.hint(tool, input).await;
    }
    assert!(!place.outside().join("not-there-yet").exists());
}

#[tokio::test]
async fn searching_does_not_follow_links_to_the_outside() {
    let place = place(true);
    assert_eq!(
        place.ok("grep", json!({"pattern": "secret"})).await,
        "[no line matches]\n"
    );
    assert_eq!(
        place.ok("glob", json!({"pattern": "**"})).await,
        "dir/inside\n"
    );
}

#[tokio::test]
async fn every_path_can_be_used_without_confinement() {
    let place = place(false);
    assert_eq!(
        place.ok("read_file", json!({"path": "../secret"})).await,
        "secret\n"
    );
    let absolute = place.outside().join("secret");
    let input = json!({"path": absolute, "old_string": "secret", "new_string": "changed"});
    place.ok("edit_file", input).await;
    assert_eq!(
        place.ok("read_file", json!({"path": "out/secret"})).await,
        "changed\n"
    );
    place
        .ok("write_file", json!({"path": "../other", "content": "x"}))
        .await;
    assert!(place.outside().join("other").exists());
    let text = place
        .ok("grep", json!({"path": "..", "pattern": "changed"}))
        .await;
    let real = absolute.canonicalize().unwrap();
    assert_eq!(text, format!("{}:1: changed\n", real.display()));
}

#[tokio::test]
async fn the_working_directory_may_be_named_through_a_link() {
    let mut place = place(true);
    let link = place.outside().join("link");
    symlink(&place.ctx.cwd, &link).unwrap();
    place.ctx.cwd = link;
    assert_eq!(
        place.ok("read_file", json!({"path": "dir/inside"})).await,
        "inside\n"
    );
    let absolute = place.path("dir/inside");
    assert_eq!(
        place.ok("read_file", json!({"path": absolute})).await,
        "inside\n"
    );
    assert!(
        place
            .call("read_file", json!({"path": "../secret"}))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn what_is_protected_is_not_changed_and_the_journal_not_read() {
    let place = Workspace::new();
    place.write(".git/config", "[core]");
    place.write(".neuron/neuron.db", "journal");
    place.write("neuron.toml", "agents");
    place.write("sub/in", "text");
    for path in [
        "neuron.toml",
        "sub/../neuron.toml",
        ".git/config",
        ".git/hooks/pre-commit",
        "sub/.git/hooks/pre-commit",
        ".neuron/new",
    ] {
        let input = json!({"path": path, "content": "x"});
        let error = place.call("write_file", input).await.unwrap_err();
        assert!(
            matches!(error, ToolError::PermissionDenied(_)),
            "{path}: {error}"
        );
    }
    let input = json!({"path": ".git/config", "old_string": "core", "new_string": "x"});
    drop(place.call("edit_file", input).await.unwrap_err());
    let input = json!({"path": ".neuron/neuron.db"});
    let error = place.call("read_file", input).await.unwrap_err();
    assert!(matches!(error, ToolError::PermissionDenied(_)), "{error}");
    assert_eq!(
        place.read("neuron.toml") + &place.read(".git/config"),
        "agents[core]"
    );
}

#[tokio::test]
async fn nothing_is_written_through_a_hard_link() {
    let place = Workspace::new();
    let store = place.outside().join("store");
    fs::write(&store, "mine").unwrap();
    for (tool, input) in [
        ("write_file", json!({"path": "linked", "content": "x"})),
        (
            "edit_file",
            json!({"path": "linked", "old_string": "mine", "new_string": "x"}),
        ),
    ] {
        fs::hard_link(&store, place.path("linked")).unwrap();
        place.ok(tool, input).await;
        assert_eq!(place.read("linked"), "x");
        assert_eq!(fs::read_to_string(&store).unwrap(), "mine");
        fs::remove_file(place.path("linked")).unwrap();
    }
}
