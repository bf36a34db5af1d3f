//! An agent with `bash`, an MCP server and hostile instructions, on four doors.
//!
//! The agent gets all that it could find out. The same attacks are made without a sandbox, so that each is known to
//! work.

mod field;

use std::{fs, path::Path};

use neuron_testing::redteam::{Bounds, Deciders, Door, rows, rows_of};

use field::Field;

/// Checks that on this door exactly the expected attacks succeed.
fn attacked(door: Door) {
    for bounds in Bounds::ALL {
        Field::new(door, bounds, Deciders::Anybody).fight();
    }
}

/// Checks that no attack decides a ticket if approvers are named, and that the approvers' decision counts after all
/// attacks.
fn decided(door: Door) {
    for bounds in Bounds::ALL {
        Field::new(door, bounds, Deciders::Approvers).fight();
    }
}

#[test]
fn an_agent_of_a_journaled_run_decides_nothing_that_approvers_do() {
    decided(Door::Journal);
}

#[test]
fn an_agent_of_a_worker_on_temporal_decides_nothing_that_approvers_do() {
    decided(Door::Temporal);
}

#[test]
fn an_agent_of_a_worker_on_restate_decides_nothing_that_approvers_do() {
    decided(Door::Restate);
}

#[test]
fn an_agent_of_a_program_in_memory_does_not_get_out() {
    attacked(Door::Memory);
}

#[test]
fn an_agent_of_a_journaled_run_does_not_get_out_and_does_not_decide() {
    attacked(Door::Journal);
}

#[test]
fn an_agent_of_a_worker_on_temporal_does_not_get_out_and_does_not_decide() {
    attacked(Door::Temporal);
}

#[test]
fn an_agent_of_a_worker_on_restate_does_not_get_out_and_does_not_decide() {
    attacked(Door::Restate);
}

/// Checks that every promise of the chapter on trust names the tests that enforce it, and that the tests exist.
#[test]
fn the_book_names_the_tests_that_hold_its_promises() {
    let page = include_str!("../../../../../docs/src/trust.md");
    let rows = page
        .lines()
        .skip_while(|line| !line.starts_with("| That |"));
    let rows: Vec<&str> = rows
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert!(rows.len() > 10, "{rows:?}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sources = sources(&root);
    for row in rows {
        let held = row.trim_end_matches([' ', '|']).rsplit('|').next().unwrap();
        let names: Vec<&str> = held.split('`').skip(1).step_by(2).collect();
        assert!(
            !names.is_empty() || held.trim() == "the person who keeps it",
            "{row}"
        );
        for name in names {
            let test = format!("fn {name}");
            assert!(sources.contains(&test), "there is no test {name}");
        }
    }
}

/// Returns all of the workspace's tests as one text.
fn sources(root: &Path) -> String {
    let mut text = String::new();
    let mut folders = ["crates", "tests", "workers"]
        .map(|name| root.join(name))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_test = path.iter().any(|part| part == "tests");
            if path.is_dir() {
                folders.push(path);
            } else if is_test && path.extension().is_some_and(|kind| kind == "rs") {
                text += &fs::read_to_string(path).unwrap();
            }
        }
    }
    text
}

#[test]
fn the_book_lists_what_succeeds_without_a_sandbox() {
    let page = include_str!("../../../../../docs/src/trust.md");
    assert_eq!(rows_of(page), rows());
}
