//! `neuron status` and `neuron runs`

use serde_json::{Value, json};

use crate::support::{Home, of_no_run, one_command};

/// Removes the times, which differ from test to test.
fn without_times(mut status: Value) -> Value {
    of_no_run(&mut status);
    let definition = status["definition"].as_str().unwrap();
    let digits = definition.strip_prefix("sha256:").unwrap();
    assert_eq!(digits.len(), 64, "{definition}");
    status["definition"] = json!("(a fingerprint)");
    for key in ["started_at", "updated_at"] {
        assert!(status[key].is_string());
        status[key] = json!("(a time)");
    }
    status
}

#[test]
fn shows_where_a_run_stands() {
    let home = Home::with_script(
        &one_command("touch made"),
        "tools = [\"bash\"]\nask = [\"bash\"]",
    );
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    insta::assert_json_snapshot!("parked", without_times(home.status("r1")));
    home.neuron(&["approve", "r1"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0);
    insta::assert_json_snapshot!("completed", without_times(home.status("r1")));
    let text = home.neuron(&["status", "r1"]).exits(0).stdout;
    let lines = text.lines().filter(|line| !line.contains("ed  20"));
    insta::assert_snapshot!("completed_text", lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn lists_the_newest_runs_first() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    for id in ["r1", "r2", "r3"] {
        home.neuron(&["run", "--id", id, "hi"]).exits(0);
    }
    let ids = |args: &[&str]| {
        let runs = home.neuron(args).exits(0).json();
        let runs = runs.as_array().unwrap().iter();
        runs.map(|run| run["run_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&["runs", "--json"]), ["r3", "r2", "r1"]);
    assert_eq!(ids(&["runs", "--json", "--limit", "2"]), ["r3", "r2"]);
    let text = home.neuron(&["runs"]).exits(0).stdout;
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("r3  completed"), "{text}");
    assert!(first.ends_with("turn 1    default  Hi."), "{text}");
}

#[test]
fn lists_the_runs_of_one_tenant_with_one_label() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    let started: [(&str, &[&str]); 4] = [
        ("r1", &["--tenant", "acme", "--label", "report=q3"]),
        ("r2", &["--tenant", "acme", "--label", "report=q4"]),
        ("r3", &["--tenant", "globex", "--label", "report=q3"]),
        ("r4", &[]),
    ];
    for (id, tags) in started {
        home.neuron(&[&["run", "--id", id][..], tags, &["hi"]].concat())
            .exits(0);
    }
    let ids = |args: &[&str]| {
        let args = [&["runs", "--json"][..], args].concat();
        let runs = home.neuron(&args).exits(0).json();
        let runs = runs.as_array().unwrap().iter();
        runs.map(|run| run["run_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&["--tenant", "acme"]), ["r2", "r1"]);
    assert_eq!(ids(&["--tenant", "acme", "--limit", "1"]), ["r2"]);
    assert_eq!(ids(&["--label", "report=q3"]), ["r3", "r1"]);
    assert_eq!(ids(&["--tenant", "acme", "--label", "report=q3"]), ["r1"]);
    assert_eq!(ids(&["--agent", "default"]), ["r4", "r3", "r2", "r1"]);
    for nothing in [
        &["--agent", "other"][..],
        &["--owner", "ada"],
        &["--tenant", "ac' OR '1' = '1"],
        &["--label", "report=q3\" --"],
    ] {
        assert!(ids(nothing).is_empty(), "{nothing:?}");
    }
    let status = home.neuron(&["status", "r1"]).exits(0).stdout;
    assert!(
        status.contains("\ntenant   acme\nlabel    report=q3\n"),
        "{status}"
    );
}

#[test]
fn there_are_no_runs_in_a_new_home() {
    let home = Home::new();
    for command in ["runs", "approvals"] {
        home.neuron(&[command]).exits(0).prints("");
        home.neuron(&[command, "--json"]).exits(0).prints("[]\n");
    }
    assert!(!home.exists(".neuron"), "looking makes nothing");
}
