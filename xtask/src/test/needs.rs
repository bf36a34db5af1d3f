//! The programs that the tests start and that are neither fetched nor built.

use std::env;
use std::ffi::OsStr;

use crate::error::Error;

/// A program, its Debian package, and what needs it.
type Need = (&'static str, &'static str, &'static str);

const NEEDS: [Need; 9] = [
    (
        "bwrap",
        "bubblewrap",
        "commands of agents run in a sandbox of it",
    ),
    (
        "curl",
        "curl",
        "an attack on what confines an agent uses it",
    ),
    ("git", "git", "agents work in repositories"),
    (
        "node",
        "nodejs",
        "a fake of the model APIs and MCP servers run on it",
    ),
    ("npm", "npm", "it fetches them"),
    (
        "python3",
        "python3",
        "the model APIs' own clients are Python packages",
    ),
    (
        "setsid",
        "util-linux",
        "an attack on what confines an agent uses it",
    ),
    ("ssh-agent", "openssh-client", "keys are held in it"),
    (
        "ssh-keygen",
        "openssh-client",
        "decisions are signed with it",
    ),
];

/// The program that shaking needs besides.
const SHAKING: Need = ("taskset", "util-linux", "it keeps the tests on one core");

/// Checks that the programs are installed, before anything is built for the tests.
///
/// # Errors
///
/// Returns an error that lists all missing programs, with how to install them.
pub(super) fn check(is_shaken: bool) -> Result<(), Error> {
    let path = env::var_os("PATH").unwrap_or_default();
    let needs = NEEDS.into_iter().chain(is_shaken.then_some(SHAKING));
    let missing = missing(&path, needs);
    if missing.is_empty() {
        return Ok(());
    }
    let mut packages: Vec<_> = missing.iter().map(|(_, package, _)| *package).collect();
    packages.dedup();
    let lines = missing
        .iter()
        .map(|(program, _, why)| format!("{program}: {why}"));
    Err(Error::Needs {
        missing: lines.collect(),
        packages: packages.join(" "),
    })
}

fn missing(path: &OsStr, needs: impl Iterator<Item = Need>) -> Vec<Need> {
    let is_here =
        |program: &str| env::split_paths(path).any(|folder| folder.join(program).is_file());
    needs.filter(|(program, _, _)| !is_here(program)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_on_the_path_and_names_the_rest() {
        let folder = tempfile::tempdir().expect("a folder");
        for program in ["git", "node"] {
            std::fs::write(folder.path().join(program), "").expect("a file");
        }
        let missing: Vec<_> = missing(folder.path().as_os_str(), NEEDS.into_iter())
            .into_iter()
            .map(|(program, _, _)| program)
            .collect();
        assert!(!missing.contains(&"git") && !missing.contains(&"node"));
        assert_eq!(missing.len(), NEEDS.len() - 2);
    }
}
