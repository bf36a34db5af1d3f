//! Changes of the command line to an agent, for one run.

use serde_json::json;

use crate::support::{Home, one_command};

#[test]
fn a_local_run_has_the_limits_the_rules_and_the_tags_that_it_was_given() {
    let home = Home::with_script(&one_command("echo made >> made"), "tools = [\"bash\"]");
    home.neuron(&["run", "--id", "asked", "--ask", "bash", "go"])
        .exits(3);
    let status = home.status("asked");
    assert_eq!(status["approvals"][0]["tool"], "bash");

    let denied = ["run", "--id", "denied", "--deny", "bash(command=echo*)"];
    home.neuron(&[&denied[..], &["go"]].concat()).exits(0);
    assert!(!home.exists("made"));

    let limited = ["run", "--id", "limited", "--limit", "turns=1", "--json"];
    let output = home.neuron(&[&limited[..], &["go"]].concat()).exits(1);
    assert_eq!(output.json()["exit_reason"], "max_turns");

    let tagged = ["run", "--id", "tagged", "--tenant", "acme"];
    let labels = ["--label", "report=q3", "--label", "team=a", "go"];
    home.neuron(&[&tagged[..], &labels].concat()).exits(0);
    let status = home.status("tagged");
    assert_eq!(status["tenant"], "acme");
    assert_eq!(status["labels"], json!({"report": "q3", "team": "a"}));
}

#[test]
fn the_person_who_runs_an_agent_here_may_allow_calls_and_choose_the_model() {
    let agent = "tools = [\"bash\"]\nask = [\"*\"]\ndeny = [\"bash(command=rm*)\"]";
    let home = Home::with_script(&one_command("echo made >> made"), agent);
    home.neuron(&["run", "--allow", "bash", "go"]).exits(0);
    assert_eq!(home.read("made"), "made\n");
    home.neuron(&["run", "--model", "demo/demo", "--id", "demo", "go"])
        .says("model demo/demo");
    home.neuron(&["run", "--model", "nobody/m", "go"])
        .exits(2)
        .prints("")
        .says("unknown provider \"nobody\"");
}

#[test]
fn what_would_let_a_run_do_more_is_rejected_before_it_starts() {
    let home = Home::with_script(&one_command("true"), "tools = [\"bash\"]");
    for (flag, value, said) in [
        ("--limit", "turns=51", "turns 51 is above the turns 50"),
        ("--limit", "colour=1", "there is no limit \"colour\""),
        ("--ask", "!bash", "excepts calls"),
        ("--deny", "bash(", "is no pattern of calls"),
        ("--label", "report", "write KEY=VALUE"),
    ] {
        home.neuron(&["run", flag, value, "go"])
            .exits(2)
            .prints("")
            .says(said);
    }
    assert_eq!(home.neuron(&["runs", "--json"]).exits(0).json(), json!([]));
}
