//! A run and all runs below it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures::{StreamExt as _, TryStreamExt as _, future::BoxFuture, stream};
use neuron_engine::{RunClientError, RunHandle};
use neuron_types::{ChildStatus, RunId, RunPhase, RunStatus};

use crate::{CliError, terminal::shown};

/// How many runs of a tree are read.
const MOST_RUNS: usize = 1_000;

/// How many levels below a run are read.
const MOST_DEPTH: usize = 32;

/// How many runs are read at once.
const AT_ONCE: usize = 8;

/// The future of a status that is read.
type Asked = BoxFuture<'static, Result<RunStatus, RunClientError>>;

/// A run and all runs below it, each after the run that started it.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    /// What is missing, if the tree is larger than the limits.
    pub(crate) incomplete: Option<String>,
}

/// A run of a tree.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) found: Found,
    /// The run that started it; `None` for the one at the top.
    pub(crate) parent: Option<RunId>,
    /// How many runs there are above it.
    pub(crate) depth: usize,
    /// Whether the run is the last one that its parent started.
    pub(crate) is_last: bool,
}

/// A run of a tree, as far as it is known.
#[derive(Debug)]
pub(crate) enum Found {
    Known(Box<RunStatus>),
    /// The run cannot be read.
    Lost {
        /// The run as the one that started it knows it.
        child: Box<ChildStatus>,
        why: String,
    },
}

impl Node {
    pub(crate) const fn run_id(&self) -> &RunId {
        match &self.found {
            Found::Known(status) => &status.run_id,
            Found::Lost { child, .. } => &child.run_id,
        }
    }

    pub(crate) fn agent(&self) -> &str {
        match &self.found {
            Found::Known(status) => &status.agent,
            Found::Lost { child, .. } => &child.agent,
        }
    }

    pub(crate) const fn state(&self) -> RunPhase {
        match &self.found {
            Found::Known(status) => status.state,
            Found::Lost { child, .. } => child.state,
        }
    }

    /// Returns the run's status, if it can be looked at.
    pub(crate) fn status(&self) -> Option<&RunStatus> {
        match &self.found {
            Found::Known(status) => Some(status),
            Found::Lost { .. } => None,
        }
    }

    fn children(&self) -> &[ChildStatus] {
        self.status().map_or(&[], |status| &status.children)
    }
}

impl Tree {
    /// Reads a run and all runs below it. A run that is not known yet, or not any more, is in the tree as such.
    ///
    /// # Errors
    ///
    /// The engine cannot be asked.
    pub(crate) async fn of(run: &RunHandle) -> Result<Self, CliError> {
        Self::below(run, run.status().await?).await
    }

    /// Reads all runs below one that has this status.
    ///
    /// # Errors
    ///
    /// The engine cannot be asked.
    pub(crate) async fn below(run: &RunHandle, status: RunStatus) -> Result<Self, CliError> {
        let client = run.client();
        let status_of = |run_id: RunId| -> Asked {
            let client = Arc::clone(client);
            Box::pin(async move { client.status(&run_id).await })
        };
        Self::walk(status, status_of).await
    }

    /// Reads all runs below one, with this source of statuses.
    async fn walk(top: RunStatus, status_of: impl Fn(RunId) -> Asked) -> Result<Self, CliError> {
        let (status, run_id) = (top.clone(), top.run_id);
        let mut seen = BTreeSet::from([status.run_id.clone()]);
        let mut level = vec![Node {
            found: Found::Known(Box::new(status)),
            parent: None,
            depth: 0,
            is_last: true,
        }];
        let mut nodes = Vec::new();
        let mut incomplete = None;
        while !level.is_empty() {
            let mut next = Vec::new();
            for node in &level {
                // Whatever a status lists, each run is in the tree once.
                for child in node.children() {
                    if seen.contains(&child.run_id) {
                        continue;
                    }
                    if seen.len() >= MOST_RUNS || node.depth >= MOST_DEPTH {
                        incomplete.get_or_insert_with(|| cut(&run_id));
                        continue;
                    }
                    seen.insert(child.run_id.clone());
                    next.push((node.run_id().clone(), node.depth + 1, child.clone()));
                }
            }
            nodes.append(&mut level);
            let looks = next
                .into_iter()
                .map(|(parent, depth, child)| look(&status_of, parent, depth, child));
            level = stream::iter(looks).buffered(AT_ONCE).try_collect().await?;
        }
        Ok(Self {
            nodes: in_order(nodes),
            incomplete,
        })
    }

    /// Returns the statuses of the runs that could be read.
    pub(crate) fn known(&self) -> impl Iterator<Item = &RunStatus> {
        self.nodes.iter().filter_map(Node::status)
    }

    /// Returns a sentence for each run that cannot be read, with the reason.
    pub(crate) fn lost(&self) -> impl Iterator<Item = String> {
        self.nodes.iter().filter_map(|node| match &node.found {
            Found::Known(_) => None,
            Found::Lost { child, why } => Some(format!(
                "run {} cannot be read: {}",
                child.run_id,
                shown::line(why)
            )),
        })
    }

    /// Returns the runs that are not over.
    pub(crate) fn open(&self) -> impl Iterator<Item = &RunStatus> {
        self.known().filter(|status| !status.state.is_final())
    }

    /// Returns the runs that are not over and wait for no run below them: the tree continues with those.
    pub(crate) fn open_leaves(&self) -> Vec<&RunStatus> {
        let open: BTreeSet<_> = self.open().map(|status| &status.run_id).collect();
        let is_leaf = |status: &&RunStatus| {
            let mut children = status.children.iter();
            !children.any(|child| open.contains(&child.run_id))
        };
        self.open().filter(is_leaf).collect()
    }
}

async fn look(
    status_of: impl Fn(RunId) -> Asked,
    parent: RunId,
    depth: usize,
    child: ChildStatus,
) -> Result<Node, CliError> {
    use RunClientError::{Failed, NoWorker, Rejected, UnknownRun};

    let found = match status_of(child.run_id.clone()).await {
        Ok(status) => Found::Known(Box::new(status)),
        Err(error @ (UnknownRun { .. } | NoWorker { .. } | Rejected { .. } | Failed { .. })) => {
            Found::Lost {
                why: error.to_string(),
                child: Box::new(child),
            }
        }
        // No other run can be read either.
        Err(error) => return Err(error.into()),
    };
    Ok(Node {
        found,
        parent: Some(parent),
        depth,
        is_last: false,
    })
}

fn cut(top: &RunId) -> String {
    format!(
        "the tree of run {top} has more than {MOST_RUNS} runs or {MOST_DEPTH} levels, and only the first are shown: \
         name the others by their own ids"
    )
}

/// Puts each run after the run that started it.
fn in_order(nodes: Vec<Node>) -> Vec<Node> {
    let mut by_parent: BTreeMap<Option<RunId>, Vec<Node>> = BTreeMap::new();
    for node in nodes {
        let siblings = by_parent.entry(node.parent.clone()).or_default();
        siblings.push(node);
    }
    let mut ordered = Vec::new();
    let mut rest = by_parent.remove(&None).unwrap_or_default();
    while let Some(node) = rest.pop() {
        let below = by_parent.remove(&Some(node.run_id().clone()));
        let mut below = below.unwrap_or_default();
        if let Some(last) = below.last_mut() {
            last.is_last = true;
        }
        rest.extend(below.into_iter().rev());
        ordered.push(node);
    }
    ordered
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn id(text: impl Into<String>) -> RunId {
        RunId::new(text).unwrap()
    }

    fn with_children(run_id: &RunId, children: impl IntoIterator<Item = RunId>) -> RunStatus {
        let mut status = RunStatus::new(run_id.clone(), "local", "a", DateTime::UNIX_EPOCH);
        let children = children.into_iter();
        status.children = children.map(|child| ChildStatus::new(child, "a")).collect();
        status
    }

    /// Returns the tree of a run `r`. `children` returns the runs that each run started.
    async fn tree(children: impl Fn(&RunId) -> Vec<RunId>) -> Tree {
        let top = with_children(&id("r"), children(&id("r")));
        let status_of = |run_id: RunId| -> Asked {
            let status = with_children(&run_id, children(&run_id));
            Box::pin(async move { Ok(status) })
        };
        Tree::walk(top, status_of).await.unwrap()
    }

    #[tokio::test]
    async fn runs_that_name_each_other_in_a_circle_are_in_the_tree_once() {
        let tree = tree(|_| vec![id("r"), id("a"), id("b"), id("a")]).await;
        let ids = tree.nodes.iter().map(|node| node.run_id().as_str());
        assert_eq!(ids.collect::<Vec<_>>(), ["r", "a", "b"]);
        assert_eq!(tree.incomplete, None);
    }

    #[tokio::test]
    async fn a_chain_without_an_end_is_cut_and_said_to_be() {
        let tree = tree(|run_id| vec![id(format!("{run_id}.1"))]).await;
        assert_eq!(tree.nodes.len(), MOST_DEPTH + 1);
        assert!(tree.incomplete.is_some());
    }

    #[tokio::test]
    async fn more_runs_than_are_looked_at_are_cut_and_said_to_be() {
        let all = |_: &RunId| (0..2 * MOST_RUNS).map(|number| id(number.to_string()));
        let tree = tree(|run_id| all(run_id).collect()).await;
        assert_eq!(tree.nodes.len(), MOST_RUNS);
        assert!(tree.incomplete.is_some());
    }

    #[tokio::test]
    async fn a_run_that_is_gone_is_in_the_tree_with_the_reason() {
        let top = with_children(&id("r"), [id("gone")]);
        let gone = |run_id: RunId| -> Asked {
            Box::pin(async move { Err(RunClientError::UnknownRun { run_id }) })
        };
        let tree = Tree::walk(top, gone).await.unwrap();
        let lost: Vec<_> = tree.lost().collect();
        assert_eq!(lost, ["run gone cannot be read: there is no run gone here"]);
    }
}
