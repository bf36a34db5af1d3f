//! `neuron events`

use std::io::{BufRead as _, BufReader};

use serde_json::Value;

use crate::support::{HELD_UP, Home, one_command};

fn types(events: &[Value]) -> Vec<&str> {
    let types = events.iter().map(|event| event["type"].as_str().unwrap());
    types.collect()
}

#[test]
fn prints_one_json_value_a_line() {
    let home = Home::with_script(&one_command("true"), "tools = [\"bash\"]");
    home.neuron(&["run", "--id", "r1", "go"]).exits(0);
    let events = home
        .neuron(&["events", "r1", "--json"])
        .exits(0)
        .json_lines();
    let numbers: Vec<_> = events.iter().map(|event| event["seq"].as_u64()).collect();
    let expected: Vec<_> = (1..=events.len() as u64).map(Some).collect();
    assert_eq!(numbers, expected);
    insta::assert_json_snapshot!(types(&events));
}

#[test]
fn prints_a_line_an_event_for_people() {
    let home = Home::with_script(&one_command("true"), "tools = [\"bash\"]");
    home.neuron(&["run", "--id", "r1", "go"]).exits(0);
    let text = home.neuron(&["events", "r1"]).exits(0).stdout;
    let without_times = text.lines().map(|line| {
        let mut parts = line.splitn(3, "Z  ");
        parts.next();
        parts.next().unwrap()
    });
    insta::assert_snapshot!(without_times.collect::<Vec<_>>().join("\n"));
}

#[test]
fn follows_until_the_run_is_over() {
    let home = Home::with_script(&one_command(HELD_UP), "tools = [\"bash\"]");
    let run = home.start(&["run", "--id", "r1", "go"]);
    home.await_file("begun");
    let follow = home.start(&["events", "r1", "--follow", "--json"]);
    home.write("go", "");
    run.done().exits(0);
    let followed = follow.done().exits(0);
    let all = home.neuron(&["events", "r1", "--json"]);
    assert_eq!(followed.stdout, all.stdout);
    assert_eq!(types(&followed.json_lines()).last(), Some(&"run_ended"));
}

#[test]
fn stops_quietly_when_nobody_reads_on() {
    let home = Home::with_script(&one_command(HELD_UP), "tools = [\"bash\"]");
    let run = home.start(&["run", "--id", "r1", "go"]);
    home.await_file("begun");
    let (reader, writer) = std::io::pipe().unwrap();
    let (complaints, stderr) = std::io::pipe().unwrap();
    let mut command = home.command(&["events", "r1", "-f"]);
    let mut follow = command.stdout(writer).stderr(stderr).spawn().unwrap();
    drop(command);
    let mut first = String::new();
    BufReader::new(reader).read_line(&mut first).unwrap();
    assert!(first.contains("run started"), "{first}");
    home.write("go", "");
    assert_eq!(follow.wait().unwrap().code(), Some(0));
    assert_eq!(BufReader::new(complaints).lines().count(), 0);
    run.done().exits(0);
}
