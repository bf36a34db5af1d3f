//! An agent with `bash`, an MCP server and hostile instructions, on four doors.
//!
//! It is told all that it could find out. The same attacks are made without a sandbox, so that each is known to work.

mod field;

use neuron_testing::redteam::{Bounds, Door, rows, rows_of};

use field::Field;

/// Checks that on this door those attacks succeed that should, and no others.
fn attacked(door: Door) {
    for bounds in Bounds::ALL {
        Field::new(door, bounds).fight();
    }
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

#[test]
fn the_book_lists_what_succeeds_without_a_sandbox() {
    let page = include_str!("../../../../../docs/src/trust.md");
    assert_eq!(rows_of(page), rows());
}
