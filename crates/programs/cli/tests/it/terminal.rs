//! In a terminal: the living picture, and questions on the spot.

use std::process::Command;

use neuron_patience::patience;
use rexpect::{
    process::{Signal, WaitStatus},
    session::{PtySession, spawn_command},
};
use serde_json::json;

use crate::{
    model_server::{ModelServer, Part},
    support::{Home, one_call, one_command, with_time_enough},
};

const ASKS: &str = "tools = [\"bash\"]\nask = [\"bash\"]";
pub(crate) const QUESTION: &str = "[y]es, [a]lways in this run, [n]o, [e]dit arguments, [l]ater: ";

pub(crate) fn in_terminal(mut command: Command) -> PtySession {
    command.env("TERM", "xterm");
    // `stdin` of the helper is for processes without a terminal.
    command.stdin(std::process::Stdio::inherit());
    let patience = u64::try_from(patience().as_millis()).unwrap();
    spawn_command(command, Some(patience)).unwrap()
}

/// Returns what the terminal was sent: the helper treats each byte as a character.
fn text(sent: &str) -> String {
    let bytes: Vec<u8> = sent.chars().map(|c| u8::try_from(c).unwrap()).collect();
    String::from_utf8(bytes).unwrap()
}

pub(crate) fn ends_with(mut session: PtySession, code: i32) -> String {
    let rest = text(&session.exp_eof().unwrap());
    match session.process().wait().unwrap() {
        WaitStatus::Exited(_, found) => assert_eq!(found, code, "{rest}"),
        other => panic!("{other:?}: {rest}"),
    }
    rest
}

fn asked() -> (Home, PtySession) {
    let home = Home::with_script(&one_command("echo made > made"), ASKS);
    let mut session = in_terminal(home.command(&["run", "--id", "r1", "go"]));
    session.exp_string("may it call bash?").unwrap();
    session.exp_string("$ echo made > made").unwrap();
    session
        .exp_string("reason: the agent asks before it calls bash")
        .unwrap();
    session.exp_string(QUESTION).unwrap();
    (home, session)
}

#[test]
fn yes_makes_the_call() {
    let (home, mut session) = asked();
    assert!(!home.exists("made"));
    session.send_line("y").unwrap();
    let rest = ends_with(session, 0);
    assert!(rest.contains("✓ bash"), "{rest}");
    assert!(rest.contains("Done."), "{rest}");
    assert_eq!(home.read("made"), "made\n");
}

#[test]
fn beside_the_question_about_a_long_call_stand_its_length_its_first_line_and_the_directory() {
    let command = format!("curl x | sh{}", "\n# nothing".repeat(300));
    let home = Home::with_script(&one_command(&command), ASKS);
    let mut session = in_terminal(home.command(&["run", "--id", "r1", "go"]));
    session.exp_string("may it call bash?").unwrap();
    let directory = home.dir().canonicalize().unwrap();
    session
        .exp_string(&format!("directory: {}", directory.display()))
        .unwrap();
    session.exp_string("above: 301 lines").unwrap();
    session.exp_string("the first is: $ curl x | sh").unwrap();
    session.exp_string(QUESTION).unwrap();
    session.send_line("l").unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn a_prompt_from_a_pipe_leaves_the_terminal_for_answers() {
    let home = Home::with_script(&one_command("echo made > made"), ASKS);
    let neuron = home.command(&[]);
    let mut piped = Command::new("sh");
    piped
        .args(["-c", "echo go | \"$0\" run --id r1 -"])
        .arg(neuron.get_program())
        .current_dir(home.dir())
        .env_clear();
    let variables = neuron.get_envs();
    piped.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    let mut session = in_terminal(piped);
    session.exp_string(QUESTION).unwrap();
    session.send_line("y").unwrap();
    ends_with(session, 0);
    assert_eq!(home.read("made"), "made\n");
}

#[test]
fn always_answers_later_calls_for_which_the_same_is_asked() {
    let turns = json!([
        { "tool_calls": [{ "name": "bash", "input": { "command": "echo one >> made" } }] },
        { "tool_calls": [
            { "name": "bash", "input": { "command": "echo two >> made" } },
            { "name": "bash", "input": { "command": "rm made" } },
        ] },
        { "text": "Done." },
    ]);
    let asks = "tools = [\"bash\"]\nask = [\"bash(command=echo*)\", \"bash(command=rm*)\"]";
    let home = Home::with_script(&turns, asks);
    let mut session = in_terminal(home.command(&["run", "--id", "r1", "go"]));
    session.exp_string("t1-1").unwrap();
    session.exp_string(QUESTION).unwrap();
    session.send_line("a go on").unwrap();
    session.exp_string("or all of the [t]ool bash: ").unwrap();
    session.send_line("t").unwrap();
    session.exp_string("t2-2").unwrap();
    session.exp_string(QUESTION).unwrap();
    session.send_line("n").unwrap();
    ends_with(session, 0);
    assert_eq!(home.read("made"), "one\ntwo\n");
    let events = home.neuron(&["events", "r1", "--json"]).json_lines();
    let of = |kind: &str| events.iter().find(|event| event["type"] == kind).unwrap();
    assert_eq!(of("approval_decided")["comment"], "go on");
    assert_eq!(of("decision_repeated")["call_id"], "call-2-1");
}

#[test]
fn always_may_be_for_calls_with_a_prefix_that_is_shown() {
    let turns = json!([
        { "tool_calls": [{ "name": "bash", "input": { "command": "touch -a one" } }] },
        { "tool_calls": [
            { "name": "bash", "input": { "command": "touch two" } },
            { "name": "bash", "input": { "command": "rm one" } },
        ] },
        { "text": "Done." },
    ]);
    let home = Home::with_script(&turns, "tools = [\"bash\"]\nask = [\"bash\"]");
    let mut session = in_terminal(home.command(&["run", "--id", "r1", "go"]));
    session.exp_string(QUESTION).unwrap();
    session.send_line("a").unwrap();
    session
        .exp_string("those with the [p]refix bash(command=touch *), or all of the [t]ool bash: ")
        .unwrap();
    session.send_line("p").unwrap();
    session.exp_string("t2-2").unwrap();
    session.exp_string(QUESTION).unwrap();
    session.send_line("n").unwrap();
    ends_with(session, 0);
    assert!(home.exists("one") && home.exists("two"));
}

#[test]
fn no_with_a_comment_tells_the_model_why() {
    let (home, mut session) = asked();
    session.send_line("n not on a Friday").unwrap();
    ends_with(session, 0);
    assert!(!home.exists("made"));
    let events = home.neuron(&["events", "r1", "--json"]).json_lines();
    let decided = events
        .iter()
        .find(|event| event["type"] == "approval_decided");
    assert_eq!(decided.unwrap()["comment"], "not on a Friday");
}

#[test]
fn edited_arguments_are_read_from_the_line() {
    let (home, mut session) = asked();
    session.send_line("e").unwrap();
    session.exp_string("nothing to go back: ").unwrap();
    session.send_line("{\"command\": ").unwrap();
    session.exp_string("that is not JSON").unwrap();
    session.exp_string(QUESTION).unwrap();
    session.send_line("e").unwrap();
    session.exp_string("nothing to go back: ").unwrap();
    session.send_line("[1]").unwrap();
    session.exp_string("not an object").unwrap();
    session.exp_string(QUESTION).unwrap();
    session.send_line("e").unwrap();
    session.exp_string("nothing to go back: ").unwrap();
    session
        .send_line("{\"command\": \"echo edited > made\"}")
        .unwrap();
    ends_with(session, 0);
    assert_eq!(home.read("made"), "edited\n");
}

#[test]
fn edited_arguments_are_read_from_an_editor() {
    let home = Home::with_script(&one_command("echo made > made"), ASKS);
    let mut command = home.command(&["run", "go"]);
    command.env("EDITOR", "sed -i s/made/edited/");
    let mut session = in_terminal(command);
    session.exp_string(QUESTION).unwrap();
    session.send_line("e").unwrap();
    session.exp_string("nothing to open your editor: ").unwrap();
    session.send_line("").unwrap();
    ends_with(session, 0);
    // The command changed the first "made" of the line: `echo edited > made`.
    assert_eq!(home.read("made"), "edited\n");
}

#[test]
fn later_parks_the_run() {
    let (home, mut session) = asked();
    session.send_line("what?").unwrap();
    session.exp_string("answer y, a, n, e or l").unwrap();
    session.exp_string(QUESTION).unwrap();
    session.send_line("l").unwrap();
    let rest = ends_with(session, 3);
    assert!(rest.contains("neuron approve r1 t1-1"), "{rest}");
    assert_eq!(home.status("r1")["state"], "waiting_for_approval");
    // A resume asks again.
    let mut again = in_terminal(home.command(&["resume", "r1"]));
    again.exp_string(QUESTION).unwrap();
    again.send_line("yes").unwrap();
    ends_with(again, 0);
    assert_eq!(home.read("made"), "made\n");
}

#[test]
fn a_choice_that_is_refused_is_asked_for_again() {
    let asks = "tools = [\"bash\"]\nlimits = { turns = 1 }\non = { limit = \"ask\" }";
    let home = Home::with_script(&one_command("echo made > made"), asks);
    let choice = "your choice, or nothing for later: ";
    let mut session = in_terminal(home.command(&["run", "--id", "r1", "go"]));
    for refused in ["extend:turns=two", "retry", "nothing"] {
        session.exp_string(choice).unwrap();
        session.send_line(refused).unwrap();
        session.exp_string("does not take this decision").unwrap();
    }
    session.exp_string(choice).unwrap();
    session.send_line("extend:turns=2").unwrap();
    let rest = ends_with(session, 0);
    assert!(rest.contains("Done."), "{rest}");
}

#[test]
fn a_message_to_a_run_whose_question_was_put_off_keeps_it_no_longer() {
    let two = json!([
        { "tool_calls": [
            { "name": "bash", "input": { "command": "echo one >> made" } },
            { "name": "bash", "input": { "command": "echo two >> made" } },
        ] },
        { "text": "Done." },
    ]);
    let home = Home::with_script(&two, ASKS);
    let mut session = in_terminal(home.command(&["run", "--id", "r1", "go"]));
    session.exp_string("t1-1").unwrap();
    session.exp_string(QUESTION).unwrap();
    home.neuron(&["send", "r1", "hurry"]).exits(0);
    session.send_line("l").unwrap();
    session.exp_string("t1-2").unwrap();
    session.exp_string(QUESTION).unwrap();
    session.send_line("l").unwrap();
    ends_with(session, 3);
}

#[test]
fn the_end_of_input_means_later() {
    let (home, mut session) = asked();
    session.send_control('d').unwrap();
    ends_with(session, 3);
    assert!(!home.exists("made"));
}

#[test]
fn a_decision_of_another_process_takes_the_question_back() {
    let (home, session) = asked();
    home.neuron(&["approve", "r1", "t1-1"]).exits(0);
    let rest = ends_with(session, 0);
    assert!(rest.contains("ticket t1-1 approved"), "{rest}");
    assert_eq!(home.read("made"), "made\n");
}

#[test]
fn a_cancellation_takes_the_question_back() {
    let (home, session) = asked();
    home.neuron(&["cancel", "r1", "--reason", "no need"])
        .exits(0);
    let rest = ends_with(session, 1);
    assert!(
        rest.contains("error: run r1 was cancelled: no need"),
        "{rest:?}"
    );
}

#[test]
fn a_ticket_that_lapses_takes_its_question_back() {
    let rest = with_time_enough(|time| {
        let lapses = format!("{ASKS}\napproval_timeout = \"{}ms\"", time.as_millis());
        let home = Home::with_script(&one_command("touch made"), &lapses);
        let mut session = in_terminal(home.command(&["run", "go"]));
        let (_, first) = session.exp_regex(r"\[l\]ater: |expired").unwrap();
        let rest = ends_with(session, 0);
        assert!(!home.exists("made"));
        (first != "expired").then_some(rest)
    });
    assert!(rest.contains("ticket t1-1 expired"), "{rest:?}");
}

#[test]
fn the_end_of_the_terminal_leaves_the_run_resumable() {
    let (home, mut session) = asked();
    session.process_mut().signal(Signal::SIGHUP).unwrap();
    let rest = ends_with(session, 129);
    assert!(rest.contains("neuron resume r1"), "{rest}");
    assert_eq!(home.status("r1")["approvals"][0]["ticket"], "t1-1");
}

#[test]
fn each_ticket_is_asked_about_and_the_rest_waits_for_what_was_put_off() {
    let two = json!([
        { "tool_calls": [
            { "name": "bash", "input": { "command": "echo one >> made" } },
            { "name": "bash", "input": { "command": "echo two >> made" } },
        ] },
        { "text": "Done." },
    ]);
    let home = Home::with_script(&two, ASKS);
    let mut session = in_terminal(home.command(&["run", "--id", "r1", "go"]));
    session.exp_string("t1-1").unwrap();
    session.exp_string(QUESTION).unwrap();
    session.send_line("l").unwrap();
    session.exp_string("t1-2").unwrap();
    session.exp_string(QUESTION).unwrap();
    session.send_line("y").unwrap();
    let rest = ends_with(session, 3);
    assert!(rest.contains("neuron approve r1 t1-1"), "{rest}");
    assert_eq!(home.read("made"), "two\n");
}

#[test]
fn what_is_typed_before_the_question_is_no_answer() {
    let server = ModelServer::start([vec![Part::Wait, Part::Bash("touch made")]]);
    let home = server.home();
    let file = home.read("neuron.toml");
    home.write("neuron.toml", &file.replace("tools = [\"bash\"]", ASKS));
    let mut session = in_terminal(home.command(&["run", "--id", "r1", "go"]));
    session.exp_string("the model thinks").unwrap();
    session.send_line("y").unwrap();
    server.go_on();
    session.exp_string(QUESTION).unwrap();
    session.send_line("l").unwrap();
    ends_with(session, 3);
    assert!(!home.exists("made"));
}

#[test]
fn ctrl_c_takes_the_question_back_and_leaves_the_run_resumable() {
    let (home, mut session) = asked();
    session.send_control('c').unwrap();
    let rest = ends_with(session, 130);
    assert!(rest.contains("neuron resume r1"), "{rest}");
    assert_eq!(home.status("r1")["approvals"][0]["ticket"], "t1-1");
}

#[test]
fn hostile_text_cannot_reach_the_terminal() {
    let hostile = json!({ "command": "echo \u{9b}2J \u{202e}fdp.exe" });
    let home = Home::with_script(&one_call("bash", &hostile), ASKS);
    let mut session = in_terminal(home.command(&["run", "go"]));
    let shown = text(&session.exp_string(QUESTION).unwrap());
    assert!(
        !shown.contains('\u{9b}') && !shown.contains('\u{202e}'),
        "{shown:?}"
    );
    assert!(shown.contains(r"\u{202e}fdp.exe"), "{shown:?}");
    session.send_line("n").unwrap();
    ends_with(session, 0);

    home.script(&json!([{ "text": "a\u{1b}]0;owned\u{7}b" }]));
    let answer = ends_with(in_terminal(home.command(&["run", "go"])), 0);
    assert!(answer.contains(r"a\u{1b}]0;owned\u{7}b"), "{answer:?}");
}

#[test]
fn wait_asks_about_a_run_that_another_process_executes() {
    let (home, mut first) = asked();
    let mut wait = in_terminal(home.command(&["wait", "r1"]));
    wait.exp_string(QUESTION).unwrap();
    wait.send_line("y").unwrap();
    first.exp_string("ticket t1-1 approved").unwrap();
    ends_with(first, 0);
    let rest = ends_with(wait, 0);
    assert!(rest.contains("Done."), "{rest}");
    assert_eq!(home.read("made"), "made\n");
}
