//! Runs whose agents belong to programs, and not to the command.

use std::path::Path;

use neuron_engine::RunClient as _;
use neuron_local::LocalClient;
use neuron_types::{AgentRef, AgentSpec, Message, RequestHead, RunRequest};
use serde_json::json;

use crate::support::Home;

const PROGRAM: &str = "start the program that serves its agent \"draft\"";

/// Records a run that a program began, of an agent of the program.
fn began(home: &Home, run: &str, agent: impl Into<AgentRef>, directory: Option<&Path>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let request = RunRequest::new(agent, Message::user("go"));
    runtime.block_on(async {
        let mut client = LocalClient::new(home.path(".neuron"));
        if let Some(directory) = directory {
            client = client.with_directory(directory);
        }
        client.start(&run.parse().unwrap(), request).await.unwrap();
    });
}

fn draft() -> AgentSpec {
    AgentSpec {
        name: "draft".into(),
        ..AgentSpec::default()
    }
}

/// Returns a workflow of the program, and agents with a provider and without one.
fn drafts() -> [AgentRef; 4] {
    let workflow = AgentSpec {
        team: Some(vec![draft()]),
        ..draft()
    };
    let head = RequestHead {
        provider: Some("own".into()),
        model: "own".into(),
        ..RequestHead::default()
    };
    let elsewhere = AgentSpec {
        head: head.into(),
        ..draft()
    };
    [
        "draft".into(),
        draft().into(),
        workflow.into(),
        elsewhere.into(),
    ]
}

#[test]
fn a_run_of_a_programs_agent_is_left_to_the_program() {
    for (agent, has_directory) in drafts().into_iter().zip([true, false, true, false]) {
        let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
        began(&home, "d1", agent, has_directory.then(|| home.dir()));

        let runs = home.neuron(&["runs"]).exits(0);
        assert!(runs.stdout.contains(PROGRAM), "{runs:#?}");
        let status = home.neuron(&["status", "d1"]).exits(0);
        assert!(status.stdout.contains(PROGRAM), "{status:#?}");
        for shown in [&runs, &status] {
            assert!(!shown.stdout.contains("neuron resume"), "{shown:#?}");
            assert!(!shown.stdout.contains("neuron worker"), "{shown:#?}");
        }
        let listed = home.neuron(&["runs", "--json"]).exits(0).json();
        for status in [&home.status("d1"), &listed[0]] {
            assert_eq!(status["blocked"]["kind"], "no_process");
            let detail = status["blocked"]["detail"].as_str().unwrap();
            assert!(detail.ends_with(PROGRAM), "{detail}");
        }
        home.neuron(&["wait", "d1"]).exits(3).says(PROGRAM);
        home.neuron(&["send", "d1", "more"]).exits(0).says(PROGRAM);

        for resume in [&["resume", "d1"][..], &["resume", "d1", "--here"]] {
            let refused = home.neuron(resume).exits(2).prints("");
            let refused = refused.says("error: run d1 cannot continue with this command: ");
            let refused = refused.says("\"draft\"");
            assert!(!refused.stderr.contains("neuron resume"), "{refused:#?}");
            assert!(!refused.stderr.contains("model"), "{refused:#?}");
        }
    }
}

#[test]
fn a_refusal_names_the_agents_that_there_are() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    began(&home, "d1", "draft", Some(home.dir()));
    home.neuron(&["resume", "d1"]).exits(2).says(
        "unknown agent \"draft\": there is only default; start the program that serves its agent, or name an agent \
         file with that agent with --config",
    );
    let script = "[providers.script]\nkind = \"script\"\nfile = \"script.json\"\n";
    let file = format!("{script}[agents.draft]\nmodel = \"script/test\"\n");
    home.write("drafts.toml", &file);
    let status = home.neuron(&["status", "d1", "--config", "drafts.toml"]);
    let status = status.exits(0);
    assert!(
        status
            .stdout
            .contains("neuron resume d1 --config drafts.toml, or start `neuron worker`"),
        "{status:#?}"
    );
    home.neuron(&["resume", "d1", "--config", "drafts.toml"])
        .exits(0)
        .prints("Hi.\n");
}

#[test]
fn a_run_whose_agent_is_not_in_the_file_any_more_is_resumed_and_left_by_workers() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    let head = RequestHead {
        provider: Some("script".into()),
        model: "test".into(),
        ..RequestHead::default()
    };
    let before = AgentSpec {
        head: head.into(),
        ..draft()
    };
    began(&home, "d1", before, Some(home.dir()));
    let status = home.neuron(&["status", "d1"]).exits(0);
    assert!(status.stdout.contains("continue it with: neuron resume d1"));
    assert!(!status.stdout.contains("neuron worker"), "{status:#?}");
    home.neuron(&["resume", "d1"]).exits(0).prints("Hi.\n");
}
