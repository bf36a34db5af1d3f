//! `neuron run`

use serde_json::{Value, json};

use crate::support::{Home, one_call, one_command};

#[test]
fn prints_the_answer_on_standard_output_and_progress_on_standard_error() {
    let home = Home::with_script(&one_command("echo hello"), "tools = [\"bash\"]");
    let done = home.neuron(&["run", "--id", "r1", "say hello"]);
    let done = done.exits(0).prints("Done.\n");
    insta::assert_snapshot!(done.stderr);
}

#[test]
fn prints_exactly_one_run_output_as_json() {
    let home = Home::with_script(&one_command("echo hello"), "tools = [\"bash\"]");
    let done = home.neuron(&["run", "--json", "--id", "r1", "say hello"]);
    insta::assert_json_snapshot!(done.exits(0).json());
}

#[test]
fn counts_that_no_provider_reported_are_null_in_json() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    let run = home.neuron(&["run", "--json", "--id", "r1", "hi"]);
    let run = run.exits(0).json();
    let status = home.neuron(&["status", "r1", "--json"]).exits(0).json();
    let runs = home.neuron(&["runs", "--json"]).exits(0).json();
    let costs = home.neuron(&["costs", "--json"]).exits(0).json();
    for shown in [&run, &status, &runs[0], &costs["total"]] {
        assert_eq!(shown["usage"]["input_tokens"], Value::Null, "{shown}");
        assert_eq!(shown["usage"]["output_tokens"], Value::Null, "{shown}");
        assert!(shown["usage"].get("input_tokens").is_some(), "{shown}");
    }
}

#[test]
fn takes_global_options_before_and_after_the_command() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    let before = home.neuron(&["--json", "run", "hi"]).exits(0).json();
    let after = home.neuron(&["run", "hi", "--json"]).exits(0).json();
    assert_eq!(before["output"], after["output"]);
}

#[test]
fn takes_the_prompt_from_standard_input() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    for (id, args) in [
        ("r1", &["run", "--id", "r1"][..]),
        ("r2", &["run", "--id", "r2", "-"]),
    ] {
        home.neuron_with_input(args, "two\nlines\n").exits(0);
        let events = home.neuron(&["events", id, "--json"]).json_lines();
        assert_eq!(events[0]["prompt"], "two\nlines");
    }
}

#[test]
fn leaves_standard_input_alone_when_the_prompt_is_an_argument() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    home.neuron_with_input(&["run", "--id", "r1", "the prompt"], "something else")
        .exits(0);
    let events = home.neuron(&["events", "r1", "--json"]).json_lines();
    assert_eq!(events[0]["prompt"], "the prompt");
}

#[test]
fn refuses_an_empty_prompt() {
    let home = Home::new();
    for args in [&["run"][..], &["run", "-"], &["run", " \n"]] {
        home.neuron_with_input(args, " \n")
            .exits(2)
            .prints("")
            .says("error: there is no prompt: give it");
    }
    assert!(!home.exists(".neuron"), "nothing was started");
}

#[test]
fn refuses_input_that_is_no_text() {
    let home = Home::new();
    home.write("picture", "");
    std::fs::write(home.path("picture"), [0xff, 0xfe, 0x00]).unwrap();
    let file = std::fs::File::open(home.path("picture")).unwrap();
    let output = home.command(&["run"]).stdin(file).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("cannot be read as text")
    );
}

#[test]
fn refuses_an_id_that_is_taken() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    home.neuron(&["run", "--id", "r1", "hi"]).exits(0);
    home.neuron(&["run", "--id", "r1", "hi"])
        .exits(2)
        .prints("")
        .says("error: there is a run r1 already");
    home.neuron(&["run", "--id", "../r1", "hi"])
        .exits(2)
        .says("is not a run id");
}

#[test]
fn makes_ids_that_can_be_typed_back() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    let output = home.neuron(&["run", "--json", "hi"]).json();
    let id = output["run_id"].as_str().unwrap();
    assert_eq!(home.status(id)["state"], "completed");
}

#[test]
fn exits_with_1_when_the_run_fails() {
    let failing = json!([{ "fail": [{ "kind": "authentication", "message": "no such key" }] }]);
    let home = Home::with_script(&failing, "");
    home.neuron(&["run", "--id", "r1", "hi"])
        .exits(1)
        .prints("")
        .says("error: run r1 failed: authentication: no such key");
    let output = home.neuron(&["run", "--json", "hi"]).exits(1).json();
    assert_eq!(output["state"], "failed");
    assert_eq!(output["error"]["kind"], "authentication");
}

#[test]
fn exits_with_1_at_a_limit_and_says_which() {
    let home = Home::with_script(
        &one_command("true"),
        "tools = [\"bash\"]\nlimits = { turns = 1 }",
    );
    let done = home.neuron(&["run", "--id", "r1", "hi"]).exits(1);
    done.prints("Let me see.\n")
        .says("error: run r1 ended at its limit of turns: raise `turns`");
    let output = home.neuron(&["wait", "r1", "--json"]).exits(1).json();
    assert_eq!(output["state"], "limit_reached");
    assert_eq!(output["exit_reason"], "max_turns");
}

#[test]
fn tells_of_retries_with_their_delay() {
    let twice = json!([{
        "text": "Hi.",
        "fail": [{ "kind": "rate_limited", "status": 429, "retry_after_ms": 10, "message": "slow down" }] // It may take longer.
    }]);
    // The jitter of a millisecond is a millisecond, and so is a tenth of the server's delay.
    let agent = "[agents.default.retry]\ninitial = \"1ms\"\nmax = \"1ms\""; // Only so that it does not take long.
    let home = Home::with_script(&twice, agent);
    home.neuron(&["run", "hi"]).exits(0).says(
        "  model call: attempt 1 failed (rate_limited: slow down (HTTP 429)), again in 11 ms\n",
    );
}

#[test]
fn the_demo_model_says_what_it_is() {
    let home = Home::new();
    home.write("notes.txt", "");
    let done = home.neuron(&["run", "list the files"]).exits(0);
    assert!(done.stdout.contains("notes.txt"), "{done:#?}");
    done.says("the demo model answers")
        .says("set OPENAI_API_KEY or ANTHROPIC_API_KEY");
}

#[test]
fn writes_no_escapes_where_there_is_no_terminal() {
    let hostile = json!({ "command": "echo '\u{1b}[2J\u{9b}31m\u{202e}'" });
    let home = Home::with_script(&one_call("bash", &hostile), "tools = [\"bash\"]");
    let done = home.neuron(&["run", "hi"]).exits(0);
    let visible = |c: char| c == '\n' || !c.is_control();
    assert!(done.stderr.chars().all(visible), "{:?}", done.stderr);
    assert!(!done.stderr.contains('\u{202e}'));
    assert!(done.stderr.contains(r"\u{9b}31m"), "{done:#?}");
}

#[test]
fn hands_the_answer_to_a_pipe_as_it_is() {
    let answer = "\u{1b}[1mbold\u{1b}[0m\ttab\r\nend";
    let home = Home::with_script(&json!([{ "text": answer }]), "");
    home.neuron(&["run", "hi"])
        .exits(0)
        .prints(&format!("{answer}\n"));
}

#[test]
fn keeps_runs_where_neuron_home_says() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    let output = home
        .command(&["run", "hi"])
        .env("NEURON_HOME", home.path("far/away"))
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(home.exists("far/away/neuron.db"));
    assert!(!home.exists(".neuron"));
}

#[test]
fn is_quiet_when_nobody_reads_its_output() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = home
        .command(&["run", "--id", "r1", "hi"])
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!stderr.contains("error"), "{stderr}");
    assert!(!stderr.contains("panic"), "{stderr}");

    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = home.command(&["run", "--id", "r2", "hi"]);
    let status = command.stderr(writer).output().unwrap();
    assert_eq!(status.stdout, b"Hi.\n");
    assert_eq!(status.status.code(), Some(0));
}
