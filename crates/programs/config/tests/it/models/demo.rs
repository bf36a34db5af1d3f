use std::{fs, path::Path};

use futures::FutureExt;
use neuron_config::DemoModel;
use neuron_executor::Executor;
use neuron_tool::{BuiltinOptions, ToolRegistry, builtin_tools};
use neuron_types::{
    CompletionRequest, ContentBlock, ContentItem, Message, Provider, RequestHead, Role, StopReason,
    ToolCall, ToolDefinition, ToolOutput, ToolResultBlock,
};
use proptest::prelude::*;
use tempfile::TempDir;

use neuron_testing::effects::{scope, text_of};

const ALL: &[&str] = neuron_tool::BUILTIN_TOOLS;

fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("Cargo.toml", "[workspace]\n"),
        ("README.md", "# Pond\n\nDucks live here.\n"),
        ("crates/duck/Cargo.toml", "[package]\nname = \"duck\"\n"),
        ("crates/duck/src/lib.rs", "//! Ducks.\npub fn quack() {}\n"),
        ("crates/pond/Cargo.toml", "[package]\nname = \"pond\"\n"),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// Talks to the demo model until it is done, with real tools. Returns the tools that it called, turn by turn, and its
/// answer.
async fn converse(folder: &Path, tools: &[&str], prompts: &[&str]) -> (Vec<Vec<String>>, String) {
    let mut registry = ToolRegistry::new();
    for tool in builtin_tools(&BuiltinOptions::default()) {
        if tools.contains(&tool.name()) {
            registry.register_dyn(tool);
        }
    }
    let executor = Executor::builder()
        .provider("demo", DemoModel)
        .tools(registry)
        .cwd(folder)
        .build();
    let mut request = CompletionRequest::from(RequestHead {
        model: "demo".into(),
        tools: executor.tools().definitions(),
        ..RequestHead::default()
    });
    let mut turns = Vec::new();
    let mut text = String::new();
    for prompt in prompts {
        request.messages.push(Message::user(*prompt));
        loop {
            let answer = executor.call_model(&scope(), &request).await.unwrap();
            let calls = calls(&answer.message);
            text = answer.message.text();
            assert_eq!(calls.is_empty(), answer.stop_reason == StopReason::EndTurn);
            request.messages.push(answer.message);
            if calls.is_empty() {
                break;
            }
            turns.push(calls.iter().map(|call| call.name.clone()).collect());
            assert!(turns.len() < 10, "{turns:?}");
            let mut results = Vec::new();
            for call in calls {
                let output = executor.call_tool(&scope(), &call).await.unwrap();
                results.push(result(&call, &output));
            }
            request.messages.push(Message {
                role: Role::User,
                content: results,
            });
        }
    }
    (turns, text)
}

fn calls(message: &Message) -> Vec<ToolCall> {
    let calls = message.content.iter().filter_map(|block| match block {
        ContentBlock::ToolUse {
            id, name, input, ..
        } => Some(ToolCall {
            id: id.clone(),
            name: name.clone(),
            input: input.clone(),
            ..ToolCall::default()
        }),
        _ => None,
    });
    calls.collect()
}

fn result(call: &ToolCall, output: &ToolOutput) -> ContentBlock {
    ContentBlock::ToolResult(ToolResultBlock {
        tool_use_id: call.id.clone(),
        name: call.name.clone(),
        content: vec![ContentItem::Text(text_of(output))],
        is_error: output.is_error,
    })
}

async fn ask(tools: &[&str], prompt: &str) -> (Vec<Vec<String>>, String) {
    converse(project().path(), tools, &[prompt]).await
}

#[tokio::test]
async fn lists_the_crates_of_a_workspace() {
    for prompt in [
        "list the crates of this workspace",
        "Which crates are in this workspace?",
        "Can you tell me about the crates?",
        "find all crates, please",
    ] {
        let (turns, text) = ask(neuron_tool::READ_ONLY_TOOLS, prompt).await;
        assert_eq!(turns, [["glob"]], "{prompt}");
        assert_eq!(
            text, "I found 2 crates:\n- crates/duck\n- crates/pond",
            "{prompt}"
        );
    }
}

#[tokio::test]
async fn lists_the_crates_of_this_workspace() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(3)
        .unwrap();
    let prompts = ["list the crates of this workspace"];
    let (_, text) = converse(workspace, neuron_tool::READ_ONLY_TOOLS, &prompts).await;
    assert!(text.contains("- crates/blocks/executor\n"), "{text}");
    assert!(text.contains("- crates/core/types\n"), "{text}");
}

#[tokio::test]
async fn calls_the_tool_that_the_words_ask_for() {
    for (prompt, tool, answer) in [
        (
            "list the files",
            "list_files",
            "The working directory holds:\nCargo.toml\nREADME.md\ncrates/",
        ),
        (
            "What is in the crates folder?",
            "list_files",
            "crates holds:\nduck/\npond/",
        ),
        (
            "find **/*.rs",
            "glob",
            "Files that match **/*.rs: crates/duck/src/lib.rs",
        ),
        (
            "Read README.md",
            "read_file",
            "README.md:\n# Pond\n\nDucks live here.",
        ),
        (
            "please show me `crates/duck/src/lib.rs`.",
            "read_file",
            "crates/duck/src/lib.rs:\n//! Ducks.\npub fn quack() {}",
        ),
        (
            "search for \"quack\" in crates",
            "grep",
            "Lines that match \"quack\": crates/duck/src/lib.rs:2: pub fn quack() {}",
        ),
        (
            "grep Ducks live",
            "grep",
            "Lines that match \"Ducks live\": README.md:3: Ducks live here.",
        ),
        (
            "run `echo hi`",
            "bash",
            "`echo hi` printed:\nhi\n[exit code 0]",
        ),
        (
            "run echo hi there",
            "bash",
            "`echo hi there` printed:\nhi there\n[exit code 0]",
        ),
        (
            "write \"quack\" to notes/a.txt",
            "write_file",
            "Done: wrote 5 bytes to notes/a.txt.",
        ),
    ] {
        let (turns, text) = ask(ALL, prompt).await;
        assert_eq!(turns, [[tool]], "{prompt}");
        assert_eq!(text, answer, "{prompt}");
    }
}

#[tokio::test]
async fn reads_in_parallel_and_changes_things_one_by_one() {
    let prompt =
        "Read README.md and list the crates, then write \"done\" to out.txt and run `cat out.txt`";
    let (turns, text) = ask(ALL, prompt).await;
    assert_eq!(
        turns,
        [vec!["read_file", "glob"], vec!["write_file"], vec!["bash"]]
    );
    for part in [
        "Ducks live here.",
        "I found 2 crates",
        "Done: wrote 4 bytes to out.txt.",
        "`cat out.txt` printed:\ndone",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[tokio::test]
async fn keeps_the_order_of_the_prompt_where_it_says_then() {
    let (turns, _) = ask(ALL, "read README.md then search for \"duck\"").await;
    assert_eq!(turns, [["read_file"], ["grep"]]);
}

#[tokio::test]
async fn says_what_it_could_not_do() {
    let (turns, text) = ask(ALL, "read nothing.txt").await;
    assert_eq!(turns, [["read_file"]]);
    assert!(text.starts_with("I could not read nothing.txt: "), "{text}");

    let (turns, text) = ask(neuron_tool::READ_ONLY_TOOLS, "run `ls` and list the crates").await;
    assert_eq!(turns, [["glob"]]);
    assert!(
        text.starts_with("I could not run `ls`: this agent has no bash tool.\n\nI found 2 crates"),
        "{text}"
    );
}

#[tokio::test]
async fn says_that_it_is_a_demo_where_it_cannot_answer() {
    let (turns, text) = ask(ALL, "What is the capital of France?").await;
    assert!(turns.is_empty());
    assert!(text.starts_with("I am neuron's demo model"), "{text}");
    assert!(text.contains("OPENAI_API_KEY"));
}

#[tokio::test]
async fn takes_up_a_second_prompt_in_the_same_conversation() {
    let folder = project();
    let prompts = ["list the crates", "now read README.md"];
    let (turns, text) = converse(folder.path(), ALL, &prompts).await;
    assert_eq!(turns, [["glob"], ["read_file"]]);
    assert_eq!(text, "README.md:\n# Pond\n\nDucks live here.");
}

#[tokio::test]
async fn a_reminder_is_no_prompt() {
    let folder = project();
    let reminder = "<system-reminder>\nread README.md\n</system-reminder>";
    let prompts = ["list the crates", reminder];
    let (turns, text) = converse(folder.path(), ALL, &prompts).await;
    assert_eq!(turns, [["glob"]]);
    assert!(!text.contains("Ducks live here"), "{text}");
}

#[tokio::test]
async fn shows_the_beginning_of_a_long_result() {
    let folder = project();
    let lines: Vec<String> = (1..=50).map(|n| format!("line {n}")).collect();
    fs::write(folder.path().join("long.txt"), lines.join("\n")).unwrap();
    let (_, text) = converse(folder.path(), ALL, &["read long.txt"]).await;
    assert!(text.ends_with("line 20\n(30 more lines)"), "{text}");
}

proptest! {
    #[test]
    fn answers_every_prompt_with_a_text_or_a_call_of_a_tool_that_is_offered(
        words in prop::collection::vec(word(), 0..12),
    ) {
        let request = CompletionRequest::new(RequestHead { tools: vec![ToolDefinition { name: "grep".into(), ..ToolDefinition::default() }], ..RequestHead::default() }, vec![Message::user(words.join(" "))]);
        let answer = DemoModel.complete(&request).now_or_never().unwrap().unwrap();
        let calls = calls(&answer.message);
        prop_assert!(calls.iter().all(|call| call.name == "grep" && call.input.is_object()));
        prop_assert!(!calls.is_empty() || !answer.message.text().is_empty());
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "list", "read", "search", "find", "run", "write", "then", "and", "the", "crates",
            "for", "in", "to", "files", "folder", "`x", "\"a b\"", "./", "..", "a.txt,", "*.rs",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,6}",
    ]
}
