//! The dependencies of the engines' adapters: neither a database, nor vendors' clients, nor the agent file.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::metadata::{self, Package};
use crate::{command, workspace};

/// The folder of the crates of engines, from the root.
const FLOOR: &str = "crates/engines";

/// The crates there that are no adapters: what they share, and the engine that has a database.
const OTHERS: [&str; 2] = ["neuron-engine", "neuron-local"];

/// The dependencies that an adapter does without. (`toml` is not here: Temporal's own configuration is read with it.)
const STRANGERS: [&str; 7] = [
    "libsqlite3-sys",
    "neuron-config",
    "neuron-local",
    "neuron-mcp",
    "rmcp",
    "rusqlite",
    "toml_edit",
];

/// The prefix of the names of vendors' clients, which an adapter does without, too.
const CLIENTS: &str = "neuron-provider-";

/// Checks the dependencies of the adapters, without those of tests.
///
/// # Errors
///
/// Returns an error if cargo cannot list them, or one that names each adapter and what it should do without.
pub(crate) fn check() -> Result<(), Error> {
    let mut found = Vec::new();
    for adapter in adapters(&metadata::members()?) {
        let mut tree = workspace::cargo();
        tree.args(["tree", "--offline", "--package", adapter]);
        tree.args(["--edges", "normal", "--prefix", "none"]);
        let tree = command::read(&mut tree)?;
        let strangers = strangers(&tree).into_iter();
        found.extend(strangers.map(|stranger| format!("{adapter} depends on {stranger}")));
    }
    if found.is_empty() {
        Ok(())
    } else {
        Err(Error::Adapters(found))
    }
}

/// Returns the names of the adapters among the crates of the workspace.
fn adapters(members: &[Package]) -> impl Iterator<Item = &str> {
    let on_floor = members.iter().filter(|member| {
        let floor = member.manifest_path.ancestors().nth(2);
        floor.is_some_and(|floor| floor.ends_with(FLOOR))
    });
    let names = on_floor.map(|member| member.name.as_str());
    names.filter(|name| !OTHERS.contains(name))
}

/// Returns the packages in this tree that an adapter does without. A line begins with a package's name.
fn strangers(tree: &str) -> BTreeSet<&str> {
    let names = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| STRANGERS.contains(name) || name.starts_with(CLIENTS))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "\
neuron-temporal v0.1.0 (/src/crates/engines/temporal)
chrono v0.4.45
toml v0.9.8
neuron-local v0.1.0 (/src/crates/engines/local)
rusqlite v0.41.1
rusqlite v0.41.1 (*)
neuron-provider-new v0.1.0 (/src/crates/blocks/provider-new)
";

    #[test]
    fn the_adapters_are_the_crates_of_engines_but_two() {
        let package = |name: &str, folder: &str| Package {
            name: name.to_owned(),
            manifest_path: format!("/src/{folder}/Cargo.toml").into(),
            ..Package::default()
        };
        let members = [
            package("neuron-engine", "crates/engines/engine"),
            package("neuron-local", "crates/engines/local"),
            package("neuron-new", "crates/engines/new"),
            package("neuron-tls", "crates/blocks/tls"),
        ];
        let found: Vec<_> = adapters(&members).collect();
        assert_eq!(found, ["neuron-new"]);
    }

    #[test]
    fn the_workspace_has_adapters() {
        let members = metadata::members().expect("what cargo says");
        let found: Vec<_> = adapters(&members).collect();
        assert!(found.contains(&"neuron-temporal") && found.contains(&"neuron-restate"));
    }

    #[test]
    fn finds_what_an_adapter_should_do_without_once() {
        let found: Vec<_> = strangers(TREE).into_iter().collect();
        assert_eq!(found, ["neuron-local", "neuron-provider-new", "rusqlite"]);
    }

    #[test]
    fn knows_a_package_by_its_whole_name() {
        let tree = "rusqlite-extras v1.0.0 (rusqlite)\nneuron-locale v1.0.0\n\n";
        assert!(strangers(tree).is_empty());
    }
}
