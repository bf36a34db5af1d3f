//! What the adapters of engines bring along: neither a database, nor vendors' clients, nor the agent file.

use crate::error::Error;
use crate::{command, workspace};

const ADAPTERS: [&str; 2] = ["neuron-temporal", "neuron-restate"];

/// What an adapter does without. (`toml` is not here: Temporal's own configuration is read with it.)
const STRANGERS: [&str; 10] = [
    "libsqlite3-sys",
    "neuron-config",
    "neuron-local",
    "neuron-mcp",
    "neuron-provider-anthropic",
    "neuron-provider-ollama",
    "neuron-provider-openai",
    "rmcp",
    "rusqlite",
    "toml_edit",
];

/// Checks what the adapters depend on, tests left aside.
///
/// # Errors
///
/// Returns an error if cargo cannot say it, or one that names each adapter and what it should do without.
pub(crate) fn check() -> Result<(), Error> {
    let mut found = Vec::new();
    for adapter in ADAPTERS {
        let mut tree = workspace::cargo();
        tree.args(["tree", "--offline", "--package", adapter]);
        tree.args(["--edges", "normal", "--prefix", "none"]);
        let tree = command::read(&mut tree)?;
        let strangers = strangers(&tree);
        found.extend(strangers.map(|stranger| format!("{adapter} depends on {stranger}")));
    }
    if found.is_empty() {
        Ok(())
    } else {
        Err(Error::Adapters(found))
    }
}

/// Returns what should not be in this tree and is. A line begins with a package's name.
fn strangers(tree: &str) -> impl Iterator<Item = &'static str> {
    let is_there = |name: &&str| {
        tree.lines()
            .any(|line| line.split_whitespace().next() == Some(*name))
    };
    STRANGERS.into_iter().filter(is_there)
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
";

    #[test]
    fn finds_what_an_adapter_should_do_without_once() {
        let found: Vec<_> = strangers(TREE).collect();
        assert_eq!(found, ["neuron-local", "rusqlite"]);
    }

    #[test]
    fn knows_a_package_by_its_whole_name() {
        let tree = "rusqlite-extras v1.0.0 (rusqlite)\nneuron-locale v1.0.0\n\n";
        assert_eq!(strangers(tree).count(), 0);
    }
}
