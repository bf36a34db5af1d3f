//! The circles of a graph.

use std::collections::{BTreeMap, BTreeSet};

/// Returns the sets of at least two nodes in which each node leads to each other one.
pub(super) fn circles<N: Ord + Clone>(edges: &BTreeMap<N, BTreeSet<N>>) -> Vec<BTreeSet<N>> {
    let reached: BTreeMap<N, BTreeSet<N>> = edges
        .keys()
        .map(|start| (start.clone(), reached_from(start, edges)))
        .collect();
    let leads = |from: &N, to: &N| reached.get(from).is_some_and(|all| all.contains(to));
    let mut found = BTreeSet::new();
    for (node, others) in &reached {
        let mut circle: BTreeSet<N> = others
            .iter()
            .filter(|other| *other != node && leads(other, node))
            .cloned()
            .collect();
        if !circle.is_empty() {
            circle.insert(node.clone());
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

fn reached_from<N: Ord + Clone>(start: &N, edges: &BTreeMap<N, BTreeSet<N>>) -> BTreeSet<N> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        for next in edges.get(node).into_iter().flatten() {
            if reached.insert(next.clone()) {
                open.push(next);
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
