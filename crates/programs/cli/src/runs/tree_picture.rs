//! A tree of runs as text and as JSON.

use neuron_types::{RunId, RunPhase, RunStatus, Ticket, TokenUsage};
use rust_decimal::Decimal;
use serde::Serialize;

use crate::{
    runs::{
        sum::{Sum, counted},
        tree::{Found, Node, Tree},
    },
    terminal::{describe, shown},
};

/// The status of a run with the runs below it, as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct WithTree<'a> {
    #[serde(flatten)]
    status: &'a RunStatus,
    tree: Vec<NodeJson<'a>>,
    tree_total: Sum,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree_incomplete: Option<&'a str>,
}

/// A run of the tree, as JSON.
#[derive(Debug, Serialize)]
struct NodeJson<'a> {
    run_id: &'a RunId,
    agent: &'a str,
    state: RunPhase,
    depth: usize,
    parent: Option<&'a RunId>,
    turn: u32,
    usage: &'a TokenUsage,
    cost_usd: Option<Decimal>,
    approvals: &'a [Ticket],
    /// Why the run cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<&'a str>,
}

impl<'a> WithTree<'a> {
    /// Returns the document of the run at the top, which has this status.
    pub(crate) fn new(status: &'a RunStatus, tree: &'a Tree) -> Self {
        Self {
            status,
            tree: tree.nodes.iter().map(NodeJson::of).collect(),
            tree_total: total(tree),
            tree_incomplete: tree.incomplete.as_deref(),
        }
    }
}

impl<'a> NodeJson<'a> {
    fn of(node: &'a Node) -> Self {
        let (turn, usage, cost_usd, approvals, unknown) = match &node.found {
            Found::Known(status) => {
                let RunStatus {
                    turn,
                    usage,
                    cost_usd,
                    approvals,
                    ..
                } = &**status;
                (*turn, usage, *cost_usd, approvals.as_slice(), None)
            }
            Found::Lost { child, why } => {
                let none: &[Ticket] = &[];
                (0, &child.usage, child.cost_usd, none, Some(why.as_str()))
            }
        };
        Self {
            run_id: node.run_id(),
            agent: node.agent(),
            state: node.state(),
            depth: node.depth,
            parent: node.parent.as_ref(),
            turn,
            usage,
            cost_usd,
            approvals,
            unknown,
        }
    }
}

/// Returns the tree as a picture, a run a line, and the usage of all of it.
pub(crate) fn text(tree: &Tree) -> String {
    let labels = labels(tree);
    let agents = tree.nodes.iter().map(|node| shown::line(node.agent()));
    let agents: Vec<_> = agents.collect();
    let label_width = labels.iter().map(|label| label.chars().count()).max();
    let agent_width = agents.iter().map(|agent| agent.chars().count()).max();
    let (label_width, agent_width) = (
        label_width.unwrap_or_default(),
        agent_width.unwrap_or_default(),
    );
    let lines = tree.nodes.iter().zip(labels.iter().zip(&agents));
    let mut lines: Vec<_> = lines
        .map(|(node, (label, agent))| {
            format!(
                "{label:<label_width$}  {agent:<agent_width$}  {}",
                of_node(node)
            )
        })
        .collect();
    lines.push(format!("in all: {}", total(tree).line()));
    lines.join("\n")
}

/// Returns the usage of all runs of the tree.
fn total(tree: &Tree) -> Sum {
    let mut sum = Sum::default();
    for node in &tree.nodes {
        match &node.found {
            Found::Known(status) => sum.add(status),
            Found::Lost { child, .. } => sum.add_child(child),
        }
    }
    sum
}

/// Returns the ids, with the lines that show which run started which.
fn labels(tree: &Tree) -> Vec<String> {
    // Whether each run above is the last child of its parent.
    let mut above: Vec<bool> = Vec::new();
    let labels = tree.nodes.iter().map(|node| {
        let run_id = node.run_id();
        let Some(levels) = node.depth.checked_sub(1) else {
            return run_id.to_string();
        };
        above.truncate(levels);
        let bars = above
            .iter()
            .map(|is_last| if *is_last { "    " } else { "│   " });
        let branch = if node.is_last {
            "└── "
        } else {
            "├── "
        };
        let label = format!("{}{branch}{run_id}", bars.collect::<String>());
        above.push(node.is_last);
        label
    });
    labels.collect()
}

fn of_node(node: &Node) -> String {
    let status = match &node.found {
        Found::Known(status) => status,
        Found::Lost { why, .. } => return format!("not known: {}", shown::line(why)),
    };
    let cost = status.cost_usd;
    let cost = cost.map_or_else(|| "cost not known".to_owned(), describe::cost);
    let mut line = format!(
        "{:<20}  turn {:<3}  {}  {cost}",
        status.state.as_str(),
        status.turn,
        describe::tokens(&status.usage)
    );
    if !status.approvals.is_empty() {
        let tickets = u64::try_from(status.approvals.len()).unwrap_or(u64::MAX);
        line.push_str(&format!("  {}", counted(tickets, "ticket")));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::DateTime;
    use neuron_types::ChildStatus;

    fn node(id: &str, parent: Option<&str>, depth: usize, is_last: bool) -> Node {
        let run_id = RunId::new(id).unwrap();
        let status = RunStatus::new(run_id, "local", "a", DateTime::UNIX_EPOCH);
        Node {
            found: Found::Known(Box::new(status)),
            parent: parent.map(|parent| RunId::new(parent).unwrap()),
            depth,
            is_last,
        }
    }

    #[test]
    fn the_lines_of_a_picture_lead_from_each_run_to_the_one_that_started_it() {
        let lost = ChildStatus::new(RunId::new("r.2-1").unwrap(), "helper");
        let tree = Tree {
            nodes: vec![
                node("r", None, 0, true),
                node("r.1-1", Some("r"), 1, false),
                node("r.1-1.1-1", Some("r.1-1"), 2, true),
                Node {
                    found: Found::Lost {
                        child: Box::new(lost),
                        why: "there is no run r.2-1 here".into(),
                    },
                    parent: RunId::new("r").ok(),
                    depth: 1,
                    is_last: true,
                },
            ],
            incomplete: None,
        };
        let expected = "\
r                  a       running               turn 0    0 tokens in, 0 out  $0
├── r.1-1          a       running               turn 0    0 tokens in, 0 out  $0
│   └── r.1-1.1-1  a       running               turn 0    0 tokens in, 0 out  $0
└── r.2-1          helper  not known: there is no run r.2-1 here
in all: 4 runs  0 turns  0 tokens in, 0 out  $0, and 1 run of unknown cost";
        assert_eq!(text(&tree), expected);
    }
}
