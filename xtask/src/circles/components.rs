//! The circles of a graph.

use std::collections::{BTreeMap, BTreeSet};

/// Returns the sets of at least two nodes in which each node leads to each other one.
pub(super) fn circles(edges: &BTreeMap<usize, BTreeSet<usize>>) -> Vec<BTreeSet<usize>> {
    let reached: BTreeMap<usize, BTreeSet<usize>> = edges
        .keys()
        .map(|start| (*start, reached_from(*start, edges)))
        .collect();
    let leads = |from: &usize, to: &usize| reached.get(from).is_some_and(|all| all.contains(to));
    let mut found = BTreeSet::new();
    for (node, others) in &reached {
        let mut circle: BTreeSet<usize> = others
            .iter()
            .copied()
            .filter(|other| other != node && leads(other, node))
            .collect();
        if !circle.is_empty() {
            circle.insert(*node);
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

fn reached_from(start: usize, edges: &BTreeMap<usize, BTreeSet<usize>>) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        for next in edges.get(&node).into_iter().flatten() {
            if reached.insert(*next) {
                open.push(*next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
        let mut graph: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (from, to) in edges {
            graph.entry(*from).or_default().insert(*to);
        }
        let circles = circles(&graph).into_iter();
        circles.map(|circle| circle.into_iter().collect()).collect()
    }

    #[test]
    fn finds_each_circle_once() {
        let edges = [(1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (5, 4), (5, 6)];
        assert_eq!(found(&edges), [vec![1, 2, 3], vec![4, 5]]);
    }

    #[test]
    fn finds_none_where_arrows_only_go_down() {
        assert!(found(&[(1, 2), (1, 3), (2, 4), (3, 4)]).is_empty());
    }
}
