//! Errors: what is wrong, what to do about it, and exit code 2.

use serde_json::json;

use crate::support::Home;

#[test]
fn a_bad_agent_file_is_named_with_key_and_line() {
    let home = Home::new();
    home.write("neuron.toml", "[agents.default]\nmodle = \"demo/demo\"\n");
    for args in [&["run", "hi"][..], &["agents"], &["run", "--json", "hi"]] {
        home.neuron(args)
            .exits(2)
            .prints("")
            .says("neuron.toml:2: ")
            .says("modle");
    }
    assert!(!home.exists(".neuron"), "nothing was started");
}

#[test]
fn a_named_agent_file_must_exist() {
    let home = Home::new();
    home.neuron(&["run", "--config", "missing.toml", "hi"])
        .exits(2)
        .says("error: there is no agent file missing.toml: write it, or leave --config");
    let output = home
        .command(&["run", "hi"])
        .env("NEURON_CONFIG", "missing.toml")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_environment_can_name_the_agent_file() {
    let home = Home::new();
    home.write("mine.toml", "[agents.mine]\nmodel = \"demo/demo\"\n");
    let mut command = home.command(&["agents", "--json"]);
    let output = command.env("NEURON_CONFIG", "mine.toml").output().unwrap();
    let agents: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(agents[0]["name"], "mine");
}

#[test]
fn a_variable_that_is_empty_is_as_if_it_were_not_set() {
    let home = Home::new();
    let mut command = home.command(&["agents", "--json"]);
    for name in [
        "NEURON_CONFIG",
        "NEURON_ENGINE",
        "NEURON_GRACE",
        "NEURON_HOME",
        "NEURON_TASK_QUEUE",
        "NEURON_TRUST",
    ] {
        command.env(name, "");
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let agents: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(agents[0]["name"], "default");
}

#[test]
fn an_unknown_agent_is_refused_with_those_that_there_are() {
    let home = Home::new();
    home.write("neuron.toml", "[agents.writer]\nmodel = \"demo/demo\"\n");
    home.neuron(&["run", "--agent", "wirter", "hi"])
        .exits(2)
        .says("did you mean \"writer\"?");
}

#[test]
fn a_missing_key_is_named() {
    let home = Home::new();
    home.write(
        "neuron.toml",
        "[agents.default]\nmodel = \"openai/gpt-6.1-terra\"\n",
    );
    home.neuron(&["run", "hi"])
        .exits(2)
        .says("error: the provider openai has no key: set the variable OPENAI_API_KEY");
}

#[test]
fn an_engine_that_cannot_be_reached_is_named_with_its_address() {
    let nobody = "127.0.0.1:1";
    let mut home = Home::new();
    home.set("TEMPORAL_ADDRESS", nobody);
    home.set("RESTATE_INGRESS_URL", &format!("http://{nobody}"));
    home.set("RESTATE_ADMIN_URL", &format!("http://{nobody}"));
    for engine in ["temporal", "restate"] {
        for args in [
            &["runs"][..],
            &["submit", "hi"],
            &["submit", "hi", "--wait"],
            &["status", "r1"],
            &["approvals", "--json"],
        ] {
            let args = [args, &["--engine", engine]].concat();
            home.neuron(&args).exits(2).prints("").says(&format!(
                "error: {engine} cannot be reached at http://{nobody}"
            ));
        }
    }
    home.neuron(&["runs", "--engine", "local"]).exits(0);
    home.set("NEURON_ENGINE", "restate");
    home.neuron(&["runs"])
        .exits(2)
        .says("error: restate cannot be reached");
    home.neuron(&["runs", "--engine", "elsewhere"]).exits(2);
}

#[test]
fn commands_say_where_they_belong() {
    let home = Home::new();
    for engine in ["temporal", "restate"] {
        home.neuron(&["run", "hi", "--engine", engine])
            .exits(2)
            .prints("")
            .says("error: run executes an agent here and not on")
            .says("`neuron submit --wait`");
        home.neuron(&["resume", "r1", "--engine", engine])
            .exits(2)
            .says("`neuron wait`");
        // The command is that engine's worker: it has its options, and no others.
        home.neuron(&["worker", "--engine", engine, "--max-runs", "2"])
            .exits(2)
            .prints("")
            .says("unexpected argument '--max-runs'");
        home.neuron(&["rm", "r1", "--engine", engine])
            .exits(2)
            .prints("")
            .says(&format!("error: {engine} deletes its runs itself"));
    }
    assert!(!home.exists(".neuron"), "nothing was started");
}

#[test]
fn usage_errors_exit_with_2() {
    let home = Home::new();
    home.neuron(&[]).exits(2);
    home.neuron(&["fly"]).exits(2);
    home.neuron(&["status"]).exits(2);
    home.neuron(&["status", "a/b"])
        .exits(2)
        .says("is not a run id");
}

#[test]
fn a_home_that_cannot_be_made_is_named() {
    let home = Home::new();
    home.write("file", "");
    for (place, args) in [
        ("file", &["run", "hi"][..]),
        ("file/below", &["run", "hi"]),
        ("file", &["runs"]),
    ] {
        let mut command = home.command(args);
        let output = command
            .env("NEURON_HOME", home.path(place))
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{place} {args:?}: {stderr}");
        assert!(stderr.contains("NEURON_HOME"), "{stderr}");
        assert!(stderr.contains("because"), "{stderr}");
    }
}

#[test]
fn a_database_of_something_else_is_left_alone() {
    let home = Home::new();
    std::fs::create_dir(home.path(".neuron")).unwrap();
    home.write(".neuron/neuron.db", &"not a database ".repeat(100));
    let before = home.read(".neuron/neuron.db");
    home.neuron(&["runs"])
        .exits(2)
        .says("is damaged or no database: ");
    home.neuron(&["run", "hi"]).exits(2);
    assert_eq!(home.read(".neuron/neuron.db"), before);
}

#[test]
fn a_run_whose_provider_is_gone_stays_where_it_is() {
    let home = Home::with_script(
        &json!([
            { "tool_calls": [{ "name": "bash", "input": { "command": "true" } }] },
            { "text": "Done." },
        ]),
        "tools = [\"bash\"]\nask = [\"bash\"]",
    );
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    home.write("neuron.toml", "[agents.default]\nmodel = \"demo/demo\"\n");
    home.neuron(&["approve", "r1"]).exits(0);
    home.neuron(&["resume", "r1"])
        .exits(2)
        .says("unknown provider \"script\"");
    assert_eq!(home.status("r1")["state"], "interrupted");
}

#[test]
fn causes_are_shortened_unless_they_are_asked_for() {
    let home = Home::new();
    home.write("file", "");
    let because = |args: &[&str]| {
        let mut command = home.command(args);
        let output = command
            .env("NEURON_HOME", home.path("file"))
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        stderr.matches("because").count()
    };
    assert_eq!(because(&["run", "hi"]), 1);
    assert!(because(&["run", "-v", "hi"]) >= 1);
}
