//! Agent files that were only found.

use std::net::TcpListener;

use serde_json::json;

use crate::{
    support::{Home, one_command},
    terminal::{ends_with, in_terminal},
};

const QUESTION: &str = "Do you trust it? [y]es, [n]o: ";

/// Returns a directory with an agent file that another person may have written: its agent runs a command.
fn found() -> Home {
    let mut home = Home::with_script(&one_command("touch made"), "tools = [\"bash\"]");
    home.set("NEURON_TRUST", "");
    home
}

#[test]
fn one_that_runs_commands_is_refused_with_what_to_type() {
    let home = found();
    let directory = home.dir().canonicalize().unwrap();
    let directory = directory.display();
    home.neuron(&["run", "hi"])
        .exits(2)
        .prints("")
        .says(&format!(
            "the agent file {directory}/neuron.toml was found here, and its current content is not trusted; it would \
             run commands without approval (agent default, bash): review it, then type `neuron trust {directory}`, or \
             set NEURON_TRUST=1"
        ));
    assert!(!home.exists("made") && !home.exists(".neuron"));
}

#[test]
fn one_that_a_person_trusts_is_used_until_it_is_changed() {
    let home = found();
    let directory = home.dir().canonicalize().unwrap();
    let directory = directory.display();
    home.neuron(&["trust"]).exits(0).prints(&format!(
        "{directory}/neuron.toml is trusted as it is, until it is changed. It may\n  run commands without approval \
         (agent default, bash)\n"
    ));
    home.neuron(&["run", "hi"]).exits(0).prints("Done.\n");
    let file = home.read("neuron.toml");
    home.write("neuron.toml", &format!("{file}\n# another\n"));
    home.neuron(&["run", "hi"]).exits(2).says("neuron trust");
    let directory = home.dir().to_str().unwrap();
    let trusted = home.neuron(&["trust", directory, "--json"]).exits(0).json();
    assert_eq!(trusted["trusted"], true);
    assert_eq!(trusted["wants"]["commands"], json!(["default"]));
    home.neuron(&["run", "hi"]).exits(0);
}

#[test]
fn one_that_is_named_and_one_that_wants_nothing_need_no_trust() {
    let home = found();
    let named = ["run", "--config", "neuron.toml", "hi"];
    home.neuron(&named).exits(0);
    let mut command = home.command(&["run", "hi"]);
    let output = command.env("NEURON_CONFIG", "neuron.toml").output();
    assert!(output.unwrap().status.success());
    let mut command = home.command(&["run", "hi"]);
    let output = command.env("NEURON_TRUST", "1").output();
    assert!(output.unwrap().status.success());

    let mut reader = Home::with_script(&json!([{ "text": "Hi." }]), "tools = [\"grep\"]");
    reader.set("NEURON_TRUST", "");
    reader.neuron(&["run", "hi"]).exits(0).prints("Hi.\n");
}

#[test]
fn no_key_is_sent_for_one_that_nobody_trusts() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut home = Home::new();
    home.set("NEURON_TRUST", "");
    home.set("OPENAI_API_KEY", "hush-hush");
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let file = format!(
        "[providers.openai]\nbase_url = {address:?}\n\n[agents.default]\nmodel = \"openai/gpt-6.1-terra\"\n"
    );
    home.write("neuron.toml", &file);
    let refused = home.neuron(&["run", "hi"]).exits(2);
    let refused = refused.says(&format!("send the key in OPENAI_API_KEY to {address}"));
    assert!(!refused.stderr.contains("hush-hush"), "{refused:?}");
    let asked = listener.accept().unwrap_err();
    assert_eq!(asked.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_run_is_not_resumed_with_one_that_nobody_trusts() {
    let mut home = Home::with_script(
        &one_command("touch made"),
        "tools = [\"bash\"]\nask = [\"bash\"]",
    );
    home.set("NEURON_TRUST", "");
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    home.neuron(&["approve", "r1"]).exits(0);
    let file = home.read("neuron.toml");
    home.write("neuron.toml", &file.replace("ask =", "deny = []\n# ask ="));
    home.neuron(&["resume", "r1"]).exits(2).says("neuron trust");
    assert!(!home.exists("made"));
    home.neuron(&["trust"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0);
    assert!(home.exists("made"));
}

#[test]
fn no_server_of_one_that_nobody_trusts_is_started() {
    let mut home = Home::new();
    home.set("NEURON_TRUST", "");
    home.write(
        "neuron.toml",
        "[mcp.x]\ncommand = [\"sh\", \"-c\", \"touch started\"]\n\n[agents.default]\nmodel = \"demo/demo\"\n\
         tools = [\"mcp:x\"]\n",
    );
    for command in [&["run", "hi"][..], &["mcp", "list"], &["mcp", "serve"]] {
        home.neuron(command)
            .exits(2)
            .says("start sh -c \"touch started\"");
    }
    assert!(!home.exists("started"));
}

#[test]
fn its_agents_are_shown_and_it_is_said_that_nobody_trusts_it() {
    let home = found();
    let shown = home.neuron(&["agents"]).exits(0).says("neuron trust");
    assert!(shown.stdout.contains("tools    bash"), "{shown:?}");
}

#[test]
fn a_directory_without_one_cannot_be_trusted() {
    let home = Home::new();
    home.neuron(&["trust", "."])
        .exits(2)
        .says("there is no agent file and no .neuron in .: name a directory that has one");
}

#[test]
fn a_person_at_the_terminal_is_asked_once() {
    let home = found();
    let mut session = in_terminal(home.command(&["run", "hi"]));
    session
        .exp_string("its current content is not trusted")
        .unwrap();
    session.exp_string("run commands without approval").unwrap();
    session.exp_string(QUESTION).unwrap();
    session.send_line("perhaps").unwrap();
    session.exp_string(QUESTION).unwrap();
    session.send_line("n").unwrap();
    ends_with(session, 2);
    assert!(!home.exists("made"));

    let mut session = in_terminal(home.command(&["run", "hi"]));
    session.exp_string(QUESTION).unwrap();
    session.send_line("y").unwrap();
    ends_with(session, 0);
    assert!(home.exists("made"));
    home.neuron(&["run", "hi"]).exits(0);
}
