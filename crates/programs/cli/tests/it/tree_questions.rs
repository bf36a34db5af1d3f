//! Questions of the runs below one, in the terminal of the command that executes them.

use rexpect::session::PtySession;

use crate::{
    support::Home,
    terminal::{QUESTION, ends_with, in_terminal},
    tree_commands::three_levels,
};

fn asked(command: &[&str]) -> (Home, PtySession) {
    let home = three_levels("ask = [\"bash\"]", "echo made >> made");
    let session = in_terminal(home.command(command));
    (home, session)
}

/// Waits for a question, and returns the run that asks.
fn question(session: &mut PtySession) -> &'static str {
    let (_, run) = session
        .exp_regex("run r1[.][12-]+[.]1-1 [(]agent leaf[)] asks for ticket t1-1: may it call bash")
        .unwrap();
    session.exp_string(QUESTION).unwrap();
    match run.contains("r1.1-1.1-1") {
        true => "r1.1-1.1-1",
        false => "r1.1-2.1-1",
    }
}

#[test]
fn the_person_at_the_terminal_is_asked_what_runs_below_ask_and_the_tree_goes_on() {
    let (home, mut session) = asked(&["run", "--id", "r1", "Go."]);
    let first = question(&mut session);
    assert!(!home.exists("made"));
    session.send_line("y").unwrap();
    let second = question(&mut session);
    assert_ne!(first, second);
    session.send_line("n Not twice.").unwrap();
    let rest = ends_with(session, 0);
    assert!(rest.contains("All."), "{rest}");
    assert_eq!(home.read("made"), "made\n");
    let events = home.neuron(&["events", second, "--json"]).json_lines();
    let mut events = events.iter();
    let decided = events.find(|event| event["type"] == "approval_decided");
    assert_eq!(decided.unwrap()["comment"], "Not twice.");
}

#[test]
fn a_tree_goes_on_beside_a_question_that_was_put_off_and_is_put_away_when_only_that_is_left() {
    let (home, mut session) = asked(&["run", "--id", "r1", "Go."]);
    let put_off = question(&mut session);
    session.send_line("l").unwrap();
    session
        .exp_string(&format!("ticket t1-1 of run {put_off} stays open"))
        .unwrap();
    let second = question(&mut session);
    session.send_line("y").unwrap();
    let rest = ends_with(session, 3);
    assert!(rest.contains("neuron resume r1"), "{rest}");
    assert_eq!(home.read("made"), "made\n");
    assert_eq!(home.status(second)["state"], "completed");
    let mut session = in_terminal(home.command(&["resume", "r1"]));
    assert_eq!(question(&mut session), put_off);
    session.send_line("y").unwrap();
    ends_with(session, 0);
    assert_eq!(home.read("made"), "made\nmade\n");
}

#[test]
fn a_question_of_a_run_below_is_taken_back_when_it_is_decided_elsewhere() {
    let (home, mut session) = asked(&["run", "--id", "r1", "Go."]);
    for _ in 0..2 {
        let ticket = format!("{}/t1-1", question(&mut session));
        home.neuron(&["approve", "r1", &ticket])
            .exits(0)
            .prints(&format!(
                "ticket t1-1 of run {} is approved: bash {{\"command\":\"echo made >> made\"}}\n",
                ticket.trim_end_matches("/t1-1")
            ));
    }
    ends_with(session, 0);
    assert_eq!(home.read("made"), "made\nmade\n");
}
