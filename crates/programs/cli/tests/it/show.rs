//! `neuron show`

use serde_json::{Value, json};

use crate::support::{Home, one_call, one_command};

fn items(transcript: &Value, kind: &str) -> Vec<Value> {
    let entries = transcript["entries"].as_array().unwrap().iter();
    entries
        .filter(|entry| entry["type"] == kind)
        .cloned()
        .collect()
}

#[test]
fn shows_what_a_failed_command_printed() {
    let home = Home::with_script(
        &one_command("echo could not find it >&2; exit 3"),
        "tools = [\"bash\"]",
    );
    home.neuron(&["run", "--id", "r1", "go"]).exits(0);
    let text = home.neuron(&["show", "r1"]).exits(0).stdout;
    let (before, after) = text.split_once("turn 1\n").unwrap();
    assert_eq!(before, "  prompt:\n    go\n\n");
    assert!(
        after.starts_with(
            "  Let me see.\n  → 1 bash\n      $ echo could not find it >&2; exit 3\n  ← 1 bash failed\n"
        ),
        "{text}"
    );
    assert!(after.contains("could not find it\n"), "{text}");
    assert!(
        after.ends_with("turn 2\n  Done.\n  run completed\n"),
        "{text}"
    );
    let transcript = home.neuron(&["show", "r1", "--json"]).exits(0).json();
    assert_eq!(transcript["run_id"], "r1");
    assert_eq!(transcript["incomplete"], Value::Null);
    let results = items(&transcript, "tool_result");
    let read = results[0]["content"][0]["text"].as_str().unwrap();
    assert!(read.contains("could not find it"), "{results:?}");
}

#[test]
fn shows_one_turn_and_says_which_there_is_not() {
    let home = Home::with_script(&one_command("true"), "tools = [\"bash\"]");
    home.neuron(&["run", "--id", "r1", "go"]).exits(0);
    home.neuron(&["show", "r1", "--turn", "2"])
        .exits(0)
        .prints("turn 2\n  Done.\n  run completed\n");
    home.neuron(&["show", "r1", "--turn", "7"])
        .exits(2)
        .says("run r1 has no turn 7");
    home.neuron(&["show", "nobody"]).exits(2);
}

#[test]
fn long_results_are_cut_until_all_is_asked_for() {
    let home = Home::with_script(&one_command("seq 1 100"), "tools = [\"bash\"]");
    home.neuron(&["run", "--id", "r1", "go"]).exits(0);
    let cut = home.neuron(&["show", "r1"]).exits(0).stdout;
    assert!(cut.contains("--full shows all"), "{cut}");
    assert!(!cut.contains("\n      100\n"), "{cut}");
    let full = home.neuron(&["show", "r1", "--full"]).exits(0).stdout;
    assert!(full.contains("\n      100\n"), "{full}");
}

#[test]
fn nothing_that_a_tool_prints_reaches_the_terminal_raw() {
    let hostile = "printf 'a\\033[2Jb\\rc\\302\\233d'";
    let home = Home::with_script(&one_command(hostile), "tools = [\"bash\"]");
    home.neuron(&["run", "--id", "r1", "go"]).exits(0);
    let text = home.neuron(&["show", "r1"]).exits(0).stdout;
    assert!(text.contains(r"a\u{1b}[2Jb\rc\u{9b}d"), "{text:?}");
    assert!(!text.contains(['\u{1b}', '\r', '\u{9b}']), "{text:?}");
}

#[test]
fn an_edit_is_shown_as_a_diff_with_who_approved_it() {
    let edit = json!({"path": "a.txt", "old_string": "two", "new_string": "three\nfour"});
    let agent = "tools = [\"edit_file\"]\nask = [\"edit_file\"]";
    let home = Home::with_script(&one_call("edit_file", &edit), agent);
    home.write("a.txt", "one\ntwo\n");
    let diff = "--- a.txt\n    +++ a.txt\n    @@ -1,2 +1,3 @@\n     one\n    -two\n    +three\n    +four\n";
    home.neuron(&["run", "--id", "r1", "go"])
        .exits(3)
        .says(&format!("ticket t1-1: edit_file\n    {diff}"));
    let open = home.neuron(&["approvals"]).exits(0).stdout;
    assert!(open.contains(&format!("edit_file\n    {diff}")), "{open}");
    let open = home.neuron(&["approvals", "--json"]).exits(0).json();
    let shown = "--- a.txt\n+++ a.txt\n@@ -1,2 +1,3 @@\n one\n-two\n+three\n+four\n";
    assert_eq!(open[0]["diff"], shown, "{open}");
    home.neuron(&["approve", "r1", "--as", "ada", "--comment", "fine"])
        .exits(0);
    home.neuron(&["resume", "r1"]).exits(0);
    let text = home.neuron(&["show", "r1", "--turn", "1"]).exits(0).stdout;
    let diff = "  → 1 edit_file\n      --- a.txt\n      +++ a.txt\n      @@ -1,2 +1,3 @@\n       one\n      -two\n      +three\n      +four\n";
    assert!(text.contains(diff), "{text}");
    assert!(
        text.contains("ticket t1-1 approved by ada: fine\n"),
        "{text}"
    );
    assert!(text.contains("  ← 1 edit_file ok\n"), "{text}");
}

#[test]
fn an_edit_that_was_approved_changes_nothing_if_the_file_is_another_one() {
    let edit = json!({"path": "a.txt", "old_string": "two", "new_string": "three"});
    let agent = "tools = [\"edit_file\"]\nask = [\"edit_file\"]";
    let home = Home::with_script(&one_call("edit_file", &edit), agent);
    home.write("a.txt", "one\ntwo\n");
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    home.write("a.txt", "one\ntwo\nmore\n");
    home.neuron(&["approve", "r1"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0);
    assert_eq!(home.read("a.txt"), "one\ntwo\nmore\n");
    let text = home.neuron(&["show", "r1"]).exits(0).stdout;
    let said = "a.txt changed since the call was approved, so nothing was done";
    assert!(text.contains(said), "{text}");
    assert!(!text.contains("neuron/"), "{text}");
}

#[test]
fn a_denied_call_says_what_the_model_read() {
    let agent = "tools = [\"bash\"]\nask = [\"bash\"]";
    let home = Home::with_script(&one_command("rm -r ."), agent);
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    home.neuron(&["deny", "r1", "--as", "ada", "--comment", "never"])
        .exits(0);
    home.neuron(&["resume", "r1"]).exits(0);
    let text = home.neuron(&["show", "r1"]).exits(0).stdout;
    let denied = "not called: ada denied it: never";
    assert!(text.contains(denied), "{text}");
    // The events contain the same.
    let events = home.neuron(&["events", "r1"]).exits(0).stdout;
    assert!(
        events.contains(&format!("bash failed: {denied}")),
        "{events}"
    );
}

#[test]
fn a_run_of_several_segments_has_its_earlier_turns_and_says_where_they_are_from() {
    let turn = |n: u32| {
        let input = json!({ "command": format!("echo turn {n}") });
        json!({"text": format!("I do {n}."), "tool_calls": [{"name": "bash", "input": input}]})
    };
    let mut turns: Vec<Value> = (1..=6).map(turn).collect();
    turns.push(json!({"text": "Done."}));
    let home = Home::with_script(&json!(turns), "tools = [\"bash\"]");
    home.neuron(&["run", "--id", "r1", "--segment-events", "8", "go"])
        .exits(0);
    let transcript = home.neuron(&["show", "r1", "--json"]).exits(0).json();
    let results = items(&transcript, "tool_result");
    let read: Vec<String> = results
        .iter()
        .map(|result| result["content"].to_string())
        .collect();
    assert_eq!(read.len(), 6);
    for (read, n) in read.iter().zip(1..) {
        assert!(read.contains(&format!("turn {n}")), "{read}");
    }
    let incomplete = transcript["incomplete"].as_str().unwrap();
    assert!(
        incomplete.contains("as the conversation has them"),
        "{incomplete}"
    );
    home.neuron(&["show", "r1"])
        .exits(0)
        .says("as the conversation has them");
}
