//! `list_files`, `glob` and `grep`.

use std::os::unix::fs::symlink;

use neuron_tool::{BuiltinOptions, ToolError};
use serde_json::json;

use crate::workspace::Workspace;

fn project(options: &BuiltinOptions) -> Workspace {
    let place = Workspace::with(options);
    place.write(".gitignore", "target/\n*.log\n");
    place.write(".hidden/needle.rs", "needle");
    place.write("Cargo.toml", "[package]\n");
    place.write("build.log", "needle");
    place.write("src/deep/b.rs", "// nothing\n");
    place.write(
        "src/lib.rs",
        "fn a() {}\nfn Needle() {}\n// needle, needle\n",
    );
    place.write("src/image.png", b"needle\x00");
    place.write("target/out.rs", "needle");
    symlink("src", place.path("link")).unwrap();
    place
}

#[tokio::test]
async fn list_files_shows_everything_in_one_directory() {
    let place = project(&BuiltinOptions::default());
    assert_eq!(
        place.ok("list_files", json!({})).await,
        ".gitignore\n.hidden/\nCargo.toml\nbuild.log\nlink@\nsrc/\ntarget/\n"
    );
    assert_eq!(
        place.ok("list_files", json!({"path": "link"})).await,
        "deep/\nimage.png\nlib.rs\n"
    );
}

#[tokio::test]
async fn list_files_cuts_long_lists_with_a_note() {
    let place = project(&BuiltinOptions {
        max_entries: 2,
        ..BuiltinOptions::default()
    });
    assert_eq!(
        place.ok("list_files", json!({})).await,
        ".gitignore\n.hidden/\n[2 of 7 entries are shown; use glob to find the others]\n"
    );
}

#[tokio::test]
async fn list_files_says_what_is_wrong() {
    let place = project(&BuiltinOptions::default());
    assert_eq!(
        place
            .hint("list_files", json!({"path": "Cargo.toml"}))
            .await,
        "Cargo.toml is not a directory; read_file reads files"
    );
    let hint = place.hint("list_files", json!({"path": "nothing"})).await;
    assert_eq!(hint, "nothing does not exist; list_files shows what does");
}

#[tokio::test]
async fn glob_finds_files_that_are_not_hidden_or_ignored() {
    let place = project(&BuiltinOptions::default());
    for (pattern, expected) in [
        ("**/*.rs", "src/deep/b.rs\nsrc/lib.rs\n"),
        ("src/*.rs", "src/lib.rs\n"),
        ("./src/*.{rs,png}", "src/image.png\nsrc/lib.rs\n"),
        ("*", "Cargo.toml\n"),
        ("**/*.log", "[no file matches]\n"),
    ] {
        assert_eq!(
            place.ok("glob", json!({"pattern": pattern})).await,
            expected,
            "{pattern}"
        );
    }
    let input = json!({"pattern": "*.rs", "path": "src"});
    assert_eq!(place.ok("glob", input).await, "src/lib.rs\n");
}

#[tokio::test]
async fn glob_says_what_is_wrong() {
    let place = project(&BuiltinOptions::default());
    for (input, expected) in [
        (json!({"pattern": "src/[a"}), "mend the pattern"),
        (json!({"pattern": "../*"}), "name the directory in path"),
        (json!({"pattern": "/etc/*"}), "name the directory in path"),
        (
            json!({"pattern": "*", "path": "Cargo.toml"}),
            "is not a directory",
        ),
    ] {
        let hint = place.hint("glob", input).await;
        assert!(hint.contains(expected), "{hint}");
    }
}

#[tokio::test]
async fn glob_and_grep_cut_long_lists_with_a_note() {
    let place = project(&BuiltinOptions {
        max_entries: 1,
        ..BuiltinOptions::default()
    });
    assert_eq!(
        place.ok("glob", json!({"pattern": "**"})).await,
        "Cargo.toml\n[there are more; use a narrower pattern or a path]\n"
    );
    assert_eq!(
        place.ok("grep", json!({"pattern": "fn"})).await,
        "src/lib.rs:1: fn a() {}\n[there are more; use a narrower pattern, a path or a glob]\n"
    );
    let input = json!({"pattern": "Needle"});
    assert_eq!(
        place.ok("grep", input).await,
        "src/lib.rs:2: fn Needle() {}\n"
    );
}

#[tokio::test]
async fn grep_finds_lines_in_text_files_that_are_not_hidden_or_ignored() {
    let place = project(&BuiltinOptions::default());
    assert_eq!(
        place.ok("grep", json!({"pattern": "needle"})).await,
        "src/lib.rs:3: // needle, needle\n"
    );
    assert_eq!(
        place
            .ok("grep", json!({"pattern": "needle", "ignore_case": true}))
            .await,
        "src/lib.rs:2: fn Needle() {}\nsrc/lib.rs:3: // needle, needle\n"
    );
    assert_eq!(
        place.ok("grep", json!({"pattern": "^fn a"})).await,
        "src/lib.rs:1: fn a() {}\n"
    );
    assert_eq!(
        place.ok("grep", json!({"pattern": "absent"})).await,
        "[no line matches]\n"
    );
}

#[tokio::test]
async fn grep_searches_where_it_is_told_to() {
    let place = project(&BuiltinOptions::default());
    for (input, expected) in [
        (
            json!({"pattern": "nothing", "path": "src/deep"}),
            "src/deep/b.rs:1: // nothing\n",
        ),
        (
            json!({"pattern": "nothing", "path": "src/deep/b.rs"}),
            "src/deep/b.rs:1: // nothing\n",
        ),
        (
            json!({"pattern": "needle", "path": "build.log"}),
            "build.log:1: needle\n",
        ),
        (
            json!({"pattern": "needle", "path": "target"}),
            "target/out.rs:1: needle\n",
        ),
        (
            json!({"pattern": "package|nothing", "glob": "*.toml"}),
            "Cargo.toml:1: [package]\n",
        ),
        (
            json!({"pattern": "package|nothing", "glob": "*.rs"}),
            "src/deep/b.rs:1: // nothing\n",
        ),
        (
            json!({"pattern": "fn|nothing", "glob": "src/*/*.rs"}),
            "src/deep/b.rs:1: // nothing\n",
        ),
        (
            json!({"pattern": "nothing", "path": "src/deep/b.rs", "glob": "*.rs"}),
            "src/deep/b.rs:1: // nothing\n",
        ),
    ] {
        assert_eq!(place.ok("grep", input.clone()).await, expected, "{input}");
    }
}

#[tokio::test]
async fn grep_shows_the_start_of_very_long_lines() {
    let place = Workspace::new();
    place.write("min.js", format!("needle{}", "x".repeat(1_000_000)));
    let text = place.ok("grep", json!({"pattern": "needle"})).await;
    assert!(text.len() < 600, "{}", text.len());
    assert!(text.ends_with("x…\n"));
}

#[tokio::test]
async fn grep_says_which_files_were_too_large() {
    let place = Workspace::with(&BuiltinOptions {
        max_file_bytes: 10,
        ..BuiltinOptions::default()
    });
    place.write("large", "needle needle");
    place.write("small", "needle");
    assert_eq!(
        place.ok("grep", json!({"pattern": "needle"})).await,
        "small:1: needle\n[1 files of more than 10 bytes were not searched]\n"
    );
}

#[tokio::test]
async fn grep_says_what_is_wrong() {
    let place = Workspace::new();
    for (input, expected) in [
        (json!({"pattern": "a("}), "mend the pattern"),
        (json!({"pattern": "a", "glob": "[a"}), "mend the glob"),
        (json!({"pattern": "a", "path": "b"}), "b does not exist"),
    ] {
        let hint = place.hint("grep", input).await;
        assert!(hint.contains(expected), "{hint}");
    }
}

#[tokio::test]
async fn a_cancelled_run_searches_nothing() {
    let place = project(&BuiltinOptions::default());
    place.ctx.cancellation_token.cancel();
    for (tool, input) in [
        ("glob", json!({"pattern": "*"})),
        ("grep", json!({"pattern": "a"})),
        ("list_files", json!({})),
    ] {
        let error = place.call(tool, input).await.unwrap_err();
        assert!(matches!(error, ToolError::Cancelled), "{tool}: {error}");
    }
}
