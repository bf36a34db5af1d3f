//! The attacks as the book lists them.

use super::{
    attack::{Aim, Reach, Unconfined},
    attacks::attacks,
};

/// Returns the rows of the book's table: the name, what is tried, whether it succeeds with `sandbox = "off"`, whether
/// it does from an MCP server with the default, both without an approver, and whether it succeeds anywhere with one.
#[must_use]
pub fn rows() -> Vec<String> {
    attacks()
        .map(|attack| {
            let off = match attack.unconfined {
                Unconfined::Succeeds => "yes",
                Unconfined::Fails => "no",
                Unconfined::ForRoot => "for root",
            };
            let server = match attack.reach {
                Reach::Ports => "yes",
                Reach::System => "no",
            };
            let approvers = match attack.aim {
                Aim::Decide => "no",
                _ => "as without",
            };
            format!(
                "| `{}` | {} | {off} | {server} | {approvers} |",
                attack.name, attack.tries
            )
        })
        .collect()
}

/// Returns the rows of the table in a page.
#[must_use]
pub fn rows_of(page: &str) -> Vec<String> {
    page.lines()
        .skip_while(|line| !line.starts_with("| Attack |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(ToOwned::to_owned)
        .collect()
}
